"""The interface of a kind of measure: the declarations of a cube that store its states, and the question functions that
read these states.
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
    """A kind of measure. Its module contains the declarations, parameters, errors and questions of the kind.

    A declaration, such as ``stats(x, y)``, stores a state in each cell. A question function, such as ``corr(x, y)``,
    computes an answer from such a state. An object of the class has no fields. The methods :meth:`answered` and
    :meth:`asked` import the states, so that a caller that only reads a definition does not load the kernels.
    """

    takes_records: bool = False
    """True if the kind has the declaration ``f(*)``, which counts records."""

    def declared(self, call: Call) -> Arguments:
        """Return the columns and constants of a declaration. Raise CubeError if the declaration has too few or too many
        of them, or an invalid constant. ``f(*)`` has no column.
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
        """Return the columns and constants of a declaration with at least one argument. No argument is ``*`` or empty.
        By default a declaration has one column and no constant.
        """
        if len(call.arguments) > 1:
            call.fail("has several arguments: give one expression")
        return (call.arguments[0].text,), ()

    @abstractmethod
    def answered(self, measure: Measure, operands: tuple[Operand, ...], slots: Slots) -> Answered:
        """Return the answer that a declared measure gives without a question function. Add the states of the measure to
        ``slots``. Raise CubeError if an operand has a wrong type.

        ``operands``: one operand for each column, with the FILTER of the measure. ``f(*)`` has no operand; with a
        FILTER, it has an operand with the value 1.
        """

    def questioned(self, call: Call) -> Arguments:
        """Return the columns and constants in a call of a question function. Raise CubeError if the call has too few or
        too many of them, or an invalid constant.
        """
        raise NotImplementedError(f"no question function {call.function}")

    def is_answered_by(self, measure: Measure, columns: Sequence[str]) -> bool:
        """Return whether the state of a declared measure of this kind answers a question about ``columns``. The caller
        has checked that these are columns of the measure. By default, they must be all of its columns.
        """
        return len(columns) == len(measure.columns)

    def examples(self, measure: Measure) -> Sequence[str]:
        """Return calls of question functions that the state of a declared measure answers. Forms suggest
        them to users.
        """
        return ()

    def declaration(self, columns: Sequence[str], constants: Sequence[Constant]) -> str:
        """Return the declaration whose state would answer a call of a question function. An error names it as the
        remedy.
        """
        raise NotImplementedError(f"no declaration for {', '.join((*columns, *map(constant_text, constants)))}")

    def asked(self, asked: AskedMeasure, measure: Answered, slots: Sequence[Slot]) -> Answered:
        """Return the answer of a question function, computed from the state of ``measure``. Raise CubeError if a
        constant does not have the type of the column.
        """
        raise NotImplementedError(f"no question function {asked.function}")


def columns_of(call: Call) -> tuple[str, ...]:
    """Return all arguments of a call as columns. Raise CubeError if an argument is empty."""
    columns = tuple(argument.text for argument in call.arguments)
    if not all(columns):
        call.fail("has an argument that is empty: name a column")
    return columns


def row_constants(call: Call, columns: int, constants: int, form: str) -> Arguments:
    """Return the first ``columns`` arguments of a call as columns, and the ``constants`` arguments after them as
    constants. Raise CubeError if the call has another number of arguments, or if one of the latter is no constant.

    ``form``: a valid call, such as ``quantile(x, 0.5)``, for the error.
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
