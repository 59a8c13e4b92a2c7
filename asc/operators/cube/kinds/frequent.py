"""The kind of the measure ``frequent``: the items of a cell, its values that occur most."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from asc.errors import CubeError
from asc.operators.cube.answered import Answered
from asc.operators.cube.call import Call, Constant
from asc.operators.cube.kinds.kind import Arguments, Kind, row_constants
from asc.operators.cube.states.sizes import CAPACITY, checked_capacity
from asc.predicate.expressions.types import name as type_name

if TYPE_CHECKING:
    from asc.operators.cube.asked_measure import AskedMeasure
    from asc.operators.cube.measure import Measure
    from asc.operators.cube.operand import Operand
    from asc.operators.cube.slot import Slot, Slots
    from asc.operators.cube.states.frequent import Frequent

FREQUENT = "frequent"


class FrequentItems(Kind):
    """The kind of the measure ``frequent(x)`` or ``frequent(x, capacity)``. The question functions have the same name:
    ``frequent(x)`` asks for all stored items, ``frequent(x, n)`` for the first n.

    An answer contains the number of values, and the items by descending estimate, each with bounds of its count. A
    value that is not among the stored items occurred at most ``bound`` times.
    """

    def arguments(self, call: Call) -> Arguments:
        """Return the column of a declaration, and the capacity if the declaration contains it."""
        columns, constants = self._column_and_number(call, f"{FREQUENT}(x) or {FREQUENT}(x, {CAPACITY})")
        try:
            return columns, tuple(map(checked_capacity, constants))
        except CubeError as error:
            call.fail(error.remedy)

    def questioned(self, call: Call) -> Arguments:
        """Return the column of a question, and the number of items if the question contains it."""
        columns, constants = self._column_and_number(call, f"{FREQUENT}(x) or {FREQUENT}(x, 10)")
        if any(isinstance(number, bool) or not isinstance(number, int) or number < 1 for number in constants):
            call.fail(f"asks for {constants[0]!r} items: write the number of items, 1 or more")
        return columns, constants

    def examples(self, measure: Measure) -> Sequence[str]:
        """Return a call that asks for the first five items."""
        return (f"{FREQUENT}({measure.columns[0]}, 5)",)

    def declaration(self, columns: Sequence[str], constants: Sequence[Constant]) -> str:
        """Return the declaration that answers questions about a column."""
        return f"{FREQUENT}({columns[0]})"

    def answered(self, measure: Measure, operands: tuple[Operand, ...], slots: Slots) -> Answered:
        """Return the answer of a declared measure: all items of the states."""
        from asc.operators.cube.operand import is_comparable
        from asc.operators.cube.states.frequent import Frequent

        (operand,) = operands
        if operand.type is None or not is_comparable(operand.type):
            remedy = f"takes plain values, and {measure.columns[0]} is {type_name(operand.type)}: CAST it"
            raise CubeError("measure", measure.call, remedy)
        capacity = checked_capacity(measure.constants[0]) if measure.constants else CAPACITY
        state = Frequent(operand.type, capacity)
        place = slots.place((FREQUENT, capacity, operand.sql), state, operands)
        compute = partial(_items, state, capacity)
        return Answered(measure.name, _type(operand.type), (place,), compute, operands, items_most=capacity)

    def asked(self, asked: AskedMeasure, measure: Answered, slots: Sequence[Slot]) -> Answered:
        """Return the answer of a question: the first items of the states. Raise CubeError if the states store fewer
        items.
        """
        state: Frequent = slots[measure.slots[0]].state  # type: ignore[assignment]
        most = int(asked.constants[0]) if asked.constants else state.capacity
        if most > state.capacity:
            remedy = f"asks for more items than the {state.capacity:,} of a cell: declare {FREQUENT}(x, {most})"
            raise CubeError("measure", asked.text, remedy)
        compute = partial(_items, state, most)
        return Answered(asked.name, _type(state.item_type), measure.slots, compute, items_most=most)

    def _column_and_number(self, call: Call, form: str) -> Arguments:
        return row_constants(call, 1, 1 if len(call.arguments) > 1 else 0, form)


def _type(item: pa.DataType) -> pa.DataType:
    """Return the type of an answer. ``item``: the type of the items."""
    fields = {"item": item, "estimate": pa.int64(), "low": pa.int64(), "high": pa.int64(), "confidence": pa.float64()}
    return pa.struct({"values": pa.int64(), "bound": pa.int64(), "items": pa.list_(pa.struct(fields))})


def _items(state: Frequent, most: int, states: pa.Array) -> pa.Array:
    """Return the first ``most`` items of each state, with the state's number of values and its bound."""
    listed = state.listed(states)
    kind = _type(state.item_type)
    starts, count = listed.starts, len(states)
    places = np.arange(len(listed.estimates)) - np.repeat(starts[:-1], np.diff(starts))
    kept = np.flatnonzero(places < most)
    offsets = np.concatenate((np.zeros(1, dtype=np.int32), np.cumsum(np.minimum(np.diff(starts), most)))).astype(
        np.int32
    )
    numbers = (listed.estimates, listed.lows, listed.highs)
    columns = [
        listed.items.take(pa.array(kept)),
        *(pa.array(own[kept]) for own in numbers),
        pa.array(np.ones(len(kept))),
    ]
    list_type = kind.field("items").type
    items = pa.StructArray.from_arrays(columns, fields=list(list_type.value_type))
    lists = pa.Array.from_buffers(list_type, count, [None, pa.py_buffer(offsets)], children=[items])
    arrays = [pa.array(listed.values), pa.array(listed.bounds), lists]
    return pa.StructArray.from_arrays(arrays, fields=list(kind))


KIND = FrequentItems()
