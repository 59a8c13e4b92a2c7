# ruff: noqa: PLR0917 (compiled functions take their arrays one by one, by position)
"""Initial bitmaps: the GRBs with which the evaluation of tuples in a block begins. In a block with patterns, they
depend on the patterns that a tuple matches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.compiled import compiled
from asc.keys.buffers import fixed_width, null_mask
from asc.keys.column import Column
from asc.plan.block import Block
from asc.plan.construct import Words
from asc.plan.pattern_postings import CLEAR, SET, PatternPostings
from asc.plan.plan import Plan

Array = npt.NDArray[Any]
Places = npt.NDArray[np.int32]

_ROWS_BYTES = 1 << 19
"""The size in bytes of the initial bitmaps that are computed together, small enough to stay in the cache until the
kernels read them.
"""

_FEWEST_ROWS = 16

_LABELS = 1 << 24
"""The largest product of the number of tuples of a chunk and the number of all patterns of the plan. If there are many
patterns, a chunk gets fewer tuples, so that this number bounds the matches of texts with patterns.
"""

_FEWEST_CHUNK_ROWS = 64


class InitialBitmaps:
    """The GRBs with which the tuples of a chunk start in a block of the plan. :meth:`of` computes them for one block
    after the other.

    ``bitmap_rows`` int32[rows]: for each tuple a row of ``bitmaps`` uint64[n, words]; -1 if the tuple starts without
    any conjunct. In a block without patterns the row is the block's ``live`` for all tuples. Invariant: both arrays are
    valid for the block of the last call of :meth:`of`, up to the tuple that it returned. Cost: one search of the texts
    of a chunk for patterns, for all blocks together; for each block, see
    :class:`asc.plan.pattern_postings.PatternPostings`.
    """

    def __init__(self, plan: Plan, rows: int) -> None:
        self._plan = plan
        self._slots = [slot for slot, grid in enumerate(plan.grids) if grid.is_matched]
        self._place = {slot: place for place, slot in enumerate(self._slots)}
        self._values = np.empty((len(self._slots), rows), dtype=np.int32)
        self._first = np.zeros(1, dtype=np.int64)
        self._hits = np.empty(0, dtype=np.int32)
        self._labels = np.empty(0, dtype=np.int32)
        self._starts = [0]
        self._posted = np.empty(0, dtype=np.int32)
        self._text_rows = np.empty(0, dtype=np.int32)
        self._postings: tuple[Places, ...] = ()
        self._zeros = np.zeros(rows, dtype=np.int32)
        self.bitmap_rows = self._zeros
        self.bitmaps: Words = np.empty((0, 0), dtype=np.uint64)
        self._scratch: dict[int, Words] = {}

    def look(self, columns: Sequence[Column], start: int, stop: int) -> None:
        """Find the patterns of the plan that the texts of rows ``start`` to ``stop`` match. Later, :meth:`of` uses the
        result for each block.
        """
        firsts, hits, labels = [self._first[:1]], [self._hits[:0]], [self._labels[:0]]
        values, number = 0, 0
        self._starts = [0]
        for place, slot in enumerate(self._slots):
            numbers, texts = _texts(columns[slot], start, stop)
            self._values[place, : stop - start] = np.where(numbers < 0, -1, numbers + values)
            values += len(texts)
            patterns = self._plan.patterns.get(slot)
            ends, matched = (np.zeros(len(texts) + 1, dtype=np.int64), self._labels[:0])
            if patterns is not None:
                ends, matched = patterns.find(texts)
            different, places = np.unique(matched, return_inverse=True)
            firsts.append(ends[1:] + number)
            hits.append((places + self._starts[-1]).astype(np.int32))
            labels.append(different)
            number += len(matched)
            self._starts.append(self._starts[-1] + len(different))
        self._first, self._hits, self._labels = np.concatenate(firsts), np.concatenate(hits), np.concatenate(labels)

    def of(self, block: Block, row: int, end: int) -> int:
        """Compute the initial bitmaps of a block for the tuples of the chunk from ``row`` on, at most up to ``end``.
        Return the index after the last tuple whose bitmap was computed.
        """
        of_block = block.pattern_postings
        if of_block is None:
            self.bitmap_rows, self.bitmaps = self._zeros, block.matrix
            return end
        if row == 0:
            self._begin(block, of_block)
        return write_initial(
            row,
            end,
            block.live,
            of_block.base,
            self._posted,
            self._postings,
            self._text_rows,
            self._values,
            self._first,
            self._hits,
            self._labels,
            self.bitmap_rows,
            self._scratch[block.matrix.shape[1]],
        )

    def _begin(self, block: Block, of_block: PatternPostings) -> None:
        """Prepare the arrays for a block, before the first initial bitmaps of a chunk in this block are computed."""
        words = block.matrix.shape[1]
        if words not in self._scratch:
            rows = max(_FEWEST_ROWS, _ROWS_BYTES // (8 * words))
            self._scratch[words] = np.empty((rows + 2, words), dtype=np.uint64)
        scratch = self._scratch[words]
        scratch[0] = block.live & np.bitwise_and.reduce(of_block.base, axis=0)
        if self.bitmap_rows is self._zeros:
            self.bitmap_rows = np.empty_like(self._zeros)
        # Read-only like the matrix of a block: numba would compile the kernels again for a writable array.
        self.bitmaps = scratch.view()
        self.bitmaps.setflags(write=False)
        self._posted = self._places_in(of_block)
        self._text_rows = np.array([self._place[slot] for slot in of_block.slots.tolist()], dtype=np.int32)
        self._postings = (of_block.first_bit, of_block.bits, of_block.more, of_block.first_other, of_block.others)

    def _places_in(self, of_block: PatternPostings) -> Places:
        """Return for each pattern that was found in the chunk its index in a block's postings; -1 if the block does not
        have the pattern.
        """
        posted_places = np.full(len(self._labels), -1, dtype=np.int32)
        for number, slot in enumerate(of_block.slots.tolist()):
            place = self._place[slot]
            labels = self._labels[self._starts[place] : self._starts[place + 1]]
            low, high = of_block.first_label[number : number + 2].tolist()
            posted = of_block.labels[low:high]
            places = np.minimum(np.searchsorted(posted, labels), max(0, high - low - 1))
            is_posted = posted[places] == labels if high > low else np.zeros(len(labels), dtype=np.bool_)
            posted_places[self._starts[place] : self._starts[place + 1]] = np.where(is_posted, low + places, -1)
        return posted_places


def chunk_rows(plan: Plan, most: int) -> int:
    """Return the number of tuples in a chunk: ``most``, or fewer if the plan has many patterns. So the number of
    matches of texts with patterns stays within a bound.
    """
    patterns = sum(len(own) for own in plan.patterns.values())
    return min(most, max(_FEWEST_CHUNK_ROWS, _LABELS // max(1, patterns)))


def _texts(column: Column, start: int, stop: int) -> tuple[Places, pa.Array]:
    """Return for each row the index of its text among the returned texts (-1 for NULL), and these texts. If the column
    is dictionary-encoded, each text occurs once.
    """
    values = column.values.slice(start, stop - start)
    nulls = null_mask(values)
    if not pa.types.is_dictionary(values.type):
        if nulls is None:
            return np.arange(len(values), dtype=np.int32), values
        return np.where(nulls, -1, np.cumsum(~nulls) - 1).astype(np.int32), values.drop_null()
    indices = fixed_width(values, values.type.index_type.to_pandas_dtype()).astype(np.int64)
    if nulls is not None:
        indices = np.where(nulls, -1, indices)
    without = null_mask(values.dictionary)
    if without is not None:
        indices[(indices >= 0) & without[indices]] = -1
    used = np.unique(indices)
    used = used[used >= 0]
    numbers = np.searchsorted(used, indices).astype(np.int32)
    texts = column.space.readable(values.dictionary.take(pa.array(used)))
    return np.where(indices < 0, -1, numbers).astype(np.int32), texts


@compiled
def _is_among(hits: Array, labels: Array, begin: int, end: int, label: int) -> bool:
    """Return True if ``label`` is the label of one of the matched patterns ``hits[begin:end]``, which are sorted by
    label. ``labels``: the label of each pattern.
    """
    high = end
    while begin < high:
        middle = (begin + high) >> 1
        if labels[hits[middle]] < label:
            begin = middle + 1
        else:
            high = middle
    return begin < end and labels[hits[begin]] == label


@compiled
def _match(
    begin: int, end: int, hits: Array, labels: Array, posted: Array, postings: Any, clears: bool, grb: Array
) -> None:
    """Set in ``grb`` the bits of the conjuncts whose required patterns are all among the matched patterns
    ``hits[begin:end]``. With ``clears``, instead clear the bits of the conjuncts that forbid one of these patterns.
    """
    first_bit, bits, more, first_other, others = postings
    for hit in range(begin, end):
        place = posted[hits[hit]]
        if place < 0:
            continue
        for posting in range(first_bit[place], first_bit[place + 1]):
            mask = np.uint64(1) << np.uint64(bits[posting] & 63)
            if clears:
                if more[posting] == CLEAR:
                    grb[bits[posting] >> 6] &= ~mask
                continue
            if more[posting] == CLEAR:
                continue
            holds = True
            if more[posting] != SET:
                i = first_other[more[posting]]
                while holds and i < first_other[more[posting] + 1]:
                    holds = _is_among(hits, labels, begin, end, others[i])
                    i += 1
            if holds:
                grb[bits[posting] >> 6] |= mask


@compiled
def write_initial(
    row: int,
    stop: int,
    live: Array,
    base: Array,
    posted: Array,
    postings: Any,
    places: Array,
    values: Array,
    first_hit: Array,
    hits: Array,
    labels: Array,
    bitmap_rows: Array,
    bitmaps: Array,
) -> int:
    """Write the initial bitmaps of tuples ``row`` to ``stop`` in a block (see :class:`InitialBitmaps`).

    Return the tuple at which ``bitmaps`` was full, or ``stop``.

    ``base`` and ``postings`` are the block's pattern postings. ``places``: for each slot of the postings the row of
    ``values`` int32[slots, rows], which has the numbers of texts, -1 for NULL. Text i has the patterns
    ``hits[first_hit[i]:first_hit[i + 1]]``, whose ``labels`` ascend. ``posted``: for each pattern its index in the
    postings, -1 if it has none. Row 0 of ``bitmaps`` is the initial bitmap of a tuple that matches none of the block's
    patterns and has no NULL; the last row is scratch.

    The arrays are separate arguments: the function is called for every few hundred tuples, and NamedTuples would take
    3 microseconds more for each call, a tenth of its time.
    """
    words = live.size
    spare = bitmaps.shape[0] - 1
    next_row = 1
    any_idle = np.uint64(0)
    for word in range(words):
        any_idle |= bitmaps[0, word]
    for tuple_ in range(row, stop):
        is_idle = True
        for slot in range(places.size):
            value = values[places[slot], tuple_]
            if value < 0:
                is_idle = False
                break
            for hit in range(first_hit[value], first_hit[value + 1]):
                if posted[hits[hit]] >= 0:
                    is_idle = False
                    break
        if is_idle:
            bitmap_rows[tuple_] = 0 if any_idle != 0 else -1
            continue
        if next_row == spare:
            return tuple_
        for word in range(words):
            bitmaps[next_row, word] = live[word]
        for slot in range(places.size):
            value = values[places[slot], tuple_]
            if value < 0:
                # For NULL, the construct of the p-attribute excludes conjuncts, not the patterns.
                continue
            begin, end = first_hit[value], first_hit[value + 1]
            for word in range(words):
                bitmaps[spare, word] = base[slot, word]
            _match(begin, end, hits, labels, posted, postings, False, bitmaps[spare])
            _match(begin, end, hits, labels, posted, postings, True, bitmaps[spare])
            for word in range(words):
                bitmaps[next_row, word] &= bitmaps[spare, word]
        bitmap_rows[tuple_] = next_row
        next_row += 1
    return stop
