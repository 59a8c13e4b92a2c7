"""The peers of the DBSCAN benchmark: Python packages that cluster points. Their results differ from the engine's in
border points and rounding.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from asc.operators.dbscan.points import Floats
from bench.dbscan_goals import DBSCAN, HDBSCAN, INCDBSCAN, SKLEARN
from bench.dbscan_queries import BenchQuery

Numbers = npt.NDArray[Any]

PACKAGES: Mapping[str, str] = {
    SKLEARN: "scikit-learn",
    DBSCAN: "dbscan",
    HDBSCAN: "hdbscan",
    INCDBSCAN: "incdbscan",
}
"""The package of each peer."""

_MODULES = {"scikit-learn": "sklearn"}


def missing(peer: str) -> str | None:
    """Return the reason why a peer cannot be measured. Return None if the peer is installed."""
    package = PACKAGES[peer]
    return None if find_spec(_MODULES.get(package, package)) else f"{package} is not installed"


def versions() -> dict[str, str | None]:
    """Return the versions of the peers' packages, by package. The version of a package that is not installed
    is None.
    """
    return {package: None if missing(peer) else version(package) for peer, package in PACKAGES.items()}


@dataclass(frozen=True, slots=True)
class Peer:
    """A package that clusters the points of one window for one setting.

    ``is_exact``: true if the package gives each point the same label number as the engine. If false, only the clusters
    are compared.
    """

    name: str
    labels: Callable[[Floats, float, int], Numbers]
    is_exact: bool = False


def scikit_learn(points: Floats, eps: float, min_samples: int) -> Numbers:
    """Return the labels of scikit-learn, on one thread."""
    from sklearn import cluster

    found: Numbers = cluster.DBSCAN(eps=eps, min_samples=min_samples, algorithm="kd_tree").fit(points).labels_
    return found


def dbscan(points: Floats, eps: float, min_samples: int) -> Numbers:
    """Return the labels of the package dbscan, on the number of threads in PARLAY_NUM_THREADS."""
    import dbscan as package

    found: Numbers = package.DBSCAN(points, eps, min_samples)[0]
    return found


def peers() -> list[Peer]:
    """Return the peers that are installed and cluster one window for one setting."""
    known = [Peer(SKLEARN, scikit_learn, is_exact=True), Peer(DBSCAN, dbscan)]
    return [peer for peer in known if missing(peer.name) is None]


def hdbscan_cuts(points: Floats, min_samples: int, radii: Sequence[float]) -> list[Numbers]:
    """Return the clusters of HDBSCAN's hierarchy at several radii, from one tree for all radii.

    HDBSCAN does not count a point as a neighbour of itself, and has no border points. So HDBSCAN labels a cluster of
    one point as noise.
    """
    import hdbscan

    with warnings.catch_warnings():
        # The package passes arguments whose names are deprecated in scikit-learn, so ignore the warnings.
        warnings.simplefilter("ignore")
        tree = hdbscan.HDBSCAN(
            min_cluster_size=2,
            min_samples=max(1, min_samples - 1),
            core_dist_n_jobs=1,
            approx_min_span_tree=False,
        ).fit(points)
        return [tree.dbscan_clustering(radius, min_cluster_size=1) for radius in radii]


class Incremental:
    """The contender incdbscan, with one clustering per query. For each window, it inserts the new points and deletes
    the expired points.

    Points with equal values are one object with a count. ``searches`` and ``visits``: the numbers of range searches and
    of neighbours found. ``take`` receives the query's index, the end of a window, and its labels.
    """

    def __init__(
        self,
        values: Floats,
        queries: Sequence[BenchQuery],
        take: Callable[[int, int, Numbers], None] | None = None,
        *,
        is_counted: bool = False,
    ) -> None:
        from incdbscan import IncrementalDBSCAN

        self._values = values
        self._queries = queries
        self._take = take
        self._held = [(0, 0)] * len(queries)
        self._clusterings = [IncrementalDBSCAN(eps=query.eps, min_pts=query.min_samples) for query in queries]
        self.searches = self.visits = 0
        if is_counted:
            for clustering in self._clusterings:
                self._count(clustering)

    def advance(self, low: int, high: int) -> None:
        """Process the points before ``high``, and label the windows that end at ``high``. No window may end between
        ``low`` and ``high``.
        """
        del low
        for place, (query, clustering) in enumerate(zip(self._queries, self._clusterings, strict=True)):
            if not query.is_due(high):
                continue
            (begin, end), first = self._held[place], high - query.window
            if begin < min(first, end):
                clustering.delete(self._values[begin : min(first, end)])
            clustering.insert(self._values[max(first, end) : high])
            self._held[place] = first, high
            labels = clustering.get_cluster_labels(self._values[first:high])
            if self._take is not None:
                self._take(place, high, labels.astype(np.int64))

    def _count(self, clustering: Any) -> None:
        searcher = clustering._objects.neighbor_searcher
        query_neighbors = searcher.query_neighbors

        def counted(value: Any) -> Iterator[Any]:
            self.searches += 1
            for found in query_neighbors(value):
                self.visits += 1
                yield found

        searcher.query_neighbors = counted
