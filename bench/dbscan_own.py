"""The contenders that run the engine. One runs the whole DBSCAN operator, from feed messages to output records. The
others compute only labels: one for all queries together, and one for each query separately.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from asc.operators.dbscan.caches import NeighbourCache
from asc.operators.dbscan.chains import Labels
from asc.operators.dbscan.clusters import Clusters
from asc.operators.dbscan.dbscan_query import OP, DbscanQuery
from asc.operators.dbscan.labels import Setting, labelled
from asc.operators.dbscan.neighbours import Neighbours
from asc.operators.dbscan.points import Floats, Ints, Points
from asc.operators.dbscan.progress import DueWindow
from asc.operators.feed import Observation, Settings, Watermarks
from asc.operators.feed_claim import claim_of
from bench.dbscan_queries import BenchQuery
from bench.dbscan_visits import visits_of

Take = Callable[[int, int, Labels], None]
"""A function that receives the index of a query, the end of a window of the query, and the clusters of the window."""

POINTS_MAX = 200_000
WRITER, TRACK, TIME, SELECTION = "5f0b3b9e01c7", "d41c9e0273d1", "3b9e01c75f1d", "a41c9e0273d15b88"
"""Names in the messages of the benchmark. They are as long as the names that a daemon writes, so the messages have a
realistic size.
"""

BEGIN_US, APART_US, FIRST_OFFSET = 1_780_272_000_000_000, 10_000, 5_000_000
"""The time of the first point in microseconds (2026-06-01), the time from point to point, and the offset of the first
point. So the messages of the benchmark have the length of a daemon's messages.
"""


def settings_text(queries: Sequence[BenchQuery]) -> str:
    """Return the settings of queries as the text of a feed message."""
    settings = [
        DbscanQuery(
            f"q{place}",
            "out",
            TRACK,
            TIME,
            (SELECTION,),
            2,
            False,
            query.eps,
            query.min_samples,
            False,
            query.window,
            query.slide,
        ).settings()
        for place, query in enumerate(queries)
    ]
    return Settings(OP, "source", False, POINTS_MAX, tuple(settings)).text(WRITER)


def observation_texts(values: Floats) -> list[str]:
    """Return points as texts of feed messages, as a daemon writes them."""
    rows = enumerate(map(tuple, values.tolist()))
    return [
        Observation(OP, TRACK, None, BEGIN_US + row * APART_US, point, 0, FIRST_OFFSET + row, (SELECTION,)).text(WRITER)
        for row, point in rows
    ]


class Records:
    """The contender that runs the operator as a Spark task does, from message texts to record texts, but without Spark
    and Kafka.
    """

    def __init__(self, texts: Sequence[str], queries: Sequence[BenchQuery], take: Take | None = None) -> None:
        self._texts = texts
        self._take = take
        self.clusters = Clusters(on_labels=None if take is None else self._on_labels)
        self.records = 0
        list(self.clusters.read([claim_of(WRITER), settings_text(queries)]))

    def advance(self, low: int, high: int) -> None:
        """Process the points from ``low`` to before ``high``, and count the records of the windows that are
        then due.
        """
        mark = Watermarks({TIME: BEGIN_US + high * APART_US}).text(WRITER)
        for _ in self.clusters.read([*self._texts[low:high], mark]):
            self.records += 1

    def _on_labels(self, own: DueWindow, _points: Points, _rows: Ints, labels: Labels) -> None:
        assert self._take is not None
        self._take(int(own.progress.query.id[1:]), own.end, labels)


class Together:
    """The contender that searches neighbours and computes labels, for all queries together. It makes no messages,
    cluster ids and records.

    ``search_s``: the processor time of searches. ``searches``: the number of points for which neighbours were searched.
    ``visits``: the number of neighbours visited, which is counted only with ``is_counted``. Counting makes the run
    several times slower.
    """

    def __init__(
        self, values: Floats, queries: Sequence[BenchQuery], take: Take | None = None, *, is_counted: bool = False
    ) -> None:
        self._values = values
        self._queries = queries
        self._take = take
        self._is_counted = is_counted
        self._radii = np.unique([query.eps for query in queries])
        self._widest = max(query.window for query in queries)
        self._cache = NeighbourCache()
        self._before: Neighbours | None = None
        self.search_s = 0.0
        self.searches = self.visits = 0

    def advance(self, low: int, high: int) -> None:
        """Process the points from ``low`` to before ``high``, and label the windows that end at ``high``. No window may
        end between ``low`` and ``high``.
        """
        due = [place for place, query in enumerate(self._queries) if query.is_due(high)]
        if not due:
            return
        begin = max(0, high - self._widest)
        start_s = time.process_time()
        neighbours, stored = self._cache.of(
            _points(begin, high, self._values), self._values[begin:high], high - begin, self._radii
        )
        self.search_s += time.process_time() - start_s
        self._count(neighbours)
        for group in self._groups(due):
            first = high - max(self._queries[place].window for place in group)
            own = [self._queries[place] for place in group]
            settings = [Setting(query.eps, query.min_samples, high - query.window - first) for query in own]
            rows = stored[first - begin :]
            if self._is_counted:
                self.visits += visits_of(self._values[first:high], settings, neighbours, rows)
            for place, labels in labelled(self._values[first:high], settings, neighbours, rows):
                if self._take is not None:
                    self._take(group[place], high, labels)

    def _groups(self, due: Sequence[int]) -> list[Sequence[int]]:
        return [due]

    def _count(self, neighbours: Neighbours) -> None:
        before = self._before
        if before is not neighbours:
            is_longer = before is not None and before.count < neighbours.count
            is_longer = is_longer and before is not None and np.array_equal(before.values[:1], neighbours.values[:1])
            self.searches += neighbours.count - (before.count if before is not None and is_longer else 0)
            self._before = neighbours


class Alone(Together):
    """The contender that computes the labels of each query separately. All queries share the search for neighbours."""

    def _groups(self, due: Sequence[int]) -> list[Sequence[int]]:
        return [[place] for place in due]


def _points(begin: int, high: int, values: Floats) -> Points:
    numbers = np.arange(begin, high)
    codes = np.zeros(high - begin, dtype=np.int32)
    return Points(numbers, codes, numbers, values[begin:high], numbers, numbers, codes)
