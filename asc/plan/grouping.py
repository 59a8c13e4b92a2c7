"""Grouping: the division of conjuncts into blocks, in an order in which conjuncts that one construct excludes together
are adjacent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from asc.frozen import frozen, frozen_int32
from asc.keys.grid import Grid, Keys
from asc.plan.conjuncts import ConjunctTable, Integers

NOWHERE = -1
"""The home of a conjunct that every construct, taken alone, excludes seldom."""

_MOST_ADMITTED = 1 / 2
"""The largest share of the regions of a p-attribute that a conjunct's constraint may admit so that the p-attribute can
be the conjunct's home.
"""

_WIDE, _ABOUT = 1 / 5, 1.5
"""Two bounds for the choice of a conjunct's home. Let s be the smallest share of regions that one of its constraints
admits. If s is at least _WIDE, each p-attribute whose constraint admits at most _ABOUT times s is an equal candidate
for the home.
"""

_FILLED = 2
"""The least number of lines (of 512 conjuncts each) that the conjuncts of a home must fill to begin at a new line. The
conjuncts of smaller homes share lines, because free bits at the end of each home would cost memory.
"""

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Homes:
    """The homes of conjuncts, or of the lines of a block. A home is a p-attribute, with a key of that p-attribute.

    ``slots`` int32[n]: the p-attribute, or NOWHERE. ``keys`` int64[n]: the first key that the conjunct's constraint on
    that p-attribute admits. All regions have the same weight, because the compiler does not know the values of tuples.
    """

    slots: Integers
    keys: Keys

    @staticmethod
    def of(table: ConjunctTable, grids: Sequence[Grid], popular: Places | None = None) -> Homes:
        """Return the homes of the conjuncts of a table (with bounds of type int64).

        The home of a conjunct is the p-attribute whose constraint admits the smallest share of regions. It is NOWHERE
        if every constraint admits more than half of the regions, or is matched with patterns. Among p-attributes that
        admit about as small a share, the p-attribute with the greatest number in ``popular`` int64[slots] is chosen. By
        default, this number is the number of conjuncts for which the p-attribute is such a candidate. So homes are few
        and large.
        """
        begins, shares = admitted_shares(table, grids)
        conjuncts, slots = table.conjuncts[begins], table.slots[begins]
        home_slots, keys = np.full(len(table), NOWHERE, dtype=np.int32), np.zeros(len(table), dtype=np.int64)
        is_matched = np.array([grid.is_matched for grid in grids], dtype=np.bool_)
        some = np.flatnonzero((shares <= _MOST_ADMITTED) & ~is_matched[slots]) if len(slots) else begins
        if not len(some):
            return Homes(home_slots, keys)
        conjuncts, slots, begins = conjuncts[some], slots[some], begins[some]
        shares = shares[some]
        heads = np.flatnonzero(np.diff(conjuncts, prepend=-1))
        least = np.repeat(np.minimum.reduceat(shares, heads), np.diff(np.append(heads, len(conjuncts))))
        is_more = shares > np.where(least >= _WIDE, _ABOUT, 1.0) * least
        if popular is None:
            popular = np.bincount(slots[~is_more], minlength=len(grids))
        order = np.lexsort((slots, -popular[slots], is_more, conjuncts))
        best = order[heads]
        home_slots[conjuncts[best]], keys[conjuncts[best]] = slots[best], table.starts()[begins[best]]
        return Homes(home_slots, keys)

    def take(self, which: Places) -> Homes:
        """Return the homes at the indices ``which``, in that order, read-only."""
        return Homes(frozen_int32(self.slots[which]), frozen(self.keys[which]))


def nowhere(number: int) -> Homes:
    """Return ``number`` homes that are all NOWHERE."""
    return Homes(frozen_int32(np.full(number, NOWHERE)), frozen(np.zeros(number, dtype=np.int64)))


def admitted_shares(table: ConjunctTable, grids: Sequence[Grid]) -> tuple[Places, npt.NDArray[np.float64]]:
    """Return two arrays: the index of the first interval of each constraint of a table, and the share of the regions of
    its p-attribute that the constraint admits.

    The share is 1 if the p-attribute is matched with patterns, because its regions say nothing about patterns.
    """
    slots, starts, ends = table.slots, table.starts(), table.ends()
    admitted = np.zeros(len(slots))
    for slot in np.unique(slots).tolist():
        which = np.flatnonzero((slots == slot) & (starts <= ends))
        grid = grids[slot]
        admitted[which] = (grid.regions_of(ends[which]) - grid.regions_of(starts[which]) + 1) / grid.regions
    begins = np.flatnonzero(np.diff(table.conjuncts * (1 << 16) + slots, prepend=-1))
    shares = np.minimum(1.0, np.add.reduceat(admitted, begins)) if len(begins) else np.empty(0)
    return begins, shares


def grouped(
    table: ConjunctTable, grids: Sequence[Grid], limit: int, line: int
) -> Iterator[tuple[ConjunctTable, Homes]]:
    """Yield for each block the table of its conjuncts, and the homes of its bits. ``table``: all conjuncts, with bounds
    of type int64.

    In the tables, a bit that stays free is a conjunct with owner -1. Queries are ordered by the home of their first
    conjunct, and queries of the same home by the regions that they admit. So a tuple, which has one value of the home's
    p-attribute, excludes all but some neighbouring conjuncts of a home. A home that fills several lines of ``line``
    conjuncts begins at a new line: the construct of one home would seldom exclude a whole line that two homes share.
    Smaller homes come first and share lines. Blocks have about the same number of bits: at most ``limit``, plus the
    remaining conjuncts of their last query.
    """
    if not len(table):
        return
    first = query_starts(table)
    homes = Homes.of(table, grids)
    lengths, heads = np.diff(first), first[:-1]
    unit = line if limit >= line else 1
    slots = homes.slots[heads]
    counts = np.bincount(slots + 1, weights=lengths, minlength=len(grids) + 1)
    counts[NOWHERE + 1] = 0
    fills = (counts >= _FILLED * unit)[slots + 1] & (unit > 1)
    order = np.lexsort((homes.keys[heads], slots, fills))
    starts = _starts(np.where(fills, slots, NOWHERE)[order], lengths[order], unit)
    ends = starts + lengths[order]
    number = -(-int(ends[-1]) // limit)
    size = min(-(-int(ends[-1]) // (number * unit)), limit // unit) * unit
    padded = table.with_free_bits(1)
    block = starts // size
    for low, high in pairwise([0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), len(starts)]):
        bits = np.full(int(ends[high - 1]) - int(block[low]) * size, len(table), dtype=np.int64)
        places = _side_by_side(starts[low:high] - int(block[low]) * size, lengths[order[low:high]])
        bits[places] = _side_by_side(heads[order[low:high]], lengths[order[low:high]])
        # A free bit gets the home of the bit before it.
        known = np.maximum.accumulate(np.where(bits < len(table), np.arange(len(bits)), places[0]))
        yield padded.take(bits), homes.take(bits[known])


def _starts(homes: Integers, lengths: Places, unit: int) -> Places:
    """Return the first bit of each query. ``homes`` and ``lengths``: the home and the number of conjuncts of each
    query. The queries of one home begin at a multiple of ``unit`` bits.
    """
    runs = np.flatnonzero(np.diff(homes, prepend=homes[0] - 1))
    sizes = np.add.reduceat(lengths, runs)
    begins = np.cumsum(-(-sizes // unit) * unit) - -(-sizes // unit) * unit
    within = np.cumsum(lengths) - lengths
    of_run = np.diff(np.append(runs, len(lengths)))
    found: Places = within - np.repeat(within[runs], of_run) + np.repeat(begins, of_run)
    return found


def query_starts(table: ConjunctTable) -> Places:
    """Return the index of the first conjunct of each query of a table, and then the number of all conjuncts. The caller
    ensures that the conjuncts of a query are adjacent.
    """
    return np.append(np.flatnonzero(np.diff(table.owner, prepend=-1)), len(table)).astype(np.int64)


def _side_by_side(starts: Places, lengths: Places) -> Places:
    """Return the numbers of several runs of successive numbers, one run after the other. ``starts`` and ``lengths``:
    the first number and the length of each run.
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    found: Places = np.repeat(starts - (ends - lengths), lengths) + np.arange(total)
    return found
