"""Neighbours: for each point the points before it that are within some radius, newest first, each with the smallest
radius that reaches it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from asc.operators.dbscan.grid import Grid, reach_of
from asc.operators.dbscan.neighbour_kernels import GridArrays, by_newer, by_older, sample_ranks, search
from asc.operators.dbscan.points import Codes, Floats, Ints

PAIR_NEIGHBOURS = 64
"""The largest average number of neighbours of a point for which neighbours are stored. If points have more neighbours,
the computation by cells is faster.
"""

_SAMPLE, _SAMPLE_PAIRS = 256, 1 << 22
"""The limits on the sample of points that decides whether neighbours are stored: the most points of the sample, and the
most pairs whose distances are computed.
"""

_RANKS = 1 << 16
"""The number of radii that ranks of 16 bits distinguish. The rank of a pair is the index of the smallest radius that
reaches it.
"""

_Ranks = npt.NDArray[np.uint16]


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """The pairs of neighbours among points in order, for several radii.

    The older neighbours of point n are ``older[starts[n]:starts[n + 1]]``, newest first. ``ranks`` has, for each of
    them, the index in ``radii`` of the smallest radius that reaches it. So the neighbours in a window are a prefix of
    each list, and the neighbours within a radius are those of at most a certain rank. ``radii``: the requested radii,
    ascending, up to the largest for which points have on average at most PAIR_NEIGHBOURS neighbours.

    Invariant: for every window and each radius, the pairs are exactly those of
    :func:`asc.operators.dbscan.reference.neighbours`. Memory: 6 bytes for each pair.
    """

    values: Floats
    radii: Floats
    starts: Ints
    older: Codes
    ranks: _Ranks

    @staticmethod
    def of(values: Floats, radii: Floats) -> Neighbours:
        """Return the neighbours among points in order. ``radii``: distinct radii in ascending order. The result omits
        the largest radii if points have too many neighbours within them.
        """
        nothing = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.uint16)
        none = Neighbours(values[:0], radii, *nothing)
        number = _reached(values, radii[: _RANKS - 1])
        while number:
            found = replace(none, radii=radii[:number]).extended(values)
            if found is not None:
                return found
            number //= 2
        return Neighbours(values, radii[:0], np.zeros(len(values) + 1, dtype=np.int64), none.older, none.ranks)

    @property
    def count(self) -> int:
        """Return the number of points."""
        return len(self.values)

    @property
    def nbytes(self) -> int:
        """Return the size of the points and pairs in bytes."""
        return sum(own.nbytes for own in (self.values, self.radii, self.starts, self.older, self.ranks))

    def rank(self, radius: float) -> int | None:
        """Return the index of a radius in ``radii``. Return None if the pairs of this radius are not stored."""
        place = int(np.searchsorted(self.radii, radius))
        return place if place < len(self.radii) and self.radii[place] == radius else None

    def extended(self, values: Floats) -> Neighbours | None:
        """Return the neighbours after ``values`` are appended to the points. Return None if points would then have more
        than PAIR_NEIGHBOURS neighbours on average.

        Cost: two sorts of all points, and a search of the points around each new point.
        """
        if not len(self.radii):
            starts = np.zeros(self.count + len(values) + 1, dtype=np.int64)
            return replace(self, values=np.concatenate([self.values, values]), starts=starts)
        together = np.concatenate([self.values, values])
        capacity = PAIR_NEIGHBOURS * len(together) // 2 - len(self.older)
        pairs = _pairs(together, self.count, self.radii, capacity)
        if pairs is None:
            return None
        starts, older, ranks = _listed(*pairs, len(together))
        return Neighbours(
            together,
            self.radii,
            np.concatenate([self.starts, len(self.older) + starts[self.count + 1 :]]),
            np.concatenate([self.older, older]),
            np.concatenate([self.ranks, ranks]),
        )


def _reached(values: Floats, radii: Floats) -> int:
    """Return how many of the radii are so small that the points of a sample have on average at most PAIR_NEIGHBOURS
    neighbours within them.
    """
    if not len(radii) or not len(values):
        return len(radii)
    step = max(1, len(values) // _SAMPLE, len(values) ** 2 // _SAMPLE_PAIRS)
    counts = np.zeros(len(radii), dtype=np.int64)
    sample_ranks(values, step, radii * radii, counts)
    sampled = -(-len(values) // step)
    return int(np.searchsorted(np.cumsum(counts), PAIR_NEIGHBOURS * sampled, "right"))


def _pairs(values: Floats, new_from: int, radii: Floats, capacity: int) -> tuple[Codes, Codes, _Ranks] | None:
    """Return the pairs of neighbours of which at least one point is at ``new_from`` or later, as three arrays: the
    newer points, the older points, and the ranks.

    Return None if there are more than ``capacity`` pairs.
    """
    grid = Grid.of(values, reach_of(float(radii[-1])))
    ranges = np.empty((2, values.shape[1]), dtype=np.int64)
    near = np.empty(grid.cells, dtype=np.int64)
    newer, older = np.empty(max(capacity, 0), dtype=np.int32), np.empty(max(capacity, 0), dtype=np.int32)
    ranks = np.empty(max(capacity, 0), dtype=np.uint16)
    arrays = GridArrays(order=grid.order, values=grid.values, starts=grid.starts, bins=grid.bins)
    count = search(arrays, new_from, radii * radii, ranges, near, newer, older, ranks)
    return None if count < 0 else (newer[:count], older[:count], ranks[:count])


def _listed(newer: Codes, older: Codes, ranks: _Ranks, points: int) -> tuple[Ints, Codes, _Ranks]:
    """Return the pairs in lists, one for each newer point: the start of each list, the older points of the lists, and
    their ranks.
    """
    ends = np.zeros(points + 1, dtype=np.int64)
    own_newer, own_ranks = np.empty_like(newer), np.empty_like(ranks)
    by_older(newer, older, ranks, ends, own_newer, own_ranks)
    starts = np.zeros(points + 1, dtype=np.int64)
    out_older, out_ranks = np.empty_like(older), np.empty_like(ranks)
    by_newer(own_newer, own_ranks, ends, starts, out_older, out_ranks)
    return starts, out_older, out_ranks
