"""Tracks: the points of the queries that read the same expressions, and the progress of these queries."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from asc.operators.dbscan.caches import LabelCache, NeighbourCache
from asc.operators.dbscan.dbscan_query import DbscanQuery
from asc.operators.dbscan.evaluation import Evaluation, OnLabels, groups_of
from asc.operators.dbscan.points import Come, Flags, Place, Points
from asc.operators.dbscan.progress import DueWindow, QueryProgress, View, Views
from asc.operators.dbscan.records import DbscanOutput, PointTexts
from asc.operators.dbscan.selections import NONE, Selections
from asc.operators.exclusions import KEY_BYTES_MAX, FeedCounts
from asc.operators.feed import Observation
from asc.operators.times import is_in_range

WINDOWS_HELD = 3
"""The capacity of a track in points, as a multiple of ``points_max``, the most points of one window."""

_SLACK = 8
"""The divisor that gives the allowed excess: the oldest points are dropped only when the held points exceed the
capacity by more than capacity / _SLACK.
"""

_NO_TIME_US = 2**62


@dataclass(frozen=True, slots=True)
class TrackName:
    """The identity of a track: its name in the feed, its time expression, the number of attributes of its points, and
    whether these are a position.
    """

    name: str
    time: str
    attributes: int
    is_position: bool

    @staticmethod
    def of(query: DbscanQuery) -> TrackName:
        """Return the name of a query's track."""
        return TrackName(query.track, query.time, query.attributes, query.is_position)


