"""Sketches of distinct values: ``distinct(x)``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from asc.errors import CubeError
from asc.operators.cube.answered import Answered
from asc.operators.cube.call import Call, constant_text
from asc.operators.cube.kinds.kind import Arguments, Kind, row_constants
from asc.predicate.expressions.types import name as type_name

if TYPE_CHECKING:
    from asc.operators.cube.measure import Measure
    from asc.operators.cube.operand import Operand
    from asc.operators.cube.slot import Slots

DISTINCT = "distinct"
LG_K_LEAST, LG_K_DEFAULT, LG_K_MOST = 8, 12, 16
"""The least, the default and the largest value of the parameter lg_k of a sketch."""


class DistinctSketches(Kind):
    """The kind of the measure ``distinct``, which estimates the number of different values."""

    def arguments(self, call: Call) -> Arguments:
        """Return the column of a declaration, and the constant ``lg_k`` if the declaration contains it."""
        if len(call.arguments) < 2:
            return super().arguments(call)
        columns, (lg_k,) = row_constants(call, 1, 1, f"distinct(x) or distinct(x, {LG_K_DEFAULT})")
        if not isinstance(lg_k, int) or isinstance(lg_k, bool) or not LG_K_LEAST <= lg_k <= LG_K_MOST:
            call.fail(f"has lg_k {constant_text(lg_k)}: give a whole number from {LG_K_LEAST} to {LG_K_MOST}")
        return columns, (lg_k,)

    def answered(self, measure: Measure, operands: tuple[Operand, ...], slots: Slots) -> Answered:
        """Return the answer: the estimate with its bounds. Raise CubeError if the values cannot be compared."""
        from asc.operators.cube.operand import is_comparable
        from asc.operators.cube.states.distinct import Distinct
        from asc.operators.cube.states.distinct_answers import TYPE, estimates

        (operand,) = operands
        if operand.type is None or not is_comparable(operand.type):
            remedy = f"takes values of a plain type, and {measure.columns[0]} is {type_name(operand.type)}: CAST it"
            raise CubeError("measure", measure.call, remedy)
        lg_k = int(measure.constants[0]) if measure.constants else LG_K_DEFAULT
        state = Distinct(lg_k)
        place = slots.place((DISTINCT, lg_k, operand.sql), state, operands)
        return Answered(measure.name, TYPE, (place,), partial(estimates, state), operands, is_count=True)


KIND = DistinctSketches()
