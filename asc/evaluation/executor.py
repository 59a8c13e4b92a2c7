"""Batches of tuples through a plan: Arrow columns in, pairs of row and query out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.evaluation.kernels import ROOM, sweep, walk
from asc.evaluation.pairs import by_row
from asc.evaluation.regions import columns_of, write_regions
from asc.keys.column import Column
from asc.plan.block import Block
from asc.plan.conjuncts import Integers
from asc.plan.plan import Plan

CHUNK_ROWS = 8_192
"""Tuples a sweep: their region ids stay in the cache while one block after the other is swept over them."""

_PAD = 32
_NO_ROWS = np.empty((0, 0), dtype=np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """The accepted (row, query) pairs of a batch.

    ``rows`` int32[n] ascending and ``queries`` int32[n], the ordinals in the plan, ascending within a row: so the ids
    are sorted. ``tuples``: rows of the batch. ``dropped``: rows that no query of any block accepts (a match-all query
    accepts them nevertheless). By block, int64[blocks]: ``block_dropped``, the tuples whose GRB became all zeros in it,
    and ``block_evaluated``, the constructs evaluated in it, summed over the tuples; exact when asked for, otherwise
    counted as the fast path visits them: four, then eight at a time.
    """

    rows: Integers
    queries: Integers
    tuples: int
    dropped: int
    block_dropped: npt.NDArray[np.int64]
    block_evaluated: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def evaluated(self) -> int:
        """Constructs evaluated, summed over tuples and blocks."""
        return int(self.block_evaluated.sum())


def match(plan: Plan, columns: Sequence[pa.Array | pa.ChunkedArray], rows: int, *, count_cost: bool = False) -> Matches:
    """Evaluate a batch of ``rows`` tuples, whose p-attributes are ``columns`` in the order of ``plan.p_attributes``.

    ``count_cost`` evaluates one construct at a time, so that ``evaluated`` is the paper's cost to the letter; blocks
    with micro-arrows are always evaluated so. Raises PlanError for a column of the wrong type or length.
    """
    prepared = columns_of(plan, columns, rows)
    state = _Sweeps(plan, min(rows, CHUNK_ROWS), count_cost)
    ends = [state.sweep(prepared, start, min(rows, start + CHUNK_ROWS)) for start in range(0, rows, CHUNK_ROWS)]
    pairs = state.found[: state.count]
    places, ordinals = np.empty(len(pairs), dtype=np.int32), np.empty(len(pairs), dtype=np.int32)
    dropped, first = 0, 0
    for number, last in enumerate(ends):
        start = number * CHUNK_ROWS
        room = np.empty(min(rows, start + CHUNK_ROWS) - start + 1, dtype=np.int64)
        dropped += by_row(pairs[first:last], start, places[first:last], ordinals[first:last], room)
        first = last
    merged = _with_match_all(places, ordinals, plan.match_all, rows)
    return Matches(*merged, rows, dropped, state.dropped, state.evaluated)


class _Sweeps:
    """The room that the sweeps of one batch need: keys and regions of a chunk, and the pairs of the whole batch.

    Invariant: ``found[:count]`` are the pairs of the chunks so far, each chunk's block by block. Cost: 8 bytes a pair,
    up to twice that, for it doubles when it is short.
    """

    def __init__(self, plan: Plan, rows: int, count_cost: bool) -> None:
        slots = len(plan.p_attributes)
        self.plan = plan
        # Padded rows: columns a power of two apart would fall into the same sets of the cache.
        self.keys = np.zeros((slots, rows + _PAD), dtype=np.int64)
        self.regions = np.zeros((slots + 1, rows + _PAD), dtype=np.uint16)
        self.null_regions = np.array([grid.null_region for grid in plan.grids], dtype=np.uint16)
        self.sweeps = [_sweep_arguments(block, slots, count_cost) for block in plan.blocks]
        widest = max((block.matrix.shape[1] for block in plan.blocks), default=0)
        self.grb = np.empty(widest, dtype=np.uint64)
        self.sure = np.empty(widest, dtype=np.uint64)
        self.some = np.empty(widest, dtype=np.int64)
        self.doubtful = np.empty(64 * widest + ROOM, dtype=np.int64)
        self.found = np.empty(4 * rows + 64 * widest + ROOM, dtype=np.int64)
        self.count = 0
        self.dropped = np.zeros(len(plan.blocks), dtype=np.int64)
        self.evaluated = np.zeros(len(plan.blocks), dtype=np.int64)

    def sweep(self, columns: Sequence[Column], start: int, stop: int) -> int:
        """Find the pairs ``row << 32 | ordinal`` of rows ``start`` to ``stop``; the number of pairs found so far."""
        size = stop - start
        has_null = False
        for slot, values in enumerate(columns):
            grid, keys, regions = self.plan.grids[slot], self.keys[slot, :size], self.regions[slot, :size]
            has_null |= write_regions(grid, values, start, keys, regions)
        for number, (block, (kernel, arguments, exact, verifies)) in enumerate(
            zip(self.plan.blocks, self.sweeps, strict=True)
        ):
            words = block.matrix.shape[1]
            grb, sure = self.grb[:words], self.sure[:words]
            row = 0
            while True:
                row, self.count, cost, dropped = kernel(
                    self.regions,
                    self.keys,
                    self.null_regions,
                    has_null,
                    row,
                    size,
                    start,
                    block.matrix,
                    *arguments,
                    block.certain if verifies else _NO_ROWS,
                    verifies,
                    exact,
                    block.table.owner,
                    self.plan.ranks,
                    grb,
                    sure,
                    self.some,
                    self.doubtful,
                    self.found,
                    self.count,
                )
                self.evaluated[number] += cost
                self.dropped[number] += dropped
                if row == size:
                    break
                self.found = np.concatenate([self.found, np.empty_like(self.found)])
        return self.count


def _sweep_arguments(block: Block, slots: int, count_cost: bool) -> tuple[Any, tuple[Any, ...], tuple[Any, ...], bool]:
    """The kernel for a block, its arguments about the sequence, and what it verifies by, if it does."""
    table = block.table
    limits = np.iinfo(table.low.dtype)
    exact = (table.first, table.code, table.low, table.high, int(limits.min), int(limits.max))
    bases = block.bases.astype(np.int64) + 1
    if count_cost or len(block.arrows):
        geb = np.zeros(len(block.slots), dtype=np.bool_)
        return walk, (block.slots.astype(np.int64), bases, block.sequence, block.arrows, geb), exact, table.has_inexact
    constructs = len(block.sequence)
    fill = 4 - constructs if constructs < 4 else -(constructs - 4) % 8
    in_sequence = np.append(block.slots[block.sequence], np.full(fill, slots)).astype(np.int64)
    rows = np.append(bases[block.sequence], np.zeros(fill, dtype=np.int64))
    return sweep, (in_sequence, rows, constructs), exact, table.has_inexact


def _with_match_all(rows: Integers, ordinals: Integers, match_all: Integers, tuples: int) -> tuple[Integers, Integers]:
    """The pairs and, for every row, the match-all queries; sorted."""
    if not len(match_all):
        return rows, ordinals
    places = np.arange(tuples, dtype=np.int64) << 32
    everywhere = (places[:, None] | match_all.astype(np.int64)).reshape(-1)
    merged = np.sort(np.concatenate([(rows.astype(np.int64) << 32) | ordinals, everywhere]))
    return (merged >> 32).astype(np.int32), merged.astype(np.int32)
