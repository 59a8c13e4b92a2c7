"""The state ``frequent``: the values of a cell that occur most, its items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.errors import CubeError
from asc.frozen import frozen
from asc.operators.cube.keys import Key
from asc.operators.cube.states.binary import binary_array
from asc.operators.cube.states.frequent_kernels import (
    DAMAGED,
    HEADS,
    UNEQUAL,
    Items,
    Packed,
    check,
    measure,
    prune,
    read,
    write,
)
from asc.operators.cube.states.kernels import add_counts
from asc.operators.cube.states.memory import nulls_of
from asc.operators.cube.states.occurrences import Occurrences
from asc.operators.cube.states.sizes import CAPACITY, ITEM_BYTES_MAX, checked_capacity
from asc.operators.cube.states.spans import Spans, width_of
from asc.operators.cube.states.state import Places, Rows, State, Values

_Ints = npt.NDArray[np.int64]

_STATE_BYTES_MAX = 2**31 - 1
"""The largest number of bytes of one Arrow array of states: its offsets are int32."""


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """The items of several states. In each state, items are sorted by descending estimate, and items with equal
    estimates ascending.

    ``starts`` int64[states + 1]: the index of each state's first item. ``items``: the items, of the type of the values.
    ``estimates``, ``lows`` and ``highs`` int64[items]: the estimate of how often an item occurred, and its lower and
    upper bound. ``values`` int64[states]: the number of values. ``bounds`` int64[states]: the largest number of times
    that a value that is not listed can have occurred.
    """

    starts: _Ints
    items: pa.Array
    estimates: _Ints
    lows: _Ints
    highs: _Ints
    values: _Ints
    bounds: _Ints


class Frequent(State):
    """The items of a cell that occur most: the summary of Misra and Gries, with bounds of each count.

    A state has at most ``capacity`` items. If the cell has at most ``capacity`` different values, all counts are exact,
    and equal values give equal bytes. If there are more, the smallest counters are removed, and all counters are
    reduced by the largest removed counter. The error of a state is the sum of these reductions over all folds and
    merges. It is at most the number of values divided by ``capacity`` + 1. An item is missing only if it occurred at
    most ``error`` times, or if it is longer than ITEM_BYTES_MAX.

    Sources: Misra and Gries, Finding Repeated Elements (1982); Agarwal and others, Mergeable Summaries (2012). Beyond
    these sources, a state stores for each item by how much its count exceeds its counter at least. So an item that was
    never removed has its exact count. Cost: 3 to 12 bytes for each item besides the item itself.
    """

    storage = pa.binary()
    type = pa.int64()

    def __init__(self, data_type: pa.DataType, capacity: int = CAPACITY) -> None:
        self.item_type = data_type
        self.capacity = checked_capacity(capacity)
        self._width = width_of(data_type)

    def values(self, column: pa.Array) -> Values:
        """Return each value as its rank in the dictionary of the different values of the batch."""
        key = Key.of(column)
        return Values(frozen(key.codes - np.int32(1)), nulls_of(column), key.dictionary)

    def fold(self, values: Values | None, rows: Rows, cells: Places, count: int) -> pa.Array:
        """Return the states of the values by cell. Each different value of a cell is added once, with its count."""
        assert values is not None
        assert values.dictionary is not None
        met = Occurrences.of_rows(values, rows, cells, count)
        spans = Spans.of(values.dictionary)
        heads = np.zeros((HEADS, count), dtype=np.int64)
        add_counts(met.counts, met.cells, heads[0])
        counters = met.counts
        is_long = np.diff(spans.offsets) > ITEM_BYTES_MAX
        if is_long.any():
            is_left_out = is_long[met.codes]
            add_counts(frozen(counters[is_left_out]), frozen(met.cells[is_left_out]), heads[2])
            counters = np.where(is_left_out, 0, counters)
        items = Items(met.starts, counters.copy(), np.zeros(len(counters), dtype=np.int64), heads)
        return self._written(items, met.codes, spans)

    def merge(self, states: pa.Array, cells: Places, count: int) -> pa.Array:
        """Return the merged states by cell: counters and errors are added, and then the counters are reduced once."""
        parts, spans = self._read(states)
        heads = np.zeros((HEADS, count), dtype=np.int64)
        frozen(parts.heads)
        for head in range(HEADS):
            add_counts(parts.heads[head], cells, heads[head])
        key = Key.of(self._items_of(spans))
        owners = frozen(np.repeat(cells, np.diff(parts.starts)))
        codes = frozen(key.codes - np.int32(1))
        met, (counters, extras) = Occurrences.summed(
            owners, codes, len(key.dictionary), count, frozen(parts.counters), frozen(parts.extras)
        )
        return self._written(Items(met.starts, counters, extras, heads), met.codes, Spans.of(key.dictionary))

    def answer(self, states: pa.Array) -> pa.Array:
        """Return the number of values of each state, which is 0 for NULL."""
        return pa.array(self._read(states)[0].heads[0])

    def listed(self, states: pa.Array) -> Listed:
        """Return the items of states. The estimate of a count is the middle between its lower and upper bound."""
        parts, spans = self._read(states)
        items = self._items_of(spans)
        owners = np.repeat(np.arange(len(states)), np.diff(parts.starts))
        errors = parts.heads[1]
        lows, highs = parts.counters + parts.extras, parts.counters + errors[owners]
        estimates = lows + (highs - lows) // 2
        order = np.lexsort((Key.of(items).codes, -estimates, owners))
        bounds = np.maximum(errors, parts.heads[2])
        ranked = items.take(pa.array(order))
        return Listed(parts.starts, ranked, estimates[order], lows[order], highs[order], parts.heads[0], bounds)

    def _written(self, items: Items, codes: Places, spans: Spans) -> pa.Array:
        """Return the states of items as an Arrow array. A cell without a value has NULL."""
        prune(items, self.capacity)
        count, is_fixed = items.heads.shape[1], self._width > 0
        sizes = np.empty(count, dtype=np.int64)
        measure(items, spans.offsets, codes, self.capacity, is_fixed, sizes)
        offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))
        total = int(offsets[-1])
        if total > _STATE_BYTES_MAX:
            remedy = f"group by fewer values, or keep fewer items: at most {_STATE_BYTES_MAX:,}"
            raise CubeError("frequent items in bytes", total, remedy)
        data = np.empty(total, dtype=np.uint8)
        write(items, spans.offsets, spans.data, codes, self.capacity, is_fixed, Packed(data, frozen(offsets)))
        return binary_array(data, offsets.astype(np.int32))

    def _read(self, states: pa.Array) -> tuple[Items, Spans]:
        """Return the items of states, and the bytes of these items. Raise CubeError if a state is damaged, or has
        another capacity.
        """
        spans = Spans.of(states)
        packed = Packed(spans.data, spans.offsets)
        count = len(states)
        starts, lengths = np.zeros(count + 1, dtype=np.int64), np.zeros(count, dtype=np.int64)
        flaw = check(packed, self.capacity, self._width, starts, lengths)
        if flaw == UNEQUAL:
            remedy = "is merged with another capacity: merge states of one capacity"
            raise CubeError("capacity of frequent", self.capacity, remedy)
        if flaw == DAMAGED:
            raise self._damage()
        frozen(starts)
        whole = int(starts[-1])
        heads = np.empty((HEADS, count), dtype=np.int64)
        items = Items(starts, np.empty(whole, dtype=np.int64), np.empty(whole, dtype=np.int64), heads)
        places, content = np.empty(whole + 1, dtype=np.int64), np.empty(int(lengths.sum()), dtype=np.uint8)
        read(packed, self._width, items, places, content)
        return items, Spans(frozen(content), frozen(places))

    def _items_of(self, spans: Spans) -> pa.Array:
        try:
            return spans.values(self.item_type)
        except pa.ArrowInvalid:
            raise self._damage() from None

    def _damage(self) -> CubeError:
        return CubeError("state", f"frequent of {self.capacity} items", "is damaged: restore a copy of the cubes")
