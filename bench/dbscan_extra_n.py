"""Extra-N as described in its paper: one range search per new point, and a predicted view for each window that will
contain the point.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from asc.operators.dbscan.chains import Labels
from asc.operators.dbscan.grid import reach_of
from asc.operators.dbscan.points import Floats
from bench.dbscan_extra_n_kernels import output_view, search_new, update_views
from bench.dbscan_own import Take
from bench.dbscan_queries import BenchQuery

_NEIGHBOURS = 64
"""The initial capacity for neighbours of the new points."""


class RangeSearch:
    """An index of the newest points, which finds the neighbours of each new point within a radius."""

    def __init__(self, values: Floats, radius: float, window: int) -> None:
        self._values = values
        self._side, self._square, self._window = reach_of(radius), radius * radius, window
        self._cells = np.zeros((window, 2), dtype=np.int64)
        self._heads = np.full(1 << window.bit_length(), -1, dtype=np.int64)
        self._following = np.full(window, -1, dtype=np.int64)
        self.starts = np.zeros(1, dtype=np.int64)
        self.found = np.empty(_NEIGHBOURS, dtype=np.int32)
        self.squares = np.empty(_NEIGHBOURS, dtype=np.float64)

    def search(self, low: int, high: int) -> None:
        """Search the neighbours of the new points from ``low`` to before ``high``. ``found`` then has the neighbours of
        all new points, and ``squares`` their squared distances. New point i has the entries from ``starts[i]`` to
        before ``starts[i + 1]``.
        """
        if len(self.starts) != high - low + 1:
            self.starts = np.zeros(high - low + 1, dtype=np.int64)
        done = low
        while done < high:
            own = self.starts[done - low :]
            done = search_new(
                *(self._values, done, high, self._side, self._square, self._window, self._cells, self._heads),
                *(self._following, own, self.found, self.squares),
            )
            if done < high:
                self.found, self.squares = (
                    np.concatenate([each, np.empty_like(each)]) for each in (self.found, self.squares)
                )


class PredictedViews:
    """The predicted views of one query. A predicted view contains, for one future window, the number of neighbours and
    the cluster of each known point of the window. All views share the lists of neighbours.
    """

    def __init__(self, query: BenchQuery) -> None:
        self._query = query
        views = -(-query.window // query.slide)
        self._counts = np.zeros((views, query.window), dtype=np.int32)
        self._parents = np.full((views, query.window), -1, dtype=np.int32)
        self._lists = np.empty((query.window, query.min_samples), dtype=np.int32)
        self._lengths = np.zeros(query.window, dtype=np.int32)
        self._roots = np.empty(query.window, dtype=np.int32)

    def update(self, low: int, high: int, search: RangeSearch, near: np.ndarray[tuple[int], np.dtype[np.int32]]) -> int:
        """Update the views with new points, and return the number of neighbours visited."""
        query = self._query
        found: int = update_views(
            *(low, high, query.eps * query.eps, query.min_samples, query.window, query.slide),
            *(search.starts, search.found, search.squares),
            *(self._counts, self._parents, self._lists, self._lengths, near),
        )
        return found

    def labels(self, end: int) -> Labels:
        """Return the clusters of the window that ends before point number ``end``."""
        window = self._query.window
        begin = end - window
        own = self._parents[(begin // self._query.slide) % len(self._parents)]
        labels, is_core = np.empty(window, dtype=np.int32), np.empty(window, dtype=np.bool_)
        clusters = output_view(begin, window, own, self._lists, self._lengths, self._roots, labels, is_core)
        return Labels(labels, is_core, clusters)


class ExtraN:
    """The contender Extra-N for several queries. If ``is_shared`` is true, one range search per point, with the largest
    eps, serves all queries. If it is false, each query has a separate search.

    ``search_s``: the processor time of searches. ``searches`` and ``visits``: the numbers of searches and of neighbours
    visited.
    """

    def __init__(
        self, values: Floats, queries: Sequence[BenchQuery], take: Take | None = None, *, is_shared: bool
    ) -> None:
        self._queries = queries
        self._take = take
        self._views = [PredictedViews(query) for query in queries]
        widest = max(query.window for query in queries)
        if is_shared:
            self._searches = [RangeSearch(values, max(query.eps for query in queries), widest)]
        else:
            self._searches = [RangeSearch(values, query.eps, query.window) for query in queries]
        self._near = np.empty(widest, dtype=np.int32)
        self.search_s = 0.0
        self.searches = self.visits = 0

    def advance(self, low: int, high: int) -> None:
        """Process the points from ``low`` to before ``high``, and output the windows that end at ``high``. No window
        may end between ``low`` and ``high``.
        """
        start_s = time.process_time()
        for search in self._searches:
            search.search(low, high)
        self.search_s += time.process_time() - start_s
        self.searches += len(self._searches) * (high - low)
        is_shared = len(self._searches) < len(self._queries)
        for place, (query, views) in enumerate(zip(self._queries, self._views, strict=True)):
            self.visits += views.update(low, high, self._searches[0 if is_shared else place], self._near)
            if query.is_due(high):
                labels = views.labels(high)
                if self._take is not None:
                    self._take(place, high, labels)
