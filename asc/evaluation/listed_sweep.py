# ruff: noqa: PLR0917 (compiled functions take their arguments by position)
"""Evaluation of batches by listed blocks: the search for the conjuncts listed for a tuple's value, and the evaluation
of the other constraints of these conjuncts.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from asc.compiled import compiled, inlined, prefetch
from asc.evaluation.listed_values import TupleArrays, sweep_values
from asc.evaluation.pairs import doubled
from asc.frozen import frozen
from asc.keys.column import NO_CONSTANTS, Column, column
from asc.keys.positions import coordinates
from asc.keys.shapes import decided
from asc.plan.conjuncts import ADMITS_NULL, HIGH_OPEN, LOW_OPEN, SLOT_MASK
from asc.plan.plan import Plan
from asc.plan.posting_block import ListedArrays, ListedBlock
from asc.plan.value_index import ValueIndex
from asc.spatial.index import ShapeIndex
from asc.spatial.location import NO, UNSURE, YES, ShapeArrays, holds
from asc.spatial.search import (
    CERTAIN,
    ENTRIES,
    ENTRY,
    PREFETCH_DISTANCE,
    IndexArrays,
    entry_holds,
    list_entries,
    prefetch_shapes,
)

Array = npt.NDArray[Any]
Pairs = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

PIECE_ROWS = 1 << 17
"""The number of tuples that are looked up in an index together. Positions are looked up in the order of their cells."""

_SPARE_PAIRS = 4_096

_PLAIN, _POSITION, _TEXT = range(3)
"""The kinds of a p-attribute. _PLAIN: its values are compared with constants, as keys. _POSITION: its values are
positions, which are matched with shapes. _TEXT: its values are texts, which are matched with patterns, or boxes, which
are matched with shapes.
"""

IN_DOUBT = np.int64(1) << np.int64(31)
CONJUNCT = (np.int64(1) << np.int64(31)) - np.int64(1)


class PositionArrays(NamedTuple):
    """The positions of some tuples, by which a listed block finds conjuncts.

    ``order`` int64[n]: the tuples, sorted by cell. ``cells`` int64[n]: the cell of each tuple in that order; -1 for a
    position outside of the square that the quadtree divides. ``x``, ``y``: the coordinates of each tuple, in the order
    of the batch.
    """

    cells: Array
    order: Array
    x: Array
    y: Array


def listed_pairs(plan: Plan, columns: Sequence[Column], rows: int, most: int) -> Pairs:
    """Return the pairs ``row << 32 | ordinal`` that the listed blocks of a plan find in a batch. Each pair occurs once.
    The order is arbitrary.

    ``columns``: the values of the plan's p-attributes, as :func:`asc.evaluation.regions.columns_of` returns them. Raise
    TooManyPairsError, before pairs are verified, if there may be more than ``most`` pairs. Cost: for each tuple, a
    search in the index of each listed block. For each conjunct that the search finds, the evaluation of the conjunct's
    other constraints.
    """
    slots = {attribute: slot for slot, attribute in enumerate(plan.p_attributes)}
    parts = [np.empty(0, dtype=np.int64)]
    for block in plan.listed:
        block_columns = own_columns(block, [columns[slots[attribute]] for attribute in block.attributes])
        for start in range(0, rows, PIECE_ROWS):
            tuples = ListedTuples.of(block, block_columns, start, min(rows, start + PIECE_ROWS))
            pairs = tuples.conjuncts(plan.ranks, most - sum(map(len, parts)))
            ordinals = plan.ranks[block.table.owner[pairs & CONJUNCT]].astype(np.int64)
            made = ((pairs >> 32) + start) << 32 | ordinals
            parts.append(np.unique(made) if block.finds_twice else made)
    return np.concatenate(parts)


def own_columns(block: ListedBlock, columns: Sequence[Column]) -> list[Column]:
    """Return the columns of a block's p-attributes in the form in which the block reads them: their byte strings get
    the labels of the block's dictionaries instead of the plan's.
    """
    ready = []
    for slot, (attribute, values) in enumerate(zip(block.attributes, columns, strict=True)):
        is_own = attribute.space.labelled and not attribute.is_matched
        dictionary = block.dictionaries.get(slot, NO_CONSTANTS)
        ready.append(column(attribute, dictionary, values.values) if is_own else values)
    return ready


@dataclass(frozen=True, slots=True, eq=False)
class ListedTuples:
    """Some tuples of a batch, in the form in which a listed block evaluates them.

    ``columns``: as :func:`own_columns` returns them. ``kinds`` uint8[slots]. ``keys`` int64[slots, n]: the keys of
    plain slots. ``x`` and ``y`` float64[slots, n]: the coordinates of positions. If no slot of a kind is filled, n is 0
    for the arrays of that kind. ``nulls`` bool[slots, n]. If the block's conjuncts have no constraints except those
    under which they are listed, only the row of the listed p-attribute is filled. ``errors`` bool[slots, n]: True for
    each value that could not be computed, which every constraint is assumed to admit; n is 0 if there are none.
    """

    block: ListedBlock
    columns: Sequence[Column]
    start: int
    kinds: npt.NDArray[np.uint8]
    keys: Array
    x: Reals
    y: Reals
    nulls: npt.NDArray[np.bool_]
    errors: npt.NDArray[np.bool_]

    @staticmethod
    def of(block: ListedBlock, columns: Sequence[Column], start: int, stop: int) -> ListedTuples:
        """Return the tuples of rows ``start`` to ``stop``. ``columns``: the values of the block's p-attributes."""
        slots, size = len(block.attributes), stop - start
        has_others = int(block.table.first[-1]) > len(block)
        kinds = np.array([_kind(attribute) for attribute in block.attributes], dtype=np.uint8)
        filled = kinds if has_others else kinds[block.slot : block.slot + 1]
        keys = np.zeros((slots, size if (filled == _PLAIN).any() else 0), dtype=np.int64)
        x, y = np.full((2, slots, size if (filled == _POSITION).any() else 0), np.nan)
        nulls = np.zeros((slots, size), dtype=np.bool_)
        for slot in range(slots):
            if slot != block.slot and not has_others:
                continue
            values = columns[slot]
            null = values.nulls(start, stop)
            if null is not None:
                nulls[slot] = null
            if kinds[slot] == _PLAIN:
                values.keys(start, stop, keys[slot])
            elif kinds[slot] == _POSITION:
                x[slot], y[slot] = coordinates(values.values.slice(start, size))
                x[slot, nulls[slot]] = np.nan
        # Read-only like Arrow's arrays: numba would compile the kernels again for a writable array.
        frozen(x)
        frozen(y)
        return ListedTuples(block, columns, start, kinds, keys, x, y, nulls, np.zeros((slots, 0), dtype=np.bool_))

    def conjuncts(self, ranks: npt.NDArray[np.int32], most: int = sys.maxsize) -> Pairs:
        """Return a pair ``row << 32 | conjunct`` for each conjunct that a tuple satisfies. ``ranks``: the ordinal of
        each handle, -1 if the query was removed. Conjuncts of removed queries are omitted. A few pairs may occur twice.

        Raise TooManyPairsError if the buffer of pairs is full and already has a capacity of ``most`` pairs.
        """
        return self._settled(self.candidates(ranks, most))

    @property
    def arguments(self) -> TupleArrays:
        """The values, NULLs and errors of the tuples, as kernels read them."""
        return TupleArrays(kinds=self.kinds, keys=self.keys, x=self.x, y=self.y, nulls=self.nulls, errors=self.errors)

    def candidates(self, ranks: npt.NDArray[np.int32], most: int = sys.maxsize) -> Pairs:
        """Return the pairs that :meth:`conjuncts` returns, and also pairs that are still undecided, because the kernels
        cannot evaluate all constraints exactly. Undecided pairs have the bit IN_DOUBT.
        """
        index = self.block.index
        if isinstance(index, ValueIndex):
            return self._by_values(index, ranks, most)
        return self._by_shapes(index, ranks, most)

    def _by_shapes(self, index: ShapeIndex, ranks: npt.NDArray[np.int32], most: int) -> Pairs:
        block, size = self.block, self.nulls.shape[1]
        x, y = self.x[block.slot], self.y[block.slot]
        cells = index.cell_keys(x, y)
        # An unstable sort is faster, and suffices: the order within a cell does not matter, because the pairs are
        # sorted later.
        order = np.argsort(cells)
        positions = PositionArrays(cells[order], order, x, y)
        arrays = (block.shapes.arguments, index.arguments, block.arguments, positions, self.arguments)
        entries = np.empty(ENTRIES, dtype=np.int64)
        buffer, place, count = np.empty(4 * size + _SPARE_PAIRS, dtype=np.int64), 0, 0
        while True:
            place, count, lacks_entries = sweep_listed(*arrays, ranks, entries, place, buffer, count)
            if place == size:
                pairs: Pairs = buffer[:count]
                if ranks.min(initial=0) < 0:
                    pairs = pairs[ranks[block.table.owner[pairs & CONJUNCT]] >= 0]
                return pairs
            if lacks_entries:
                entries = np.empty(2 * len(entries), dtype=np.int64)
            else:
                buffer = doubled(buffer, most, self.start + place)

    def _by_values(self, index: ValueIndex, ranks: npt.NDArray[np.int32], most: int) -> Pairs:
        arrays = (index.arguments, self.block.arguments, self.arguments)
        size = self.nulls.shape[1]
        buffer, row, count = np.empty(size + _SPARE_PAIRS, dtype=np.int64), 0, 0
        while True:
            row, count = sweep_values(*arrays, self.block.slot, ranks, row, buffer, count)
            if row == size:
                return buffer[:count]
            buffer = doubled(buffer, most, self.start + row)

    def _settled(self, pairs: Pairs) -> Pairs:
        """Return the pairs whose tuple satisfies the conjunct. The exact constraints decide the pairs that have the bit
        IN_DOUBT.
        """
        doubtful = np.flatnonzero(pairs & IN_DOUBT)
        if not len(doubtful):
            return pairs
        table = self.block.table
        rows, conjuncts = pairs[doubtful] >> 32, pairs[doubtful] & CONJUNCT
        keep = np.ones(len(pairs), dtype=np.bool_)
        # These conjuncts have only the constraint on the shape. Each tuple has a position, because the index finds
        # nothing for a tuple without one.
        alone = np.diff(table.first)[conjuncts] == 1
        if alone.any():
            numbers = np.searchsorted(self.block.first, conjuncts[alone], side="right") - 1
            alone_rows = rows[alone]
            slot = self.block.slot
            keep[doubtful[alone]] = decided(
                self.block.shapes, numbers, self.x[slot, alone_rows], self.y[slot, alone_rows]
            )
        for place in np.flatnonzero(~alone).tolist():
            keep[doubtful[place]] = self._holds(int(rows[place]), int(conjuncts[place]))
        settled: Pairs = (pairs & ~IN_DOUBT)[keep]
        return settled

    def _holds(self, row: int, conjunct: int) -> bool:
        """Return True if a tuple satisfies the exact constraints of a conjunct. A constraint on a value that could not
        be computed is assumed to hold.
        """
        of = dict(zip(self.block.attributes, self.columns, strict=True))
        terms = list(self.block.constraints(conjunct))
        if self.errors.shape[1]:
            unknown = {own for own, error in zip(self.block.attributes, self.errors[:, row], strict=True) if error}
            terms = [term for term in terms if term[0].read not in unknown]
        read = {attribute.read for attribute, _ in terms}
        keys = {own: own.key_of(of[own].scalar(self.start + row)) for own in read}
        return all(constraint.admits(attribute.key_among(keys)) for attribute, constraint in terms)


