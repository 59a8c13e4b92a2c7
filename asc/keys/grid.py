"""Grids: the divisions of the keys of p-attributes into regions. All blocks of a plan share the grid of a
p-attribute.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from asc.errors import PlanError
from asc.frozen import frozen

Keys = npt.NDArray[np.int64]

KEY_MIN = int(np.iinfo(np.int64).min)
KEY_MAX = int(np.iinfo(np.int64).max)
REGIONS_MAX = 65_000
"""The greatest number of regions of a p-attribute. Arrays store the number of a region as uint16."""

_TABLE_SPAN = 4_096
_CELLS_A_BOUNDARY = 8


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """The regions of one p-attribute.

    Region r (from 0) holds the keys k for which exactly r boundaries are <= k. The region after the last one is that of
    NULL.

    ``exact``: whether the regions are those of the paper's Definition 1, where m constants give 2m + 1 regions. These
    are the constants and the gaps between them: every constant c gives the boundaries c and c + 1. A gap without a key
    (as between 7 and 8) has a region that is never visited. If not exact, there is a limited number of bounded regions
    between quantiles of the cuts (:meth:`of_cuts`), with the outermost cuts as boundaries. A bit of a bounded region
    then says that the conjunct admits at least a part of the region.

    ``table`` uint16: the keys from ``origin`` to the last boundary are divided into cells of ``2**shift`` keys. The
    table holds the region of the first key of each cell. With ``shift`` > 0 the last entry is the region of the last
    boundary. Keys beyond the ends have the region of the nearest end. Cost: a look-up, and a search among the
    boundaries inside a cell. A cell has few boundaries unless nearly all boundaries are close together.

    ``is_matched``: whether the p-attribute is matched with patterns. Then all values except NULL are one region,
    because the patterns that a value matches do not depend on an interval (see ``asc.plan.pattern_postings``).
    """

    boundaries: Keys
    exact: bool
    origin: int
    shift: int
    table: npt.NDArray[np.uint16]
    is_matched: bool = False

    @staticmethod
    def of_patterns(*, exact: bool) -> Grid:
        """Return the grid of a p-attribute that is matched with patterns; ``exact``: whether the plan has exact
        regions.
        """
        return replace(_with_table(np.empty(0, dtype=np.int64), exact=exact), is_matched=True)

    @staticmethod
    def of_constants(constants: Keys) -> Grid:
        """Return the 2m + 1 exact regions of m sorted, distinct constants.

        >>> Grid.of_constants(np.array([30, 50])).regions_of(np.array([10, 30, 40, 50, 80])).tolist()
        [0, 1, 2, 3, 4]
        """
        boundaries = np.empty(2 * len(constants), dtype=np.int64)
        boundaries[0::2] = constants
        if len(constants) and constants[-1] == KEY_MAX:
            # There is no key above KEY_MAX, so the last constant has no region above it.
            boundaries[1:-1:2] = constants[:-1] + 1
            boundaries = boundaries[:-1]
        else:
            boundaries[1::2] = constants + 1
        return _with_table(boundaries, exact=True)

    @staticmethod
    def of_cuts(cuts: Keys, regions: int) -> Grid:
        """Return a grid of at most ``regions`` bounded regions. ``cuts``: the keys at which the intervals of
        constraints begin, or after which they end. A key that occurs several times counts as often. The boundaries are
        quantiles of the cuts.

        The least cut is a boundary and, if there are at least three regions, the greatest cut too. So values beyond all
        constants have separate regions.
        """
        distinct = np.unique(cuts)
        if len(distinct) >= regions:
            places = np.linspace(0, len(cuts) - 1, regions - 1).astype(np.int64)
            distinct = np.unique(np.sort(cuts)[places])
        return _with_table(distinct, exact=False)

    def moved(self, boundaries: Keys) -> Grid:
        """Return a copy of the grid with other boundaries, for keys that have got other labels. The caller ensures that
        the number of boundaries stays the same.
        """
        return replace(_with_table(boundaries, exact=self.exact), is_matched=self.is_matched)

    @property
    def regions(self) -> int:
        """The number of regions, without the region of NULL."""
        return len(self.boundaries) + 1

    @property
    def null_region(self) -> int:
        return len(self.boundaries) + 1

    @property
    def nbytes(self) -> int:
        return self.boundaries.nbytes + self.table.nbytes

    def constants(self) -> Keys:
        """Return the sorted constants whose regions the grid has. Raise PlanError if the grid has bounded regions."""
        if not self.exact:
            raise PlanError("bounded regions", self.regions, "they have boundaries but no constants")
        return self.boundaries[0::2]

    def regions_of(self, keys: Keys) -> npt.NDArray[np.intp]:
        """Return the number of the region that contains each key."""
        return np.searchsorted(self.boundaries, keys, side="right")

    def has_boundary(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """Return bool[n]: True for each key at which a region begins."""
        if not len(self.boundaries):
            return np.zeros(len(keys), dtype=np.bool_)
        places = np.minimum(np.searchsorted(self.boundaries, keys), len(self.boundaries) - 1)
        found: npt.NDArray[np.bool_] = self.boundaries[places] == keys
        return found


def _with_table(boundaries: Keys, exact: bool) -> Grid:
    if len(boundaries) + 2 > REGIONS_MAX:
        raise PlanError(
            "too many exact regions of a p-attribute",
            len(boundaries) + 1,
            f"at most {REGIONS_MAX}; use bounded regions",
        )
    first, last = (int(boundaries[0]), int(boundaries[-1])) if len(boundaries) else (0, 0)
    origin = max(first - 1, KEY_MIN)
    span = last - origin + 1
    shift = 0 if span <= _TABLE_SPAN else max(0, (span // (_CELLS_A_BOUNDARY * len(boundaries))).bit_length())
    starts = [origin + (cell << shift) for cell in range(((span - 1) >> shift) + 1)] + [last] * (shift > 0)
    table = np.searchsorted(boundaries, np.array(starts, dtype=np.int64), side="right").astype(np.uint16)
    return Grid(frozen(boundaries), exact, origin, shift, frozen(table))