class Track:
    """The points of one track, and the progress of its queries, of which there is at least one.

    Invariant: the state of the track is a function of the feed's messages in their order, however these are split into
    batches. A caller may call :meth:`hold` between any two messages. The track holds the points that a later window or
    comparison needs. These are at most WINDOWS_HELD times ``points_max``, and until the next watermark an eighth more.
    """

    def __init__(self, name: TrackName, watermark_us: int, counts: FeedCounts) -> None:
        self.name = name
        self.counts = counts
        self.watermark_us = watermark_us
        self.points = Points.none(name.attributes)
        self.arrived = 0
        self.dropped: Place | None = None
        self.points_max = 0
        self.queries: dict[str, QueryProgress] = {}
        self.selections = Selections(())
        self.neighbours = NeighbourCache()
        self._come: list[Come] = []

    # -- settings

    def watched_by(self, queries: Mapping[str, DbscanQuery], points_max: int, labels: LabelCache) -> None:
        """Replace the queries, and forget points that no query needs.

        An unchanged query continues. A changed query with the same points and windows keeps its progress through the
        windows, but the ids of its clusters start anew.
        """
        before, self.points_max = self.queries, points_max
        self.queries = {}
        for query in queries.values():
            known = before.get(query.id)
            if known is None or not query.continues(known.query):
                known = QueryProgress.of(query, self.arrived, self.watermark_us)
            elif not query.is_same(known.query):
                known.ids = None
            known.query = query
            self.queries[query.id] = known
        for gone in before.keys() - self.queries.keys():
            labels.drop(gone)
        watched = [name for query in queries.values() for name in query.selections]
        self.selections, codes = self.selections.watching(watched, self.points.code)
        self.points = self.points.with_code(codes).take(codes != NONE)
        self._drop()
        self._forget(Views(self.points, self.selections))

    # -- points

    def take(self, seen: Observation) -> str | None:
        """Collect a record of the track for :meth:`hold`, unless no query accepts it. Return the reason if the record
        is excluded regardless of other records. Return None otherwise.
        """
        code = self.selections.code(seen.selections)
        if code == NONE:
            return None
        if seen.key is not None and len(seen.key.encode()) > KEY_BYTES_MAX:
            return "key"
        if seen.is_future:
            return "future_timestamp"
        if seen.time_us is None or not is_in_range(seen.time_us):
            return "time"
        values = _values(seen.position, self.name)
        if values is None:
            return "position" if self.name.is_position else "attributes"
        self._come.append(Come(seen.time_us, seen.partition, seen.offset, values, seen.key, code))
        return None

    def hold(self) -> None:
        """Add the records that :meth:`take` collected to the points. Ignore a record that was already added. Count the
        added and the excluded records.
        """
        come, self._come = self._come, []
        most, low = self.points_max * WINDOWS_HELD, 0
        while low < len(come):
            # Add no more points than the capacity allows. So the same points are dropped, however the messages of the
            # feed are split into batches.
            free_count = most + most // _SLACK + 1 - self.points.count
            self._hold(Points.arrived(come[low : low + free_count], self.watermark_us, self.name.attributes))
            low += free_count
            if self.points.count > most + most // _SLACK:
                self._drop()

    def _hold(self, come: Points) -> None:
        excluded, late = self.counts.excluded, self._late(come)
        excluded["late"] += int(np.count_nonzero(late))
        come = come.take(~late)
        if self.dropped is not None:
            is_before = _until(come, self.dropped)
            excluded["capacity"] += int(np.count_nonzero(is_before))
            self._drop_unheld(come.take(is_before))
            come = come.take(~is_before)
        self.points, new = self.points.merged(come, self.arrived)
        self.arrived += len(new)
        self.counts.observations += len(new)
        self._begin(come.take(new))

    def _late(self, come: Points) -> Flags:
        """Return for each of the arrived points whether the point is late for all queries that accept it."""
        before: dict[tuple[str, ...], int] = {}
        for progress in self.queries.values():
            own_us = progress.late_before(self.watermark_us)
            selections = progress.query.selections
            before[selections] = min(before.get(selections, own_us), own_us)
        least = np.full(len(self.selections.sets), _NO_TIME_US, dtype=np.int64)
        for selections, own_us in before.items():
            accepted = self.selections.accepted(selections)
            least[accepted] = np.minimum(least[accepted], own_us)
        late: Flags = come.time_us < least[come.code]
        return late

    def _begin(self, new: Points) -> None:
        """Record the time of the first point for each query that has had no point yet."""
        for progress in self.queries.values():
            if progress.first_us is None:
                own = self._timely_points(progress, new)
                if own.any():
                    progress.first_us = int(new.time_us[np.argmax(own)])

    def _timely_points(self, progress: QueryProgress, points: Points) -> Flags:
        """Return for each point whether a query accepts the point, and the point is not late for the query at the
        current watermark.
        """
        accepted = self.selections.accepted(progress.query.selections)[points.code]
        return accepted & (points.time_us >= progress.late_before(self.watermark_us))

    # -- capacity

    def _drop(self) -> None:
        """Drop the oldest points beyond the capacity, and record for each query which of its windows lose points."""
        count = self.points.count - self.points_max * WINDOWS_HELD
        if count <= 0:
            return
        self.counts.excluded["capacity"] += count
        self.dropped = self.points.place(count - 1)
        views = Views(self.points, self.selections)
        for progress in self.queries.values():
            rows, times_us = views.rows(progress)
            dropped_rows = int(np.searchsorted(rows, count))
            if not dropped_rows:
                continue
            newest = self.points.place(int(rows[dropped_rows - 1]))
            if progress.query.is_timed:
                progress.drop(times_us[:dropped_rows], newest)
            else:
                # All points before the watermark have numbers already. Of the dropped points, the others get their
                # numbers now.
                numbered = int(np.searchsorted(times_us, self.watermark_us))
                progress.numbered += max(dropped_rows - numbered, 0)
                progress.drop_numbered(progress.numbered - max(numbered - dropped_rows, 0), newest)
        self.points = self.points.take(slice(count, None))

    def _drop_unheld(self, come: Points) -> None:
        """Record as dropped the points ``come``, in their order of arrival. They arrived after later points had been
        dropped, so the track does not hold them.
        """
        if not come.count:
            return
        places = [come.place(row) for row in range(come.count)]
        for progress in self.queries.values():
            rows = np.flatnonzero(self._timely_points(progress, come))
            if not len(rows):
                continue
            accepted = [places[row] for row in rows.tolist()]
            if progress.query.is_timed:
                progress.drop(come.time_us[rows], max(accepted))
            else:
                progress.drop_unheld(accepted)

    # -- windows

    def passed(
        self, watermark_us: int, source_topic: str, labels: LabelCache, on_labels: OnLabels | None
    ) -> Iterator[DbscanOutput]:
        """Yield the records of the windows that become final at the watermark ``watermark_us``. Then remove the points
        that no later window needs.
        """
        if watermark_us <= self.watermark_us:
            return
        self._drop()
        before_us, self.watermark_us = self.watermark_us, watermark_us
        views = Views(self.points, self.selections)
        due: dict[str, Iterator[DueWindow]] = {}
        for name, progress in self.queries.items():
            mark = watermark_us if progress.query.is_timed else _numbered(progress, views, before_us, watermark_us)
            if progress.query.schedule.last_final(mark) > progress.done:
                due[name] = progress.due(self._view(progress, views, watermark_us), mark, self.points_max)
        if due:
            # The due windows contain only points before the watermark. Points after the watermark are not searched now,
            # because points may still arrive before them.
            settled = self.points.before(watermark_us)
            yield from self._outputs(due, settled, source_topic, labels, on_labels)
            self._forget(views)

    def settled(self, source_topic: str, labels: LabelCache, on_labels: OnLabels | None) -> Iterator[DbscanOutput]:
        """Yield the records of the full windows that are not final yet, for queries whose windows count points. The
        caller ensures that no point arrives afterwards.
        """
        views = Views(self.points, self.selections)
        due: dict[str, Iterator[DueWindow]] = {}
        for name, progress in self.queries.items():
            if not progress.query.is_timed:
                mark = _numbered(progress, views, self.watermark_us, _NO_TIME_US)
                due[name] = progress.due(views.counted(progress, _NO_TIME_US), mark, self.points_max)
        yield from self._outputs(due, self.points.count, source_topic, labels, on_labels)

    def _outputs(
        self,
        due: Mapping[str, Iterator[DueWindow]],
        settled: int,
        source_topic: str,
        labels: LabelCache,
        on_labels: OnLabels | None,
    ) -> Iterator[DbscanOutput]:
        evaluation = Evaluation(
            self.points,
            PointTexts(self.points, source_topic),
            np.unique([progress.query.radius for progress in self.queries.values()]),
            settled=settled,
            is_position=self.name.is_position,
            neighbours=self.neighbours,
            labels=labels,
            on_labels=on_labels,
        )
        for turn in groups_of(due):
            yield from evaluation.outputs(turn)

    @staticmethod
    def _view(progress: QueryProgress, views: Views, watermark_us: int) -> View:
        return views.timed(progress) if progress.query.is_timed else views.counted(progress, watermark_us)

    def _forget(self, views: Views) -> None:
        """Forget the points that no window and no comparison needs."""
        needed = np.zeros(self.points.count, dtype=np.bool_)
        for progress in self.queries.values():
            view = self._view(progress, views, self.watermark_us)
            needed[view.rows[view.before(progress.needed_from) :]] = True
        least_us = min(progress.late_before(self.watermark_us) for progress in self.queries.values())
        if self.dropped is not None and self.dropped.time_us < least_us:
            # From now on, records before the dropped point are late, so nothing needs the point.
            self.dropped = None
        if needed.all():
            return
        self.points = self.points.take(needed)
        self.selections, codes = self.selections.kept(self.points.code)
        self.points = self.points.with_code(codes)


