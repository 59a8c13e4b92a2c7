"""Blocks: the constructs of one group of conjuncts, and the sequence in which tuples visit these constructs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from asc.errors import PlanError
from asc.frozen import frozen, frozen_int32
from asc.keys.grid import KEY_MAX, KEY_MIN, Grid, Keys
from asc.plan.block_arrays import BlockArrays, HybridArrays, SequenceArrays
from asc.plan.conjuncts import ADMITS_NULL, ConjunctTable, Integers, joined
from asc.plan.construct import Words
from asc.plan.grouping import NOWHERE, Homes, admitted_shares, nowhere
from asc.plan.order import Order
from asc.plan.pattern_postings import PatternPostings
from asc.plan.region_kernels import admit_regions, find_groups
from asc.plan.verification_masks import VerificationMasks

WORD = 64

LINE = 8
"""The number of words that are read together: as many as a cache line holds."""

_GROUPS = 64

Bits = npt.NDArray[np.int64]
Places = npt.NDArray[np.intp]
Admitted = Callable[[Grid, Keys, Keys], tuple[Places, Places]]
"""A function that returns the first and the last region that each interval admits, in part or as a whole. Its arguments
are a grid, the first keys and the last keys of the intervals.
"""

_MATCHING_SHARE = 1 / 64
"""The assumed share of tuples that match a LIKE pattern. It is not measured."""

_MANY_SURVIVORS = 8
"""The expected number of conjuncts to verify for a tuple from which on a block has verification masks. Verifying fewer
conjuncts takes less time than reading masks, which may double the number of rows to read.
"""


@dataclass(frozen=True, eq=False)
class Block:
    """The constructs of up to ``capacity`` conjuncts over the grids of a plan (section 3 of the paper).

    ``matrix`` uint64[rows, words]: row 0 is ``live``, the GRB that every tuple starts with. From row ``bases[i]`` on,
    it has the qub, the regions and the NULL region of construct i. ``slots`` int32[c]: the p-attribute of each
    construct, as its index in the plan. ``verification_masks``: for each row the conjuncts that need verification, or
    None. A block has masks if many conjuncts are expected to survive for a tuple. The expectation is computed once,
    when the block is built, and assumes that all regions are equally likely. Verifying all of these conjuncts would
    take longer than reading masks. ``order``: the order in which constructs are visited, with its ``sequence`` int32[c]
    and its ``arrows`` int32[rows]. ``table``: the exact constraints of each bit's conjunct. A bit without a conjunct
    has owner -1 and no intervals. ``pattern_postings``: the conjuncts that LIKE patterns constrain, or None. ``groups``
    uint64[rows]: bit g is 1 if the row and ``live`` have a common 1 in group g, a group of ``group_words`` words.
    ``homes``: the home of each line (eight words), computed from the line's conjuncts when the block was built
    (:mod:`asc.plan.grouping`).

    Invariant: the bit of a conjunct is 1 in a region if and only if its constraint admits a part of the region. It is 1
    in the NULL region if and only if the constraint admits NULL. A bit without a conjunct is 0 in ``live`` and the
    qubs, and 1 elsewhere. The conjuncts of one query have adjacent bits. Arrays are never written after construction.
    Cost: capacity / 8 bytes per row of the matrix and 8 bytes for the row's groups; ``verification_masks`` at most
    double this memory.
    """

    slots: Integers
    bases: Integers
    matrix: Words
    groups: Words
    verification_masks: VerificationMasks | None
    order: Order
    table: ConjunctTable
    homes: Homes
    pattern_postings: PatternPostings | None = None

    @cached_property
    def arguments(self) -> BlockArrays:
        """The block as kernels read it. It is cached, because each batch reads it."""
        return BlockArrays.of(self)

    @cached_property
    def hybrid(self) -> HybridArrays:
        """The hybrid-sequence as kernels read it."""
        return HybridArrays.of(self)

    @cached_property
    def path(self) -> SequenceArrays | HybridArrays:
        """The order as kernels read it: the hybrid-sequence if there are micro-arrows, otherwise the macro-sequence. It
        is cached, because each batch reads it.
        """
        return self.hybrid if len(self.arrows) else SequenceArrays.of(self)

    @property
    def capacity(self) -> int:
        """The number of bits of a row of the matrix: the most conjuncts that the block can have."""
        return int(self.matrix.shape[1]) * WORD

    @property
    def group_words(self) -> int:
        """The number of words of a group. A group consists of whole lines (eight words). A row has at most 64 groups,
        so that one word has a bit for each of them.
        """
        return group_words(int(self.matrix.shape[1]))

    @property
    def sequence(self) -> Integers:
        """The macro-sequence: the numbers of the block's constructs in the order of their evaluation."""
        return self.order.sequence

    @property
    def arrows(self) -> Integers:
        """For each row of the matrix, the construct to which the micro-arrow of the row's region leads, or -1. The
        array is empty if there are no micro-arrows.
        """
        return self.order.arrows

    @property
    def live(self) -> Words:
        live: Words = self.matrix[0]
        return live

    @property
    def conjunct_count(self) -> int:
        return int(np.bitwise_count(self.live).sum())

    @property
    def qubs(self) -> Words:
        """The query-usage bitmaps, uint64[constructs, words]."""
        qubs: Words = self.matrix[self.bases]
        return qubs

    @property
    def slot_bases(self) -> dict[int, int]:
        """The first row of each construct, by the slot of its p-attribute."""
        return dict(zip(self.slots.tolist(), self.bases.tolist(), strict=True))

    @property
    def nbytes(self) -> int:
        arrays = (self.slots, self.bases, self.matrix, self.groups, self.sequence, self.arrows)
        homes = self.homes.slots.nbytes + self.homes.keys.nbytes
        others = sum(own.nbytes for own in (self.verification_masks, self.pattern_postings) if own is not None)
        return sum(array.nbytes for array in arrays) + self.table.nbytes + homes + others

    def order_of(self, sequence: Sequence[int], micro_arrows: Iterable[tuple[int, int, int]] = ()) -> Order:
        """Return an order of the block's constructs. ``sequence``: a permutation of the constructs. ``micro_arrows``:
        (construct, region, target construct).

        Raise PlanError if ``sequence`` or a micro-arrow does not fit the block.
        """
        return Order.of(self.bases, len(self.matrix), sequence, micro_arrows)

    def with_order(self, order: Order) -> Block:
        """Return the block with another order. Raise PlanError if the order is for other constructs or rows."""
        constructs, rows = len(order.sequence), len(order.arrows)
        if constructs != len(self.slots) or rows not in (0, len(self.matrix)):
            needed = f"the block has {len(self.slots)} constructs in {len(self.matrix)} rows"
            raise PlanError("order of constructs and rows", (constructs, rows), needed)
        return replace(self, order=order)

    def micro_arrows(self) -> list[tuple[int, int, int]]:
        """Return the micro-arrows as (construct, region, target construct), sorted by row."""
        found = []
        for row in np.flatnonzero(self.arrows >= 0).tolist():
            construct = int(np.searchsorted(self.bases, row, side="right")) - 1
            found.append((construct, row - int(self.bases[construct]) - 1, int(self.arrows[row])))
        return found

    def region_count(self, construct: int) -> int:
        """Return the number of regions of a construct, without the NULL region, which comes after them."""
        ends = [*self.bases.tolist(), len(self.matrix)]
        return int(ends[construct + 1]) - int(ends[construct]) - 2

    def without(self, handles: npt.NDArray[np.int32]) -> Block:
        """Return a copy without the conjuncts of some queries. ``handles``: the handles of these queries. The bits of
        their conjuncts become free.
        """
        gone = np.isin(self.table.owner, handles)
        table = self.table
        kept = np.repeat(~gone, np.diff(table.first))
        first = np.zeros_like(table.first)
        np.cumsum(np.where(gone, 0, np.diff(table.first)), out=first[1:])
        owner = np.where(gone, -1, table.owner).astype(np.int32)
        smaller = ConjunctTable(first, table.code[kept], table.low[kept], table.high[kept], owner).compact()
        mask = packed(gone)
        matrix = self.matrix | mask
        matrix[0] &= ~mask
        matrix[self.bases] &= ~mask
        masks = (
            None if self.verification_masks is None else VerificationMasks.of(self.verification_masks.dense() & ~mask)
        )
        return self._with_matrix(matrix, masks).with_table(smaller)

    def with_table(self, table: ConjunctTable) -> Block:
        """Return a copy with another table of conjuncts. The caller ensures that the patterns of both tables are on the
        same p-attributes.
        """
        if self.pattern_postings is None:
            return replace(self, table=table)
        return replace(
            self,
            table=table,
            pattern_postings=PatternPostings.of(table, self.pattern_postings.slots, self.matrix.shape[1]),
        )

    def with_conjuncts(self, added: ConjunctTable, grids: Sequence[Grid], bits: Bits) -> Block:
        """Return a copy with further conjuncts: conjunct i of ``added`` gets the free bit ``bits[i]``. The constructs
        of p-attributes that the block did not have come last in the sequence. ``grids``: the boundaries of the regions,
        by slot.
        """
        block = self._with_slots(np.setdiff1d(added.slots, self.slots), grids)
        added = added.with_inexact(is_inexact(added, grids))
        order = np.arange(self.capacity, dtype=np.int64)
        order[bits] = self.capacity + np.arange(len(added))
        taken = np.zeros(self.capacity, dtype=np.bool_)
        taken[bits] = True
        matrix = block.matrix.copy()
        matrix[0] |= packed(taken)
        _fill(matrix, block.slot_bases, added, grids, bits, admitted=_admitted)
        masks = block.verification_masks
        if masks is not None:
            more = _partly_admitted(matrix.shape, block.slot_bases, added, grids, bits)
            masks = VerificationMasks.of(masks.dense() | more)
        table = joined([self.table, added]).take(order).compact()
        postings = _postings(table, block.slots, grids, self.matrix.shape[1])
        return block._with_matrix(matrix, masks, table=table, pattern_postings=postings)

    def widened(self, words: int) -> Block:
        """Return a copy with rows of ``words`` uint64, which has capacity for more conjuncts."""
        more = words - self.matrix.shape[1]
        ones = np.full((len(self.matrix), more), ~np.uint64(0))
        ones[0] = 0
        ones[self.bases] = 0
        matrix = np.concatenate([self.matrix, ones], axis=1)
        masks = self.verification_masks
        if masks is not None:
            none = np.zeros((len(masks.words), more), dtype=np.uint64)
            masks = replace(masks, words=frozen(np.concatenate([masks.words, none], axis=1)))
        wider = self.table.with_free_bits(more * WORD).compact()
        lines = lines_of(words) - len(self.homes.slots)
        homes = Homes(
            frozen_int32(np.append(self.homes.slots, np.full(lines, NOWHERE))),
            frozen(np.append(self.homes.keys, np.zeros(lines, dtype=np.int64))),
        )
        return self._with_matrix(matrix, masks, homes=homes).with_table(wider)

    def _with_slots(self, slots: npt.NDArray[np.int64], grids: Sequence[Grid]) -> Block:
        if not len(slots):
            return self
        bases = len(self.matrix) + _offsets(slots, grids)
        rows = int(bases[-1]) + grids[int(slots[-1])].regions + 2 - len(self.matrix)
        ones = np.full((rows, self.matrix.shape[1]), ~np.uint64(0))
        ones[bases - len(self.matrix)] = 0
        masks = self.verification_masks
        if masks is not None:
            masks = replace(masks, places=frozen_int32(np.append(masks.places, np.full(rows, -1))))
        return self._with_matrix(
            np.concatenate([self.matrix, ones]),
            masks,
            slots=frozen_int32(np.concatenate([self.slots, slots])),
            bases=frozen_int32(np.concatenate([self.bases, bases])),
            order=self.order.with_constructs(len(slots), rows),
        )

    def _with_matrix(self, matrix: Words, masks: VerificationMasks | None, **others: Any) -> Block:
        """Return a copy of the block with another matrix and other verification masks. ``others``: other fields to
        replace.
        """
        return replace(self, matrix=frozen(matrix), groups=_groups(matrix), verification_masks=masks, **others)


