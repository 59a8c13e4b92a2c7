"""The interface of a kind of measure: its declarations in a cube, and the functions by which questions read its
states.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from asc.operators.cube.call import Call, Constant, constant_text

if TYPE_CHECKING:
    from asc.operators.cube.answered import Answered
    from asc.operators.cube.asked_measure import AskedMeasure
    from asc.operators.cube.measure import Measure
    from asc.operators.cube.operand import Operand
    from asc.operators.cube.slot import Slot, Slots

Arguments = tuple[tuple[str, ...], tuple[Constant, ...]]
"""The arguments of a call: the expressions of its columns, then its constants."""


class Kind(ABC):
    """A kind of measure. Its module has everything about it: declarations, parameters, errors and questions.

    A declaration, such as ``stats(x, y)``, keeps a state in each cell. A question function, such as ``corr(x, y)``,
    computes an answer from such a state. An object of the class has no fields. The kind imports its states only in
    :meth:`answered` and :meth:`asked`, so that a caller that only reads a definition does not load the kernels.
    """

    takes_records: bool = False
    """Whether ``f(*)`` is a declaration of the kind, which counts records."""

    def declared(self, call: Call) -> Arguments:
        """Return the columns and constants of a declaration. Raise CubeError if there are too few or too many, or if a
        constant is refused. ``f(*)`` has no column.
        """
        texts = [argument.text for argument in call.arguments]
        if not all(texts):
            call.fail("has no argument: give an expression, or * to count records")
        if "*" in texts:
            if not self.takes_records or len(texts) > 1:
                call.fail("takes the values of an expression: * goes with count alone")
            return (), ()
        return self.arguments(call)

    def arguments(self, call: Call) -> Arguments:
        """Return the columns and constants of a declaration that has at least one argument, none of them ``*`` or
        empty. By default a declaration has one column and no constant.
        """
        if len(call.arguments) > 1:
            call.fail("has several arguments: give one expression")
        return (call.arguments[0].text,), ()

    @abstractmethod
    def answered(self, measure: Measure, operands: tuple[Operand, ...], slots: Slots) -> Answered:
        """Return the answer of a declared measure by its name. Add the states of the measure to ``slots``. Raise
        CubeError if an operand has a wrong type.

        ``operands``: one for each column, with the FILTER. ``f(*)`` has no operand, or with a FILTER one that is 1.
        """

    def questioned(self, call: Call) -> Arguments:
        """Return the columns and constants of the call of a question function. Raise CubeError if there are too few or
        too many, or if a constant is refused.
        """
        raise NotImplementedError(f"no question function {call.function}")

    def is_answered_by(self, measure: Measure, columns: Sequence[str]) -> bool:
        """Return whether the state of a declared measure of this kind answers questions about some of its columns. By
        default, these must be all of its columns.
        """
        return len(columns) == len(measure.columns)

    def examples(self, measure: Measure) -> Sequence[str]:
        """Return calls of question functions that a declared state answers, for the suggestions of a form."""
        return ()

    def declaration(self, columns: Sequence[str], constants: Sequence[Constant]) -> str:
        """Return the declaration whose state answers the call of a question function, for an error."""
        raise NotImplementedError(f"no declaration for {', '.join((*columns, *map(constant_text, constants)))}")

    def asked(self, asked: AskedMeasure, measure: Answered, slots: Sequence[Slot]) -> Answered:
        """Return the answer of a question function over the state of ``measure``. Raise CubeError if a constant does
        not have the type of the column.
        """
        raise NotImplementedError(f"no question function {asked.function}")


def columns_of(call: Call) -> tuple[str, ...]:
    """Return all arguments of a call as columns. Raise CubeError if a column occurs twice or is missing."""
    columns = tuple(argument.text for argument in call.arguments)
    if not all(columns):
        call.fail("has an argument that is empty: name a column")
    return columns


def row_constants(call: Call, columns: int, constants: int, form: str) -> Arguments:
    """Return the arguments of a call with a fixed number of columns and, after them, of constants. Raise CubeError with
    the form of the call if there are other numbers, or if a constant is none.

    ``form``: a valid call, as ``quantile(x, 0.5)``.
    """
    if len(call.arguments) != columns + constants:
        number = "one argument" if len(call.arguments) == 1 else f"{len(call.arguments)} arguments"
        call.fail(f"has {number}: write {form}")
    values = [argument.constant for argument in call.arguments[columns:]]
    texts = tuple(argument.text for argument in call.arguments[:columns])
    if not all(texts):
        call.fail(f"has an argument that is empty: write {form}")
    found = tuple(value for value in values if value is not None)
    if len(found) < constants:
        place = next(place for place, value in enumerate(values) if value is None)
        call.fail(f"has {call.arguments[columns + place].text!r}, which is no constant: write {form}")
    return texts, found