def _values(position: Iterable[object], name: TrackName) -> list[float] | None:
    """Return the values of a point. Return None if the number of values is not that of the track, or if a value is not
    a finite number in range.
    """
    values: list[float] = []
    for part in position:
        # A whole number may exceed all doubles.
        if not isinstance(part, (int, float)) or isinstance(part, bool) or not abs(part) <= sys.float_info.max:
            return None
        if name.is_position and abs(part) > (90 if values else 180):
            return None
        values.append(float(part))
    return values if len(values) == name.attributes else None


def _until(points: Points, place: Place) -> Flags:
    """Return for each point whether it is at or before ``place``, a position in the order of points (time, partition,
    offset).
    """
    time_us, partition, offset = place
    is_earlier = (points.partition < partition) | ((points.partition == partition) & (points.offset <= offset))
    found: Flags = (points.time_us < time_us) | ((points.time_us == time_us) & is_earlier)
    return found


def _numbered(progress: QueryProgress, views: Views, before_us: int, watermark_us: int) -> int:
    """Assign numbers to the query's points from ``before_us`` to before ``watermark_us``, for a query whose windows
    count points. Return how many points of the query have a number.
    """
    _, times_us = views.rows(progress)
    low, high = (int(np.searchsorted(times_us, time_us)) for time_us in (before_us, watermark_us))
    progress.numbered += high - low
    return progress.numbered
