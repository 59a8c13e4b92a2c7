"""Evaluation of the windows that are due (final, and to be output): the output records of these windows, computed
together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from asc.operators.dbscan.caches import LabelCache, NeighbourCache
from asc.operators.dbscan.chains import Labels
from asc.operators.dbscan.identity import Before, Evolution, evolved, held_ids
from asc.operators.dbscan.labels import Setting, labelled
from asc.operators.dbscan.neighbours import Neighbours
from asc.operators.dbscan.points import Codes, Floats, Ints, Points
from asc.operators.dbscan.progress import DueWindow
from asc.operators.dbscan.records import DbscanOutput, PointTexts, Summary, WindowName, WindowRecords
from asc.operators.dbscan.sphere import unit_vectors

OnLabels = Callable[[DueWindow, Points, Ints, Labels], None]
"""A function that is called with the clusters of each window. Its arguments are the window, the points of the track,
the indices of the window's points in the track, and the clusters.
"""

_LABELS_AT_ONCE = 1 << 24
"""The most labels that are held at a time. The clusters of a window have one label for each of its points."""


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """The clusters of a window. ``labels``: the cluster of each point. ``rows``: the indices of the window's points in
    the track.
    """

    labels: Labels
    rows: Ints


class Evaluation:
    """The windows of one track that are due at the same moment.

    ``space``: the points' coordinates in the space in which radii are measured. ``radii``: the radii of all queries of
    the track. ``settled``: a number of points of the track such that the windows have only points among the first
    ``settled``. The neighbours of these points are searched once for all windows.
    """

    def __init__(
        self,
        points: Points,
        texts: PointTexts,
        radii: Floats,
        *,
        settled: int,
        is_position: bool,
        neighbours: NeighbourCache,
        labels: LabelCache,
        on_labels: OnLabels | None,
    ) -> None:
        self._points = points
        self._texts = texts
        self._radii = radii
        self._settled = settled
        self._is_position = is_position
        self._neighbours = neighbours
        self._labels = labels
        self._on_labels = on_labels
        self._space = unit_vectors(points.values) if is_position else points.values
        self._searched: tuple[Neighbours, Ints] | None = None

    def outputs(self, due: Sequence[DueWindow]) -> Iterator[DbscanOutput]:
        """Yield the output records of the windows ``due``, in order. The caller ensures that each query has at most one
        of these windows.
        """
        widest = max((own.points for own in due), default=0)
        at_once = max(1, _LABELS_AT_ONCE // max(widest, 1))
        for low in range(0, len(due), at_once):
            yield from self._outputs(due[low : low + at_once])

    def _outputs(self, due: Sequence[DueWindow]) -> Iterator[DbscanOutput]:
        whole = [own for own in due if not own.lost]
        before = self._before(whole)
        now = self._windows(whole)
        for own in due:
            if own.lost:
                yield self._skipped(own)
            else:
                query = own.progress.query.id
                yield from self._records(own, now[query], before.get(query))

    def _before(self, due: Sequence[DueWindow]) -> dict[str, Window]:
        """Return by query the window that precedes the query's due window, for queries that compare the two. The labels
        are from the cache, or are computed again.
        """
        window_by_query: dict[str, Window] = {}
        missing = []
        for own in due:
            if own.progress.ids is None:
                continue
            preceding, query = own.preceding(), own.progress.query.id
            known = self._labels.get(query, preceding.number)
            if known is None:
                missing.append(preceding)
            else:
                window_by_query[query] = Window(known, self._rows(preceding))
        return {**window_by_query, **self._windows(missing)}

    def _rows(self, window: DueWindow) -> Ints:
        """Return the indices of a window's points in the track. If the end of the window is a time, omit points that
        arrived when the watermark had already reached the end.
        """
        rows = window.view.rows[window.low : window.high]
        if not window.progress.query.is_timed:
            return rows
        in_time = self._points.seen_us[rows] < window.end
        return rows if in_time.all() else rows[in_time]

    def _windows(self, due: Sequence[DueWindow]) -> dict[str, Window]:
        """Return by query the clusters of its due window. Windows over the same points and with the same end are
        computed together.
        """
        groups: dict[tuple[int, int, int], list[DueWindow]] = {}
        for own in due:
            end = own.end if own.progress.query.is_timed else 0
            groups.setdefault((id(own.view), own.high, end), []).append(own)
        found: dict[str, Window] = {}
        for group in groups.values():
            found.update(self._together(group))
        return found

    def _together(self, group: Sequence[DueWindow]) -> Iterator[tuple[str, Window]]:
        all_rows = {own.low: self._rows(own) for own in group}
        rows = all_rows[min(all_rows)]
        settings = [
            Setting(
                own.progress.query.radius,
                own.progress.query.min_samples,
                len(rows) - len(all_rows[own.low]),
            )
            for own in group
        ]
        neighbours, stored = self._settled_neighbours()
        for place, labels in labelled(self._space[rows], settings, neighbours, stored[rows]):
            own = group[place]
            yield own.progress.query.id, Window(labels, all_rows[own.low])

    def _settled_neighbours(self) -> tuple[Neighbours, Ints]:
        """Return the neighbours of the settled points, and the indices that these points have in the neighbours. All
        windows share these lists of neighbours, because each window needs a prefix of each list.
        """
        if self._searched is None:
            self._searched = self._neighbours.of(self._points, self._space, self._settled, self._radii)
        return self._searched

    def _records(self, due: DueWindow, now: Window, before: Window | None) -> Iterator[DbscanOutput]:
        progress, rows = due.progress, now.rows
        query = progress.query
        if len(rows):
            progress.newest = self._points.place(int(rows[-1]))
        name = WindowName.of(query, due.number)
        summary = Summary.of(now.labels, _taken(self._points.values, rows), is_position=self._is_position)
        evolution, old_labels = self._evolved(due, now, before, summary, name.end)
        records = WindowRecords(query, name, self._texts, progress.newest)
        if self._on_labels is not None:
            self._on_labels(due, self._points, rows, now.labels)
        is_partial = _is_partial(due)
        yield from records.outputs(now.labels, rows, evolution, summary, old_labels=old_labels, is_partial=is_partial)
        progress.last_output = due.number, now.labels.clusters, len(rows) - int(summary.sizes.sum())
        progress.ids = held_ids(evolution.ids)
        if progress.ids is None:
            self._labels.drop(query.id)
        else:
            self._labels.put(query.id, due.number, now.labels)

    def _evolved(
        self, due: DueWindow, now: Window, before: Window | None, summary: Summary, end: int
    ) -> tuple[Evolution, Codes | None]:
        """Return the evolution of clusters from the preceding window to the window ``due``. Also return the label that
        each point had in the preceding window, or None if the query does not need these labels.
        """
        ids = due.progress.ids
        if before is None or ids is None:
            return evolved(now.labels, end, summary.sizes), None
        first = int(np.searchsorted(before.rows, now.rows[0])) if len(now.rows) else len(before.rows)
        common = before.rows[first:]
        places: Ints | slice = slice(0, len(common))
        if not np.array_equal(now.rows[: len(common)], common):
            places = np.searchsorted(now.rows, common)
        old = before.labels
        sizes = np.bincount(old.labels + 1, minlength=old.clusters + 1)[1:]
        known = Before(ids.tolist(), sizes, old.labels[first:], old.is_core[first:])
        old_labels = None
        if due.progress.query.members == "changes":
            old_labels = np.full(len(now.rows), -1, dtype=np.int32)
            old_labels[places] = known.labels
        return evolved(now.labels, end, summary.sizes, known, places), old_labels

    def _skipped(self, due: DueWindow) -> DbscanOutput:
        progress = due.progress
        rows = self._rows(due)
        newest = [self._points.place(int(rows[-1]))] if len(rows) else []
        if progress.dropped is not None:
            # A point that was dropped is older than those that are held.
            newest = newest or [progress.dropped.newest]
        progress.newest = max(newest, default=progress.newest)
        progress.ids = None
        progress.last_output = due.number, None, None
        self._labels.drop(progress.query.id)
        records = WindowRecords(progress.query, WindowName.of(progress.query, due.number), self._texts, progress.newest)
        return records.skipped(is_partial=_is_partial(due))


def _taken(values: Floats, rows: Ints) -> Floats:
    """Return the values of the points with the ascending indices ``rows``. If the indices are contiguous, the values
    are not copied.
    """
    if len(rows) and int(rows[-1]) - int(rows[0]) + 1 == len(rows):
        return values[int(rows[0]) : int(rows[-1]) + 1]
    return values[rows]


def _is_partial(window: DueWindow) -> bool:
    """Return whether a window by time begins before the query's points are complete: before the time of the first point
    plus the allowed lateness.
    """
    progress = window.progress
    if not progress.query.is_timed or progress.first_us is None:
        return False
    begin = progress.query.schedule.bounds(window.number)[0]
    return begin < progress.first_us + (progress.query.lateness_us or 0)


def groups_of(due: Mapping[str, Iterator[DueWindow]]) -> Iterator[list[DueWindow]]:
    """Yield the due windows of all queries in groups that are computed together. A group has at most one window of each
    query. The windows of a group end with the same point of the track. Groups are in the order of these points.

    The windows of each query come in their order.
    """
    heads: list[tuple[int, int, str, DueWindow]] = []

    def push(order: int, query: str) -> None:
        window = next(due[query], None)
        if window is not None:
            heappush(heads, (_last_row(window), order, query, window))

    for order, query in enumerate(due):
        push(order, query)
    while heads:
        end = heads[0][0]
        turn = []
        while heads and heads[0][0] == end:
            turn.append(heappop(heads))
        yield [window for _, _, _, window in turn]
        for _, order, query, _ in turn:
            push(order, query)


def _last_row(window: DueWindow) -> int:
    """Return the index in the track that follows the index of the last point of a window; 0 if there is no point up to
    the window's end.
    """
    return int(window.view.rows[window.high - 1]) + 1 if window.high else 0
