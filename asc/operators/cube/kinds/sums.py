"""The kind of the measures ``sum`` and ``avg``. An average is a sum divided by a count."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from asc.errors import CubeError
from asc.operators.cube.answered import Answered
from asc.operators.cube.kinds.counts import COUNT
from asc.operators.cube.kinds.kind import Kind
from asc.predicate.expressions.types import name as type_name

if TYPE_CHECKING:
    from asc.operators.cube.measure import Measure
    from asc.operators.cube.operand import Operand
    from asc.operators.cube.slot import Slots


class Sums(Kind):
    """The kind of the measures ``sum`` and ``avg``, which share the state of the sum."""

    def answered(self, measure: Measure, operands: tuple[Operand, ...], slots: Slots) -> Answered:
        """Return the answer: the sum or the average. Raise CubeError if the values are no numbers."""
        from asc.operators.cube.states.average import average_type, averages
        from asc.operators.cube.states.count import Count
        from asc.operators.cube.states.exact_sum import ExactSum
        from asc.operators.cube.states.float_sum import FloatSum

        (operand,) = operands
        kind = operand.type
        if kind is None or not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
            shown = f"{measure.columns[0]} is {type_name(kind)}"
            raise CubeError("measure", measure.call, f"takes numbers, and {shown}: use count, min or max, or CAST it")
        state = FloatSum() if pa.types.is_floating(kind) else ExactSum(kind)
        total = slots.place(("sum", operand.sql), state, operands)
        if measure.function == "avg":
            count = slots.place((COUNT, operand.sql), Count(), operands)
            return Answered(measure.name, average_type(kind), (total, count), partial(averages, kind), operands)
        is_integer = pa.types.is_integer(kind)
        overflowing = state.overflows if isinstance(state, ExactSum) else None
        return Answered(
            measure.name, state.type, (total,), state.answer, operands, is_integer=is_integer, overflowing=overflowing
        )


KIND = Sums()