def _kind(attribute: Any) -> int:
    return _POSITION if attribute.is_point else _TEXT if attribute.is_matched else _PLAIN


@inlined
def others_hold(shapes: ShapeArrays, block: ListedArrays, tuples: TupleArrays, begin: int, end: int, row: int) -> int:
    """Return NO, YES or UNSURE: whether a tuple satisfies the constraints of one conjunct that are in the intervals
    ``begin`` to ``end`` of the block's table. UNSURE: only the exact constraints can decide. ``row``: the index of the
    tuple.
    """
    code, low, high = block.table.code, block.table.low, block.table.high
    least, greatest = block.table.least, block.table.greatest
    kinds, keys, nulls, errors = tuples.kinds, tuples.keys, tuples.nulls, tuples.errors
    i = begin
    result = YES
    while i < end:
        bits = np.int64(code[i])
        slot = bits & SLOT_MASK
        lower, upper = np.int64(low[i]), np.int64(high[i])
        i += 1
        if errors.shape[1] > 0 and errors[slot, row]:
            continue
        if nulls[slot, row]:
            inside = (bits & ADMITS_NULL) != 0
            while i < end and kinds[slot] == _PLAIN and np.int64(code[i]) & SLOT_MASK == slot:
                i += 1
            if not inside:
                return NO
            continue
        if kinds[slot] == _PLAIN:
            # Several intervals of one p-attribute are one constraint: their union.
            key = min(max(keys[slot, row], least), greatest)
            inside = lower + ((bits & LOW_OPEN) != 0) <= key <= upper - ((bits & HIGH_OPEN) != 0)
            while i < end and np.int64(code[i]) & SLOT_MASK == slot:
                bits = np.int64(code[i])
                lower, upper = np.int64(low[i]), np.int64(high[i])
                inside |= lower + ((bits & LOW_OPEN) != 0) <= key <= upper - ((bits & HIGH_OPEN) != 0)
                i += 1
            if not inside:
                return NO
            continue
        if lower > upper:
            return NO
        if lower == least and upper == greatest:
            continue
        if kinds[slot] == _TEXT:
            result = UNSURE
            continue
        base = shapes.bases[np.searchsorted(block.labels, upper)]
        met = holds(shapes.words, shapes.reals, base, tuples.x[slot, row], tuples.y[slot, row])
        if met == UNSURE:
            result = UNSURE
        elif (met == YES) != (lower == upper):
            return NO
    return result


