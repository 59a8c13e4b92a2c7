"""The attribute selection construct of Definition 1, as a view of the words that the kernels read."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from bitarray import bitarray

from asc.keys.attribute import PAttribute
from asc.keys.constraint import Cut, Key

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Region:
    """One entry of the region array: its query-result and candidate-arrow bitmap.

    ``qrb[j]`` is 0 when no value of the region satisfies conjunct j, else 1. ``cab[i]`` is 1 when construct i could
    still fail a conjunct after this region was visited: ``qrb & construct[i].qub != 0`` (never its own).
    """

    qrb: bitarray
    cab: bitarray


@dataclass(frozen=True, slots=True, eq=False)
class RegionArray:
    """The regions of one construct, each made when it is asked for, over the rows that hold their bits.

    ``rows`` uint64[regions + 1, words]: the qrb of every region, NULL's last; ``qubs`` uint64[constructs, words];
    ``construct``: which of them it is. A qrb costs nothing (it is the row), a cab reads all qubs.
    """

    rows: Words
    qubs: Words
    construct: int

    def __len__(self) -> int:
        """Return the number of regions, NULL's not counted."""
        return len(self.rows) - 1

    def __getitem__(self, index: int) -> Region:
        return Region(self.qrb(index), self.cab(index))

    def qrb(self, index: int) -> bitarray:
        return bits_of(self.rows[index])

    def cab(self, index: int) -> bitarray:
        arrows = ((self.qubs & self.rows[index]) != 0).any(axis=1)
        arrows[self.construct] = False
        return bitarray(arrows.tolist(), endian="little")


@dataclass(frozen=True, slots=True)
class Construct:
    """ASC(A) of a p-attribute A for the conjuncts of a block (Definition 1, sections 3.1 and 4.1).

    ``qub[j]``: conjunct j constrains A. ``ra[r]``: the regions in the order of their values, from 0 where the paper
    counts from 1, and NULL's at ``null``, after the last. ``cuts``: the points where regions meet; region r lies
    between ``cuts[r - 1]`` and ``cuts[r]``. With m constants and exact regions there are 2m cuts and 2m + 1 regions.

    Invariant: ``qrb[j] = 1`` in every region where ``qub[j] = 0``. The bitmaps are the block's own memory, read-only,
    and as long as its words. The bits that no conjunct has are 0 in qub and 1 in every qrb, and the GRB starts without
    them. Cost: (regions + 2) * k bits.
    """

    attribute: PAttribute
    cuts: tuple[Cut, ...]
    exact: bool
    qub: bitarray
    ra: RegionArray

    @property
    def null(self) -> int:
        """The index of NULL's region."""
        return len(self.ra)

    @property
    def constants(self) -> tuple[Key, ...]:
        """The constraining constants (the region identifiers), sorted; of bounded regions, where they meet."""
        return tuple(dict.fromkeys(constant for constant, _ in self.cuts))

    def region_of(self, value: Key | None) -> int:
        """Return the index of the region that holds a value (None for NULL), by binary search."""
        if value is None:
            return self.null
        # A value lies after the cut just before it, (value, 0), and before the cut just after it, (value, 1).
        return bisect_right(self.cuts, (value, 0.5))


def bits_of(row: Words) -> bitarray:
    """Return a row of words as a bitarray over the same memory."""
    return bitarray(buffer=row.view(np.uint8).data, endian="little")
