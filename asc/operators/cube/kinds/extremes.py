"""Minima and maxima."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asc.errors import CubeError
from asc.operators.cube.answered import Answered
from asc.operators.cube.kinds.kind import Kind
from asc.predicate.expressions.types import name as type_name

if TYPE_CHECKING:
    from asc.operators.cube.measure import Measure
    from asc.operators.cube.operand import Operand
    from asc.operators.cube.slot import Slots


class Extremes(Kind):
    """The kind of the measures ``min`` and ``max``."""

    def answered(self, measure: Measure, operands: tuple[Operand, ...], slots: Slots) -> Answered:
        """Return the answer: the least or the greatest value. Raise CubeError if the values have no order."""
        from asc.operators.cube.operand import is_comparable
        from asc.operators.cube.states.extreme import Extreme

        (operand,) = operands
        if operand.type is None or not is_comparable(operand.type):
            remedy = f"takes values that have an order, and {measure.columns[0]} is {type_name(operand.type)}: CAST it"
            raise CubeError("measure", measure.call, remedy)
        state = Extreme(operand.type, is_max=measure.function == "max")
        place = slots.place((measure.function, operand.sql), state, operands)
        return Answered(measure.name, state.type, (place,), state.answer, operands)


KIND = Extremes()