@compiled
def sweep_listed(
    shapes: ShapeArrays,
    index: IndexArrays,
    block: ListedArrays,
    positions: PositionArrays,
    tuples: TupleArrays,
    ranks: Array,
    entries: Array,
    place: int,
    pairs: Array,
    count: int,
) -> tuple[int, int, bool]:
    """Find the conjuncts of a block listed by shapes that tuples satisfy. ``place``: the first tuple, in the order of
    the tuples' cells.

    - ``ranks`` int32[handles]: the ordinal of each query, -1 if the query was removed. Conjuncts of removed queries are
      skipped if any conjunct of the block has a constraint beside its shape.
    - ``entries`` int64[m]: scratch for the entries that are evaluated together.
    - ``pairs``: receives ``tuple << 32 | conjunct`` from ``count`` on, with the bit IN_DOUBT if only the exact
      constraints can decide whether the tuple satisfies the conjunct.

    A shape is evaluated once for all of its conjuncts, after the other constraints of these conjuncts. The function
    ends when all tuples are done, or a capacity is reached. It returns the next tuple, the number of pairs, and whether
    the capacity of ``entries`` is too small for the next tuple.
    """
    bases, places, entry_flags = shapes.bases, index.places, index.entry_flags
    cells, order, x, y = positions.cells, positions.order, positions.x, positions.y
    listed, begins, owner = block.first, block.table.first, block.table.owner
    cell = -1
    while place < cells.size:
        count_before = count
        upto, cell, many = list_entries(index, cells, place, cell, entries)
        if upto == place:
            return place, count_before, True
        for current in range(many):
            prefetch_shapes(shapes, index, entries, current, many)
            if current + 2 * PREFETCH_DISTANCE < many:
                prefetched = entries[current + 2 * PREFETCH_DISTANCE]
                prefetch(listed, np.int64(places[prefetched & ENTRY]))  # type: ignore[call-arg]
                prefetch(x, order[prefetched >> 32])
                prefetch(y, order[prefetched >> 32])
            row, entry = order[entries[current] >> 32], entries[current] & ENTRY
            number = places[entry]
            before = count
            if count + listed[number + 1] - listed[number] > pairs.size:
                return place, count_before, False
            for conjunct in range(listed[number], listed[number + 1]):
                if block.has_others:
                    if ranks[owner[conjunct]] < 0:
                        continue
                    others = others_hold(shapes, block, tuples, begins[conjunct] + 1, begins[conjunct + 1], row)
                    if others == NO:
                        continue
                    pairs[count] = (row << 32) | conjunct | (IN_DOUBT if others == UNSURE else np.int64(0))
                else:
                    pairs[count] = (row << 32) | conjunct
                count += 1
            if count == before or entries[current] & CERTAIN:
                continue
            met = entry_holds(shapes, index, bases[number], entry_flags[entry], x[row], y[row])
            if met == NO:
                count = before
            elif met == UNSURE:
                for pair in range(before, count):
                    pairs[pair] |= IN_DOUBT
        place = upto
    return place, count, False
