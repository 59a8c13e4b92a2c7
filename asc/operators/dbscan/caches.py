"""Caches of a worker for neighbours and for labels. Outputs are the same without the caches, but take longer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from asc.operators.dbscan.chains import Labels
from asc.operators.dbscan.neighbours import Neighbours
from asc.operators.dbscan.points import Floats, Ints, Points

LABEL_BYTES = 64 << 20
"""The most bytes of cached labels (the cluster of each point of a window). A query's next window is compared with the
labels of its last window.
"""


@dataclass(frozen=True, slots=True, eq=False)
class StoredNeighbours:
    """The neighbours of points in order, as they were when the neighbours were computed. ``arrivals``: the arrival
    number of each point (``Points.arrival``). Some of these points may no longer be in the track.
    """

    radii: Floats
    neighbours: Neighbours
    arrivals: Ints

    def rows(self, arrivals: Ints) -> Ints | None:
        """Return the indices, among the stored points, of the first points of the track, up to the first one that is
        not stored. ``arrivals``: the arrival numbers of the track's points, in order.

        Return None if a stored point follows a point that is not stored, or if the points are stored in another order.
        """
        if not len(arrivals):
            return np.zeros(0, dtype=np.int64)
        first = int(np.argmax(self.arrivals == arrivals[0]))
        count = min(len(self.arrivals) - first, len(arrivals))
        if np.array_equal(self.arrivals[first : first + count], arrivals[:count]):
            return first + np.arange(count)
        order = np.argsort(self.arrivals)
        rows = order[np.minimum(np.searchsorted(self.arrivals, arrivals, sorter=order), len(order) - 1)]
        is_stored = self.arrivals[rows] == arrivals
        known = int(np.count_nonzero(is_stored))
        if not is_stored[:known].all() or (np.diff(rows[:known]) < 0).any():
            return None
        return rows[:known]


class NeighbourCache:
    """A cache of the neighbours of one track's points, which it extends as points arrive.

    The neighbours are computed anew if the radii change, or if a point arrives that precedes a point with stored
    neighbours. They are also computed anew if more than half of the stored neighbours belong to points that were
    removed.
    """

    def __init__(self, *, is_kept: bool = True) -> None:
        self._is_kept = is_kept
        self._stored: StoredNeighbours | None = None

    def of(self, points: Points, values: Floats, settled: int, radii: Floats) -> tuple[Neighbours, Ints]:
        """Return neighbours of at least the first ``settled`` points of the track, from the cache if possible. Also
        return the indices that these points have in the returned neighbours.

        ``values``: the coordinates of the points in the space in which ``radii`` are measured.
        """
        if self._stored is not None:
            found = self._extended(self._stored, points, values, settled, radii)
            if found is not None:
                return found
        neighbours = Neighbours.of(values[:settled], radii)
        if self._is_kept and settled:
            self._stored = StoredNeighbours(radii, neighbours, points.arrival[:settled])
        return neighbours, np.arange(settled)

    @property
    def nbytes(self) -> int:
        """Return the size of the stored neighbours in bytes."""
        stored = self._stored
        return 0 if stored is None else stored.neighbours.nbytes + stored.arrivals.nbytes

    def _extended(
        self, stored: StoredNeighbours, points: Points, values: Floats, settled: int, radii: Floats
    ) -> tuple[Neighbours, Ints] | None:
        """Return the result of :meth:`of` from stored neighbours, to which new points are added. Return None if the
        stored neighbours cannot be used.
        """
        if not np.array_equal(stored.radii, radii):
            return None
        rows = stored.rows(points.arrival)
        if rows is None or len(stored.arrivals) > 2 * len(rows):
            return None
        known = len(rows)
        if settled <= known:
            return stored.neighbours, rows[:settled]
        neighbours = stored.neighbours.extended(values[known:settled])
        if neighbours is None:
            return None
        arrivals = np.concatenate([stored.arrivals, points.arrival[known:settled]])
        self._stored = StoredNeighbours(radii, neighbours, arrivals)
        return neighbours, np.concatenate([rows, np.arange(len(stored.arrivals), len(arrivals))])


class LabelCache:
    """A cache of the labels of the last window of each query, up to a limit in bytes."""

    def __init__(self, capacity_bytes: int = LABEL_BYTES) -> None:
        self._free_bytes = capacity_bytes
        self.held_bytes = 0
        self._held: dict[str, tuple[int, Labels]] = {}

    def put(self, query: str, number: int, labels: Labels) -> None:
        """Store the labels of a query's window, if the limit in bytes allows it. Drop the labels of the query's
        previous window.
        """
        self.drop(query)
        size = _size(labels)
        if size <= self._free_bytes:
            self._free_bytes -= size
            self.held_bytes += size
            self._held[query] = number, labels

    def get(self, query: str, number: int) -> Labels | None:
        """Return the labels of the window ``number`` of a query. Return None if they are not cached."""
        found = self._held.get(query)
        return found[1] if found is not None and found[0] == number else None

    def drop(self, query: str) -> None:
        """Forget the labels of a query."""
        held = self._held.pop(query, None)
        if held is not None:
            size = _size(held[1])
            self._free_bytes += size
            self.held_bytes -= size


def _size(labels: Labels) -> int:
    return labels.labels.nbytes + labels.is_core.nbytes
