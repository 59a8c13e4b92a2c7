"""The state ``seen``: the set of the values of a cell, with an estimate of how often each value occurs."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.errors import CubeError
from asc.frozen import frozen
from asc.operators.cube.keys import Key
from asc.operators.cube.states.binary import binary_array
from asc.operators.cube.states.memory import nulls_of
from asc.operators.cube.states.occurrences import Occurrences
from asc.operators.cube.states.seen_kernels import (
    BLOCK_WORDS,
    DAMAGED,
    DENSE_HEAD,
    ROWS,
    SPARSE_HEAD,
    UNEQUAL,
    Packed,
    Shape,
    Sightings,
    Totals,
    Work,
    bound_cells,
    check,
    look_up,
    sum_up,
    unite,
    write_lists,
)
from asc.operators.cube.states.sizes import VALUES_A_BLOCK, checked_stated
from asc.operators.cube.states.spans import Spans
from asc.operators.cube.states.state import Places, Rows, State, Values
from asc.operators.cube.states.xxhash_kernels import hash_spans

_Ints = npt.NDArray[np.int64]

CHANCE = 0.01
"""The false-positive chance of the Bloom filter for a cell with the stated number of different values."""
CONFIDENCE = 1.0 - math.exp(-ROWS)
"""The probability that a count is too large by at most its error. Each row of counters exceeds the error with a
probability of 1/e.
"""

_COLUMNS_LEAST = 16
_SPARSE_BYTES = 9
"""The number of bytes of a value in a sparse state, if its count is below 256: a hash and a count."""
_CHUNK_WORDS = 1 << 22
"""The number of words of memory for the cells that are united at once. A cell that may need more is united alone."""
_LISTS_MOST = 4_096
_STATE_BYTES_MAX = 2**31 - 1
"""The most bytes that the states of one Arrow array have together."""


class Seen(State):
    """The values of a cell, as a set with counts that is sized for a stated number of different values.

    A state with few different values is sparse: it contains the 64-bit hash and the exact count of each value. A state
    with more different values is dense: it contains a blocked Bloom filter and a CountMin sketch. A value sets seven
    bits in one block of 64 bytes of the filter. The sketch has four rows of counters, with a column for each stated
    value. The form depends only on the number of different hashes, so that equal values give equal bytes in any order
    and division.

    Cost: 9 to 16 bytes for each different value of a sparse state. A dense state has 1.4 bytes for each stated value,
    and 4 counters of 1 to 8 bytes each. The bytes, and the sources, are described in
    :mod:`asc.operators.cube.states.seen_kernels`.
    """

    storage = pa.binary()
    type = pa.int64()

    def __init__(self, stated: int) -> None:
        self.shape = _shape(checked_stated(stated))

    @property
    def dense_bytes(self) -> tuple[int, int]:
        """Return the bytes of a dense state with counters of one byte, and with counters of eight bytes."""
        fixed = 8 * (DENSE_HEAD + BLOCK_WORDS * self.shape.blocks)
        return fixed + ROWS * self.shape.columns, fixed + 8 * ROWS * self.shape.columns

    def values(self, column: pa.Array) -> Values:
        """Return each value as the rank of its hash, and the different hashes, ascending, as the dictionary."""
        key = Key.of(pa.array(hashes_of(column)))
        return Values(frozen(key.codes - np.int32(1)), nulls_of(column), key.dictionary)

    def fold(self, values: Values | None, rows: Rows, cells: Places, count: int) -> pa.Array:
        """Return the sets of values by cell. Cost: each different value of a cell is added once, with its count."""
        assert values is not None
        assert values.dictionary is not None
        met = Occurrences.of_rows(values, rows, cells, count)
        hashes = frozen(values.dictionary.to_numpy()[met.codes])
        used = int(np.count_nonzero(np.diff(met.starts)))
        words = np.empty(SPARSE_HEAD * used + 2 * len(hashes), dtype=np.uint64)
        starts = np.empty(count + 1, dtype=np.int64)
        write_lists(hashes, met.counts, met.starts, self.shape, Packed(words, starts))
        places = frozen(np.arange(count, dtype=np.int32))
        return self._united(Packed(frozen(words), frozen(starts)), places, count)

    def merge(self, states: pa.Array, cells: Places, count: int) -> pa.Array:
        """Return the unions of sets by cell. Counts are added."""
        return self._united(self.packed(states, is_deep=True), cells, count)

    def answer(self, states: pa.Array) -> pa.Array:
        """Return the number of values of each state, which is 0 for NULL."""
        return pa.array(self.totals(states).values)

    def find(self, states: pa.Array, hashed: np.uint64) -> Sightings:
        """Search a value in each state. ``hashed``: the hash that :func:`hashes_of` computes for the value."""
        count = len(states)
        flags, counts = np.empty((2, count), dtype=np.bool_), np.empty((2, count), dtype=np.int64)
        sightings = Sightings(flags[0], flags[1], counts[0], counts[1])
        look_up(self.packed(states), hashed, self.shape, sightings)
        return sightings

    def totals(self, states: pa.Array, *, has_values: bool = True) -> Totals:
        """Return the number of values, the number of different values, and the false-positive chance of each state.
        Without ``has_values``, the number of values of sparse states is 0, because it takes a pass over their counts.
        """
        count = len(states)
        totals = Totals(np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64), np.empty(count))
        sum_up(self.packed(states), self.shape, has_values, totals)
        return totals

    def packed(self, states: pa.Array, *, is_deep: bool = False) -> Packed:
        """Return states in the form that kernels read. Raise CubeError if a state is damaged, or has another stated
        number.
        """
        _, offsets, content = states.buffers()
        if offsets is None or not len(states):
            none = np.zeros(0, dtype=np.uint64)
            return Packed(frozen(none), frozen(np.zeros(len(states) + 1, dtype=np.int64)))
        places = np.frombuffer(offsets, dtype=np.int32)[states.offset : states.offset + len(states) + 1]
        size = 0 if content is None else content.size // 8
        words = np.frombuffer(content, dtype=np.uint64, count=size) if size else np.zeros(0, dtype=np.uint64)
        words, starts = frozen(words.view()), np.empty(len(places), dtype=np.int64)
        flaw = check(words, frozen(places.view()), self.shape, is_deep, starts)
        if flaw == UNEQUAL:
            remedy = "is merged with another number: merge states of one number"
            raise CubeError("number of values of seen", self.shape.stated, remedy)
        if flaw == DAMAGED:
            raise CubeError("state", f"seen of {self.shape.stated} values", "is damaged: restore a copy of the cubes")
        return Packed(words, frozen(starts))

    def _united(self, packed: Packed, cells: Places, count: int) -> pa.Array:
        """Return the united states of cells. ``cells``: the cell of each state. Cells are united in chunks, which
        bounds the working memory.
        """
        order = frozen(np.argsort(cells, kind="stable"))
        firsts = frozen(np.searchsorted(cells[order], np.arange(count + 1)).astype(np.int64))
        bounds, entries = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
        bound_cells(packed, order, firsts, self.shape, bounds, entries)
        room = min(int(entries.max(initial=0)), 2 * self.shape.sparse_most)
        lists = max(1, min(int(np.diff(firsts).max(initial=1)), _LISTS_MOST))
        may_be_dense = bounds.max(initial=0) > SPARSE_HEAD + 2 * self.shape.sparse_most
        work = Work(
            np.empty((2, room), dtype=np.uint64),
            np.empty((2, room), dtype=np.int64),
            np.empty(lists, dtype=np.int64),
            np.empty(ROWS * self.shape.columns if may_be_dense else 0, dtype=np.int64),
        )
        chunks: list[npt.NDArray[np.uint64]] = []
        ends = np.zeros(count + 1, dtype=np.int64)
        first, total = 0, 0
        reached = np.cumsum(bounds)
        while first < count:
            before = int(reached[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(reached, before + _CHUNK_WORDS, side="right")))
            words = np.zeros(int(reached[last - 1]) - before, dtype=np.uint64)
            span = frozen(np.array([first, last], dtype=np.int64))
            used = unite(packed, order, firsts, span, self.shape, work, words, ends[1:])
            chunks.append(words if used == len(words) else words[:used].copy())
            ends[first + 1 : last + 1] += total
            first, total = last, total + used
            if 8 * total > _STATE_BYTES_MAX:
                remedy = f"group by fewer values, or state fewer: at most {_STATE_BYTES_MAX:,}"
                raise CubeError("sets of values in bytes", 8 * total, remedy)
        whole = chunks[0] if len(chunks) == 1 else np.concatenate([np.zeros(0, dtype=np.uint64), *chunks])
        return binary_array(whole, (8 * ends).astype(np.int32))


def hashes_of(column: pa.Array) -> npt.NDArray[np.uint64]:
    """Return the 64-bit hash of each value. The hash of a NULL is arbitrary."""
    spans = Spans.of(column)
    hashes = np.empty(len(column), dtype=np.uint64)
    hash_spans(spans.data, spans.offsets, hashes)
    return hashes


def _shape(stated: int) -> Shape:
    blocks = -(-stated // VALUES_A_BLOCK)
    columns = max(stated, _COLUMNS_LEAST)
    dense = 8 * (DENSE_HEAD + BLOCK_WORDS * blocks) + ROWS * columns
    return Shape(stated, blocks, columns, dense // _SPARSE_BYTES)
