"""The kind of the measures that are computed from co-moments: variances, covariances, correlation and regression."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from asc.errors import CubeError
from asc.operators.cube.aggregates import OF_TWO_COLUMNS
from asc.operators.cube.answered import Answered
from asc.operators.cube.call import Call, Constant, spelling
from asc.operators.cube.kinds.kind import Arguments, Kind, columns_of, row_constants
from asc.predicate.expressions.types import name as type_name

if TYPE_CHECKING:
    from asc.operators.cube.asked_measure import AskedMeasure
    from asc.operators.cube.measure import Measure
    from asc.operators.cube.operand import Operand
    from asc.operators.cube.slot import Slot, Slots
    from asc.operators.cube.states.moments import Moments

STATS, BOUNDS, REGRESSION = "stats", "bounds", "regression"
DEVIATIONS_MAX = 1_000_000
"""The largest number of standard deviations for ``bounds``."""
COLUMNS_LEAST, COLUMNS_MAX = 2, 8
"""The least and the largest number of columns of ``stats``."""


class CoMoments(Kind):
    """The kind of the measures that are computed from co-moments: ``stats`` of several columns, and Spark's
    statistics.
    """

    def arguments(self, call: Call) -> Arguments:
        """Return the columns of a declaration: several for ``stats``, one or two for a statistic."""
        if call.function == STATS:
            return self._several(call, "stats(x, y, z)"), ()
        return self._of_statistic(call), ()

    def questioned(self, call: Call) -> Arguments:
        """Return the columns and constants of a question function."""
        if call.function == BOUNDS:
            return self._of_bounds(call)
        if call.function == REGRESSION:
            return self._several(call, "regression(y, x1, x2)"), ()
        columns_of(call)
        return self._of_statistic(call), ()

    def is_answered_by(self, measure: Measure, columns: Sequence[str]) -> bool:
        """Return whether a state answers questions about some of its columns. The state of ``stats`` answers questions
        about any of its columns, any other state only questions about all of them.
        """
        return measure.function == STATS or super().is_answered_by(measure, columns)

    def examples(self, measure: Measure) -> Sequence[str]:
        """Return examples of calls about the columns of ``stats``; none for another measure."""
        if measure.function != STATS:
            return ()
        first, second = measure.columns[:2]
        regression = f"{REGRESSION}({', '.join(measure.columns)})"
        return f"corr({first}, {second})", f"mean({first})", f"{BOUNDS}({first}, 3)", regression

    def declaration(self, columns: Sequence[str], constants: Sequence[Constant]) -> str:
        """Return the declaration that answers questions about some columns."""
        return f"{STATS}({', '.join(columns)})" if len(columns) > 1 else f"stddev({columns[0]})"

    def answered(self, measure: Measure, operands: tuple[Operand, ...], slots: Slots) -> Answered:
        """Return the answer of a declared measure. Measures of the same columns share one state, whatever the order of
        their columns is.
        """
        from asc.operators.cube.states.moments import Moments
        from asc.operators.cube.states.statistic import Statistic
        from asc.operators.cube.states.summary import Summary

        for operand, column in zip(operands, measure.columns, strict=True):
            if not _is_number(operand.type):
                remedy = f"takes numbers, and {column} is {type_name(operand.type)}: CAST it"
                raise CubeError("measure", measure.call, remedy)
        by_name = {operand.sql: operand for operand in operands}
        names = sorted(by_name)
        state = Moments(len(names))
        place = slots.place(("moments", *names), state, tuple(by_name[name] for name in names))
        columns = tuple(names.index(operand.sql) for operand in operands)
        if measure.function == STATS:
            summary = Summary(columns, measure.columns)
            return Answered(measure.name, summary.type, (place,), partial(summary.of, state), operands)
        statistic = Statistic(measure.function, columns[0], columns[-1])
        return Answered(measure.name, statistic.type, (place,), partial(statistic.of, state), operands)

    def asked(self, asked: AskedMeasure, measure: Answered, slots: Sequence[Slot]) -> Answered:
        """Return the answer of a question function over some columns of a state."""
        from asc.operators.cube.states.regression import Regression
        from asc.operators.cube.states.statistic import Statistic
        from asc.operators.cube.states.summary import Bounds

        slot = slots[measure.slots[0]]
        state: Moments = slot.state  # type: ignore[assignment]
        names = [operand.sql for operand in slot.operands]
        columns = tuple(names.index(measure.operands[place].sql) for place in asked.columns)
        answer: Statistic | Bounds | Regression = Statistic(asked.function, columns[0], columns[-1])
        if asked.function == BOUNDS:
            answer = Bounds(columns[0], float(asked.constants[0]))
        elif asked.function == REGRESSION:
            others = (measure.operands[place] for place in asked.columns[1:])
            answer = Regression(columns, tuple((operand.argument or operand).sql for operand in others))
        return Answered(asked.name, answer.type, measure.slots, partial(answer.of, state))

    def _of_bounds(self, call: Call) -> Arguments:
        columns, (deviations,) = row_constants(call, 1, 1, "bounds(x, 3)")
        if isinstance(deviations, bool | str) or not 1 < deviations <= DEVIATIONS_MAX:
            most = f"{DEVIATIONS_MAX:,}"
            call.fail(f"has {deviations!r} standard deviations: give a number above 1, at most {most}, as bounds(x, 3)")
        return columns, (deviations,)

    def _several(self, call: Call, form: str) -> tuple[str, ...]:
        """Return the columns of a call with several columns. Raise CubeError if there are too few or too many, or if
        one occurs twice.
        """
        columns = columns_of(call)
        if not COLUMNS_LEAST <= len(columns) <= COLUMNS_MAX:
            number = "one column" if len(columns) == 1 else f"{len(columns)} columns"
            call.fail(f"has {number}: give {COLUMNS_LEAST} to {COLUMNS_MAX}, as in {form}")
        if len(set(map(spelling, columns))) < len(columns):
            call.fail("has a column twice: name each once")
        return columns

    def _of_statistic(self, call: Call) -> tuple[str, ...]:
        if call.function not in OF_TWO_COLUMNS:
            return super().arguments(call)[0]
        if len(call.arguments) != 2:
            number = "one argument" if len(call.arguments) == 1 else f"{len(call.arguments)} arguments"
            call.fail(f"has {number}: give two expressions, as in {call.function}(y, x)")
        return columns_of(call)


def _is_number(kind: pa.DataType | None) -> bool:
    types = pa.types
    return kind is not None and (types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind))


KIND = CoMoments()
