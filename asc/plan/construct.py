"""The attribute selection construct of the paper's Definition 1. Its bitmaps are views of the words that the kernels
read.
"""

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
    """A region of a construct, with its query-result bitmap and its candidate-arrow bitmap.

    ``qrb[j]`` is 0 if no value of the region satisfies conjunct j, otherwise 1. ``cab[i]`` is 1 if construct i can
    still exclude a conjunct after this region was visited: ``qrb & construct[i].qub != 0``. The bit of the region's own
    construct is always 0.
    """

    qrb: bitarray
    cab: bitarray


@dataclass(frozen=True, slots=True, eq=False)
class RegionArray:
    """The regions of one construct, each created on access as a view of a matrix of bitmaps.

    ``rows`` uint64[regions + 1, words]: the qrb of every region, with the NULL region last. ``qubs`` uint64[constructs,
    words]. ``construct``: the index of the construct in ``qubs``. A qrb costs nothing (it is the row), and a cab reads
    all qubs.
    """

    rows: Words
    qubs: Words
    construct: int

    def __len__(self) -> int:
        """Return the number of regions, without the NULL region."""
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
    """The attribute selection construct ASC(A) of a p-attribute A, for the conjuncts of a block (Definition 1, sections
    3.1 and 4.1 of the paper).

    ``qub[j]``: whether conjunct j constrains A. ``ra[r]``: the regions in the order of their values, counted from 0
    (the paper counts from 1). The NULL region has the index ``null``, after the last other region. ``cuts``: the points
    between regions; region r lies between ``cuts[r - 1]`` and ``cuts[r]``. With m constants and exact regions there are
    2m cuts and 2m + 1 regions.

    Invariant: ``qrb[j] = 1`` in every region if ``qub[j] = 0``. The bitmaps are read-only views of the block's memory,
    with the length of its words. Bits without a conjunct are 0 in the qub, 1 in every qrb, and 0 in the initial GRB.
    Cost: (regions + 2) * k bits.
    """

    attribute: PAttribute
    cuts: tuple[Cut, ...]
    exact: bool
    qub: bitarray
    ra: RegionArray

    @property
    def null(self) -> int:
        """The index of the NULL region."""
        return len(self.ra)

    @property
    def constants(self) -> tuple[Key, ...]:
        """The sorted constants with which conjuncts compare the p-attribute (the paper's region identifiers). With
        bounded regions, they are the boundaries of the regions.
        """
        return tuple(dict.fromkeys(constant for constant, _ in self.cuts))

    def region_of(self, value: Key | None) -> int:
        """Return the index of the region that holds a value (None for NULL), by binary search."""
        if value is None:
            return self.null
        # A cut (constant, 0) is just before the constant, and a cut (constant, 1) just after it. So the value itself is
        # at (value, 0.5).
        return bisect_right(self.cuts, (value, 0.5))


def bits_of(row: Words) -> bitarray:
    """Return a row of words as a bitarray over the same memory."""
    return bitarray(buffer=row.view(np.uint8).data, endian="little")
