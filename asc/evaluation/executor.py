"""Evaluation of batches by a plan. The input is Arrow columns, and the result is the accepted pairs of row and
query.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.evaluation.block_kernels import SPARE_PAIRS, sweep, walk
from asc.evaluation.chunk_arrays import ChunkArrays, Scratch
from asc.evaluation.initial_bitmaps import InitialBitmaps, chunk_rows
from asc.evaluation.listed_sweep import listed_pairs
from asc.evaluation.pairs import TooManyPairsError, by_row, doubled
from asc.evaluation.regions import columns_of, write_regions
from asc.keys.buffers import Mask
from asc.keys.column import Column
from asc.plan.block_arrays import HybridArrays
from asc.plan.conjuncts import Integers
from asc.plan.plan import Plan

CHUNK_ROWS = 8_192
"""The number of tuples that are evaluated together. It is so small that the numbers of the regions of these tuples stay
in the processor's cache while all blocks are evaluated.
"""

_FITTED_SHARE = 0.9
"""The share by which :func:`match_within` reduces a batch that has too many pairs. The next attempt has this share of
the rows whose pairs stayed within the bound. The share is below 1 because the first rows of a batch may have fewer
pairs than the others.
"""

_PAD = 32


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """The accepted (row, query) pairs of a batch.

    ``rows`` int32[n], ascending; ``queries`` int32[n], the ordinals in the plan, ascending within a row, so that the
    ids are sorted. ``tuples``: the number of rows of the batch. ``dropped``: the number of rows that no query of any
    block accepts. (A query without conjuncts that accepts every tuple is in no block, and accepts these rows
    nevertheless.) By block, int64[blocks]: ``block_dropped``, the tuples whose GRB became all zeros in the block, and
    ``block_evaluated``, the constructs evaluated in the block, summed over the tuples. The latter is exact if
    :func:`match` was called with ``count_cost``. Otherwise the kernels evaluate four constructs at a time, or eight in
    large blocks (:mod:`asc.evaluation.bitmap_and`), and count in the same steps. So the number is never less than the
    exact count.
    """

    rows: Integers
    queries: Integers
    tuples: int
    dropped: int
    block_dropped: npt.NDArray[np.int64]
    block_evaluated: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)

    def without(self, rows: Mask) -> Matches:
        """Return the matches without the pairs of some rows. ``rows`` bool[tuples]: True for each row whose pairs are
        omitted. The other rows keep their numbers.

        The statistics ``dropped`` and ``evaluated`` do not change.
        """
        kept = ~rows[self.rows]
        return replace(self, rows=self.rows[kept], queries=self.queries[kept])

    def of(self, pairs: Mask) -> Matches:
        """Return the matches with only some of the pairs. ``pairs`` bool[n]: True for each pair to keep. The statistics
        ``dropped`` and ``evaluated`` do not change.
        """
        return replace(self, rows=self.rows[pairs], queries=self.queries[pairs])

    @property
    def evaluated(self) -> int:
        """The number of constructs evaluated, summed over tuples and blocks."""
        return int(self.block_evaluated.sum())


def match(plan: Plan, columns: Sequence[pa.Array | pa.ChunkedArray], rows: int, *, count_cost: bool = False) -> Matches:
    """Evaluate a batch of ``rows`` tuples, and return the accepted pairs of row and query. ``columns``: the values of
    the p-attributes, in the order of ``plan.p_attributes``.

    With ``count_cost``, constructs are evaluated one at a time. So ``evaluated`` of the result is exactly the number of
    evaluated constructs that the paper defines as the cost. Blocks with micro-arrows are always evaluated one construct
    at a time. Raise PlanError for a column of the wrong type or length.
    """
    return _matched(plan, columns, rows, count_cost=count_cost)


def match_within(plan: Plan, columns: Sequence[pa.Array], rows: int, pairs: int) -> Matches:
    """Evaluate the first rows of a batch as :func:`match` does: all rows, or only so many that they have at most
    ``pairs`` accepted pairs.

    If the rows have more pairs, the evaluation begins again with fewer rows. These are at most half of the rows, and
    about as many as had been evaluated within the bound. At least one row is evaluated. ``tuples`` of the result is the
    number of rows evaluated. Cost: if the bound is exceeded, also the time of finding ``pairs`` pairs, usually once.
    Memory: 8 bytes for each of twice as many pairs, and for a few pairs per row.
    """
    while True:
        try:
            own = [column.slice(0, rows) for column in columns]
            return _matched(plan, own, rows, pairs if rows > 1 else sys.maxsize)
        except TooManyPairsError as error:
            rows = max(1, min(rows // 2, int(_FITTED_SHARE * error.rows)))


def _matched(
    plan: Plan,
    columns: Sequence[pa.Array | pa.ChunkedArray],
    rows: int,
    most: int = sys.maxsize,
    *,
    count_cost: bool = False,
) -> Matches:
    everywhere = rows * len(plan.match_all)
    if everywhere > most:
        raise TooManyPairsError(rows * most / everywhere)
    prepared = columns_of(plan, columns, rows)
    chunk = chunk_rows(plan, CHUNK_ROWS)
    state = Sweeps(plan, min(rows, chunk), most, count_cost=count_cost)
    ends: list[int] = []
    for start in range(0, rows if plan.blocks else 0, chunk):
        state.load(prepared, start, min(rows, start + chunk))
        ends.append(state.sweep())
    if plan.listed or not plan.blocks:
        state.add(listed_pairs(plan, prepared, rows, most - state.count))
        ends, chunk = [state.count], max(1, rows)
    if state.count + everywhere > most:
        raise TooManyPairsError(rows * most / (state.count + everywhere))
    pairs = state.pairs[: state.count]
    places, ordinals = np.empty(len(pairs), dtype=np.int32), np.empty(len(pairs), dtype=np.int32)
    marks = np.zeros(len(plan) // 64 + 1, dtype=np.uint64)
    dropped, first = 0, 0
    for number, last in enumerate(ends):
        start = number * chunk
        scratch = np.empty(min(rows, start + chunk) - start + 1, dtype=np.int64)
        dropped += by_row(pairs[first:last], start, places[first:last], ordinals[first:last], scratch, marks)
        first = last
    merged = _with_match_all(places, ordinals, plan.match_all, rows)
    return Matches(*merged, rows, dropped, state.dropped, state.evaluated)


class Sweeps:
    """The state of the evaluation of one batch in the blocks of a plan. A sweep is the evaluation of a chunk of tuples
    in one block. The state has the keys and regions of the tuples of a chunk, and the pairs of the whole batch.

    Invariant: ``pairs[:count]`` are the pairs of the chunks so far, block by block within each chunk. ``dropped`` and
    ``evaluated`` int64[blocks] are summed over the chunks (see Matches). A chunk is loaded before it is swept.
    ``pairs`` is doubled when it is full; TooManyPairsError is raised if it already has a capacity of ``most`` pairs.
    Cost: 8 bytes for each entry of ``pairs``, whose capacity is at most about twice the number of pairs.
    """

    def __init__(self, plan: Plan, rows: int, most: int = sys.maxsize, *, count_cost: bool = False) -> None:
        slots = len(plan.p_attributes)
        self.plan, self.most = plan, most
        # P-attributes that only listed blocks read have no regions.
        self.slots = sorted({slot for block in plan.blocks for slot in block.slots.tolist()})
        # Only the verification reads keys again. Without it, all p-attributes share one column, which each of them
        # overwrites.
        self.keeps_keys = any(block.table.has_inexact for block in plan.blocks)
        # The rows are padded: rows whose addresses differ by a power of two would share the same sets of the cache.
        self.keys = np.empty((slots if self.keeps_keys else 1, rows + _PAD), dtype=np.int64)
        self.regions = np.empty((slots + 1, rows + _PAD), dtype=np.uint16)
        self.regions[slots] = 0
        self.null_regions = np.array([grid.null_region for grid in plan.grids], dtype=np.uint16)
        self.initial_bitmaps = InitialBitmaps(plan, rows)
        self.paths = [block.hybrid if count_cost else block.path for block in plan.blocks]
        widest = max((block.matrix.shape[1] for block in plan.blocks), default=0)
        self.scratch = Scratch.of(widest, max((len(block.slots) for block in plan.blocks), default=0))
        self.pairs = np.empty(4 * rows + 64 * widest + SPARE_PAIRS, dtype=np.int64)
        self.count = self.start = self.size = 0
        self.chunk = ChunkArrays(self.regions, self.keys, self.null_regions, has_null=False, offset=0)
        self.dropped = np.zeros(len(plan.blocks), dtype=np.int64)
        self.evaluated = np.zeros(len(plan.blocks), dtype=np.int64)

    def load(self, columns: Sequence[Column], start: int, stop: int) -> None:
        """Compute the keys and regions of rows ``start`` to ``stop`` of the batch, once for all blocks."""
        self.start, self.size = start, stop - start
        has_null = False
        for slot in self.slots:
            values = columns[slot]
            keys = self.keys[slot if self.keeps_keys else 0, : self.size]
            regions = self.regions[slot, : self.size]
            has_null |= write_regions(self.plan.grids[slot], values, start, keys, regions)
        self.chunk = ChunkArrays(self.regions, self.keys, self.null_regions, has_null, offset=start)
        self.initial_bitmaps.look(columns, start, stop)

    def sweep(self) -> int:
        """Find the pairs ``row << 32 | ordinal`` of the rows that were loaded last, in all blocks. Return the number of
        pairs of the batch found so far.
        """
        for number in range(len(self.paths)):
            self.sweep_block(number)
        return self.count

    def add(self, pairs: npt.NDArray[np.int64]) -> None:
        """Add the pairs that the listed blocks found in the whole batch."""
        count = self.count + len(pairs)
        if count > len(self.pairs):
            self.pairs = np.concatenate([self.pairs[: self.count], pairs])
        self.pairs[self.count : count] = pairs
        self.count = count

    def sweep_block(self, number: int) -> None:
        """Find the pairs of the rows that were loaded last, in the block with a number."""
        block, path = self.plan.blocks[number], self.paths[number]
        arrays = block.arguments
        row = ready = 0
        while row < self.size:
            if row == ready:
                ready = self.initial_bitmaps.of(block, row, self.size)
            bitmap_rows, bitmaps = self.initial_bitmaps.bitmap_rows, self.initial_bitmaps.bitmaps
            rest = (self.plan.ranks, self.scratch, self.pairs, self.count)
            if isinstance(path, HybridArrays):
                row, self.count, cost, dropped = walk(self.chunk, bitmap_rows, bitmaps, row, ready, arrays, path, *rest)
            else:
                row, self.count, cost, dropped = sweep(
                    self.chunk, bitmap_rows, bitmaps, row, ready, arrays, path, *rest
                )
            self.evaluated[number] += cost
            self.dropped[number] += dropped
            if row < ready:
                done = (number + row / self.size) / len(self.paths)
                self.pairs = doubled(self.pairs, self.most, self.start + done * self.size)


def _with_match_all(rows: Integers, ordinals: Integers, match_all: Integers, tuples: int) -> tuple[Integers, Integers]:
    """Add a pair for every row and every query that accepts every tuple. ``match_all``: the ordinals of these queries.
    ``tuples``: the number of rows. Return the rows and the ordinals of all pairs, sorted by row and then by ordinal.
    """
    if not len(match_all):
        return rows, ordinals
    places = np.arange(tuples, dtype=np.int64) << 32
    everywhere = (places[:, None] | match_all.astype(np.int64)).reshape(-1)
    merged = np.sort(np.concatenate([(rows.astype(np.int64) << 32) | ordinals, everywhere]))
    return (merged >> 32).astype(np.int32), merged.astype(np.int32)