def lines_of(words: int) -> int:
    """Return the number of lines (of eight words each) that ``words`` words fill. The last line may be incomplete."""
    return -(-words // LINE)


def group_words(words: int) -> int:
    """Return the number of words of a group (:attr:`Block.group_words`), for rows of ``words`` words."""
    return -(-lines_of(words) // _GROUPS) * LINE


def used_slots(blocks: Iterable[Block]) -> set[int]:
    """Return the slots of the p-attributes that at least one conjunct of the blocks constrains."""
    return {int(slot) for block in blocks for slot in block.slots[block.qubs.any(axis=1)]}


def build_block(table: ConjunctTable, grids: Sequence[Grid], words: int, homes: Homes | None = None) -> Block:
    """Return the block of the conjuncts of a table: conjunct i has bit i. The constructs are in static sequence
    (:func:`static_sequence`).

    ``grids``: the boundaries of the regions of each p-attribute. ``words``: the number of words of a row. ``homes``:
    the homes of the conjuncts if the table is ordered by home, otherwise None. A conjunct with owner -1 stands for a
    bit that stays free.
    """
    slots = np.unique(table.slots)
    bases = 1 + _offsets(slots, grids)
    rows = int(bases[-1]) + grids[int(slots[-1])].regions + 2 if len(slots) else 1
    used = np.zeros(words * WORD, dtype=np.bool_)
    used[: len(table)] = table.owner >= 0
    slot_bases = dict(zip(slots.tolist(), bases.tolist(), strict=True))
    places = np.arange(len(table))
    matrix = np.full((rows, words), ~np.uint64(0))
    matrix[0] = packed(used)
    matrix[bases] = 0
    _fill(matrix, slot_bases, table, grids, places, admitted=_admitted)
    padded = table.with_free_bits(words * WORD - len(table))
    block = Block(
        frozen_int32(slots),
        frozen_int32(bases),
        frozen(matrix),
        _groups(matrix),
        None,
        Order.of(frozen_int32(bases), rows, range(len(slots))),
        padded.with_inexact(is_inexact(padded, grids)).compact(),
        _of_lines(homes, lines_of(words)),
        _postings(padded, slots.astype(np.int32), grids, words),
    )
    if block.table.has_inexact and _expected_survivors(table, grids) >= _MANY_SURVIVORS:
        block = replace(
            block,
            verification_masks=VerificationMasks.of(_partly_admitted(matrix.shape, slot_bases, table, grids, places)),
        )
    return block.with_order(block.order_of(static_sequence(block)))


def _expected_survivors(table: ConjunctTable, grids: Sequence[Grid]) -> float:
    """Return the expected number of conjuncts that remain for a tuple after all constructs.

    All regions of a p-attribute are assumed to be equally likely, and p-attributes to be independent.
    """
    begins, shares = admitted_shares(table, grids)
    is_matched = np.array([grid.is_matched for grid in grids], dtype=np.bool_)
    if len(begins):
        asks = is_matched[table.slots[begins]] & (table.low[begins] == table.high[begins])
        shares = np.where(asks, _MATCHING_SHARE, shares)
    left = (table.owner >= 0).astype(np.float64)
    np.multiply.at(left, table.conjuncts[begins], shares)
    return float(left.sum())


def _groups(matrix: Words) -> Words:
    groups = np.empty(len(matrix), dtype=np.uint64)
    find_groups(matrix, group_words(matrix.shape[1]), groups)
    return frozen(groups)


def _of_lines(homes: Homes | None, lines: int) -> Homes:
    """Return the home of each line: the home of the conjunct in the middle of the line. If the middle is after the last
    conjunct, the line has the home of the last conjunct.

    If the first conjunct of the line has a home on the same p-attribute, the key of that home is used. If the block has
    only one line, its home is NOWHERE: there is no other line to choose.
    """
    if homes is None or lines == 1:
        return nowhere(lines)
    heads = np.arange(lines) * LINE * WORD
    first, middle = (homes.take(np.minimum(own, len(homes.slots) - 1)) for own in (heads, heads + LINE * WORD // 2))
    return Homes(middle.slots, frozen(np.where(first.slots == middle.slots, first.keys, middle.keys)))


def _partly_admitted(
    shape: tuple[int, ...],
    slot_bases: Mapping[int, int],
    table: ConjunctTable,
    grids: Sequence[Grid],
    places: Bits,
) -> Words:
    """Return for each row the bits of the conjuncts whose constraint admits only a part of the row's region.
    ``places``: the bit of each conjunct.
    """
    some, whole = np.zeros(shape, dtype=np.uint64), np.zeros(shape, dtype=np.uint64)
    _fill(some, slot_bases, table, grids, places, admitted=_admitted)
    _fill(whole, slot_bases, table, grids, places, admitted=_admitted_whole)
    return some & ~whole


def _postings(table: ConjunctTable, slots: Integers, grids: Sequence[Grid], words: int) -> PatternPostings | None:
    """Return the pattern postings of a block: by LIKE pattern, the conjuncts that the pattern constrains. ``slots``:
    the p-attributes of the block. Return None if none of them is matched with patterns.
    """
    own = np.array([slot for slot in slots.tolist() if grids[slot].is_matched], dtype=np.int32)
    return PatternPostings.of(table, own, words) if len(own) else None


def static_sequence(block: Block) -> list[int]:
    """Return the constructs, sorted by the share of the block's conjuncts that a region of the construct does not
    exclude, averaged over all regions. The most selective construct comes first. Constructs with equal shares are in
    the order of their numbers.

    Every region has the same weight, because the compiler does not know the values of tuples. Later, the monitor finds
    a better sequence from a sample of tuples.
    """
    shares = []
    for construct, base in enumerate(block.bases.tolist()):
        regions = block.matrix[base + 1 : base + 1 + block.region_count(construct)]
        shares.append(float(np.bitwise_count(regions & block.live).sum()) / len(regions))
    return sorted(range(len(shares)), key=lambda construct: (shares[construct], construct))


def _admitted(grid: Grid, starts: Keys, ends: Keys) -> tuple[Places, Places]:
    """Return two arrays: the first and the last region of which each interval admits at least one value. ``starts``,
    ``ends``: the first and the last key of each interval.
    """
    return grid.regions_of(starts), grid.regions_of(ends)


def _admitted_whole(grid: Grid, starts: Keys, ends: Keys) -> tuple[Places, Places]:
    """Return two arrays: the first and the last region that lie completely within each interval. ``starts``, ``ends``:
    the first and the last key of each interval.

    If no region lies completely within an interval, its last region is before its first one.
    """
    if grid.is_matched:
        return _admitted(grid, starts, ends)
    begins = np.append(KEY_MIN, grid.boundaries)
    stops = np.append(grid.boundaries - 1, KEY_MAX)
    return np.searchsorted(begins, starts), np.searchsorted(stops, ends, side="right") - 1


def _fill(
    matrix: Words,
    slot_bases: Mapping[int, int],
    table: ConjunctTable,
    grids: Sequence[Grid],
    places: Bits,
    *,
    admitted: Admitted,
) -> None:
    """Write the bits of the conjuncts of a table into a matrix of bitmaps: the qubs, the regions and the NULL regions.
    ``places``: the bit of each conjunct. The caller ensures that these bits are free. ``slot_bases``: the first row of
    each construct, by slot.
    """
    conjuncts, used, starts, ends = places[table.conjuncts], table.slots, table.starts(), table.ends()
    for slot, base in slot_bases.items():
        which = np.flatnonzero(used == slot)
        if not len(which):
            continue
        grid = grids[slot]
        bits = conjuncts[which]
        mine = np.zeros(matrix.shape[1] * WORD, dtype=np.bool_)
        mine[bits] = True
        # All intervals of a constraint have the same flag for NULL. But several patterns are several constraints, whose
        # flags may differ.
        nulls = mine.copy()
        nulls[bits[(table.code[which] & ADMITS_NULL) == 0]] = False
        mask = packed(mine)
        matrix[base] |= mask
        regions = matrix[base + 1 : base + 2 + grid.regions]
        regions &= ~mask
        regions[-1] |= packed(nulls)
        some = starts[which] <= ends[which]
        lows, highs = admitted(grid, starts[which][some], ends[which][some])
        any_region = lows <= highs
        admit_regions(regions, bits[some][any_region], lows[any_region], highs[any_region])


def is_inexact(table: ConjunctTable, grids: Sequence[Grid]) -> npt.NDArray[np.bool_]:
    """Return bool[n], by interval: True if the interval's constraint is inexact, which means that it admits only a part
    of some region. All intervals of one constraint have the same value.
    """
    slots, starts, ends = table.slots, table.starts(), table.ends()
    inexact = np.zeros(len(slots), dtype=np.bool_)
    for slot in np.unique(slots).tolist():
        which = np.flatnonzero(slots == slot)
        low, high, grid = starts[which], ends[which], grids[slot]
        if grid.is_matched:
            continue
        after = np.where(high == KEY_MAX, 0, high) + np.where(high == KEY_MAX, 0, 1)
        sharp = (low == KEY_MIN) | grid.has_boundary(low)
        sharp &= (high == KEY_MAX) | grid.has_boundary(after)
        inexact[which] = ~sharp & (low <= high)
    constraint = table.conjuncts * (1 << 16) + slots
    return np.isin(constraint, constraint[inexact])


def packed(bits: npt.NDArray[np.bool_]) -> Words:
    """Pack bool[64 * w] into uint64[w]: bit j becomes bit j % 64 of word j // 64."""
    words: Words = np.packbits(bits, bitorder="little").view(np.uint64)
    return words


def _offsets(slots: npt.NDArray[np.int64], grids: Sequence[Grid]) -> npt.NDArray[np.int64]:
    sizes = np.array([grids[int(slot)].regions + 2 for slot in slots], dtype=np.int64)
    offsets: npt.NDArray[np.int64] = np.cumsum(sizes) - sizes
    return offsets
