"""Counts of records, and of values that are not NULL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asc.operators.cube.answered import Answered
from asc.operators.cube.kinds.kind import Kind

if TYPE_CHECKING:
    from asc.operators.cube.measure import Measure
    from asc.operators.cube.operand import Operand
    from asc.operators.cube.slot import Slots


COUNT = "count"
"""The function of the kind, and the first element of the keys by which slots of counts are shared."""


class Counts(Kind):
    """The kind of the measure ``count``, which counts records, or the values of an expression that are not NULL."""

    takes_records = True

    def answered(self, measure: Measure, operands: tuple[Operand, ...], slots: Slots) -> Answered:
        """Return the answer: the number of records, or of values that are not NULL."""
        from asc.operators.cube.states.count import Count, RecordCount

        state = Count() if operands else RecordCount()
        place = slots.place((COUNT, operands[0].sql if operands else None), state, operands)
        return Answered(measure.name, state.type, (place,), state.answer, operands, is_count=True)


KIND = Counts()
