"""Co-moments of columns: variances, covariances, correlation and regression."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from asc.errors import CubeError
from asc.operators.cube.aggregates import OF_TWO_COLUMNS
from asc.operators.cube.answered import Answered
from asc.operators.cube.call import Call, Constant
from asc.operators.cube.kinds.kind import Arguments, Kind, columns_of
from asc.predicate.expressions.types import name as type_name

if TYPE_CHECKING:
    from asc.operators.cube.asked_measure import AskedMeasure
    from asc.operators.cube.measure import Measure
    from asc.operators.cube.operand import Operand
    from asc.operators.cube.slot import Slot, Slots
    from asc.operators.cube.states.moments import Moments

STATS = "stats"
COLUMNS_LEAST, COLUMNS_MOST = 2, 8
"""The numbers of columns that the co-moments of ``stats`` may have."""


class CoMoments(Kind):
    """The measures that are computed from co-moments: ``stats`` of several columns, and Spark's statistics."""

    def arguments(self, call: Call) -> Arguments:
        """Return the columns of a declaration: of one, of two, or of several for ``stats``."""
        if call.function == STATS:
            return self._of_stats(call), ()
        return self._of_statistic(call), ()

    def questioned(self, call: Call) -> Arguments:
        """Return the columns of a question function."""
        columns_of(call)
        return self._of_statistic(call), ()

    def is_answered_by(self, measure: Measure, columns: Sequence[str]) -> bool:
        """Return whether a state answers questions about some of its columns: that of ``stats`` about any of them, any
        other one about all.
        """
        return measure.function == STATS or super().is_answered_by(measure, columns)

    def examples(self, measure: Measure) -> Sequence[str]:
        """Return calls about the columns of ``stats``."""
        if measure.function != STATS:
            return ()
        first, second = measure.columns[:2]
        return f"corr({first}, {second})", f"stddev({first})", f"regr_slope({first}, {second})"

    def declaration(self, columns: Sequence[str], constants: Sequence[Constant]) -> str:
        """Return the declaration that answers questions about some columns."""
        return f"{STATS}({', '.join(columns)})" if len(columns) > 1 else f"stddev({columns[0]})"

    def answered(self, measure: Measure, operands: tuple[Operand, ...], slots: Slots) -> Answered:
        """Return the answer of a statistic. The same columns have one state, in any order."""
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
        """Return the answer of a statistic over some columns of a state."""
        from asc.operators.cube.states.statistic import Statistic

        slot = slots[measure.slots[0]]
        state: Moments = slot.state  # type: ignore[assignment]
        names = [operand.sql for operand in slot.operands]
        columns = [names.index(measure.operands[place].sql) for place in asked.columns]
        statistic = Statistic(asked.function, columns[0], columns[-1])
        return Answered(asked.name, statistic.type, measure.slots, partial(statistic.of, state))

    def _of_stats(self, call: Call) -> tuple[str, ...]:
        columns = columns_of(call)
        if not COLUMNS_LEAST <= len(columns) <= COLUMNS_MOST:
            number = "one column" if len(columns) == 1 else f"{len(columns)} columns"
            call.fail(f"has {number}: give {COLUMNS_LEAST} to {COLUMNS_MOST}, as in {STATS}(x, y, z)")
        if len(set(columns)) < len(columns):
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
