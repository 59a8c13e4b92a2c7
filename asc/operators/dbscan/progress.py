"""Progress of DBSCAN queries: the final windows of a query, and the data with which its next window is compared.

Windows lie along an axis: event time in microseconds, or for windows that count points the number of points before a
point. A point has a position on the axis. A mark is the position up to which no more points arrive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from asc.operators.dbscan.dbscan_query import DbscanQuery
from asc.operators.dbscan.dropped import Dropped
from asc.operators.dbscan.identity import HeldIds
from asc.operators.dbscan.points import Ints, Place, Points
from asc.operators.dbscan.schedule import Schedule
from asc.operators.dbscan.selections import Selections
from asc.operators.times import time_text


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The points of a query. Queries with the same selections that were registered after the same point share a view.
    ``rows``: the indices of the points in the track, in order.

    ``places``: the position of each point on the axis of the windows, ascending. The position is the point's time, or
    the number of the query's points before it.
    """

    rows: Ints
    places: Ints

    def before(self, place: int) -> int:
        """Return the number of points of the view before a position on the axis of the windows."""
        return int(np.searchsorted(self.places, place))


@dataclass(frozen=True, slots=True, eq=False)
class DueWindow:
    """A final window of a query, whose records are due: the points of ``view`` with indices from ``low`` to before
    ``high``.

    ``lost``: whether points of the window were dropped, or the window has more points than allowed.
    """

    progress: QueryProgress
    number: int
    view: View
    low: int
    high: int
    lost: bool = False

    @property
    def points(self) -> int:
        """Return the number of points in the window."""
        return self.high - self.low

    @property
    def end(self) -> int:
        """Return the exclusive end of the window, as a position on the axis of the windows."""
        return self.progress.query.schedule.bounds(self.number)[1]

    def preceding(self) -> DueWindow:
        """Return the window of the same query with the preceding number."""
        begin, end = self.progress.query.schedule.bounds(self.number - 1)
        return DueWindow(self.progress, self.number - 1, self.view, self.view.before(begin), self.view.before(end))


@dataclass(slots=True)
class QueryProgress:
    """The progress of one DBSCAN query through its windows.

    ``since``: the number of points of the track that arrived before the query's registration; the query excludes them.
    ``done``: the number of the last window that is final and was processed. ``first_us``: the time of the query's first
    point. ``is_quiet``: true while empty windows are not output: before the first window with a point, and after an
    empty window. ``ids``: the ids of the clusters of the window ``done``; None if the next window is compared with
    nothing. ``newest``: the newest point of the query's windows. ``numbered``: if the windows count points, the number
    of points that have a number.

    ``dropped``: the windows after ``done`` that contained points dropped because of capacity; None if there is none.
    ``last_output``: the number of the last window that was output, and the numbers of its clusters and noise points;
    these are None if the window was skipped.
    """

    query: DbscanQuery
    since: int
    done: int
    first_us: int | None = None
    is_quiet: bool = True
    ids: HeldIds | None = None
    newest: Place | None = None
    numbered: int = 0
    dropped: Dropped | None = None
    last_output: tuple[int, int | None, int | None] | None = None

    @staticmethod
    def of(query: DbscanQuery, arrived: int, watermark_us: int) -> QueryProgress:
        """Return the initial progress of a query that is registered when ``arrived`` points of its track have
        arrived.
        """
        return QueryProgress(query, arrived, query.schedule.last_final(watermark_us) if query.is_timed else -1)

    @property
    def needed_from(self) -> int:
        """Return the position on the axis from which on a later window, or the comparison with the window ``done``,
        needs points.
        """
        return self.query.schedule.bounds(self.done + (self.ids is None))[0]

    def late_before(self, watermark_us: int) -> int:
        """Return the event time before which a point is late for the query at a watermark."""
        return self.query.schedule.late_before(watermark_us) if self.query.is_timed else watermark_us

    def due(self, view: View, mark: int, points_max: int) -> Iterator[DueWindow]:
        """Yield in order the windows that end at or before ``mark`` (a position on the axis) and are to be output. A
        window becomes ``done`` when the caller requests the next window.

        Cost: a search for each window, however many empty windows are between two of them.
        """
        schedule = self.query.schedule
        last = schedule.last_final(mark)
        while self.done < last:
            number = self.done + 1
            if self.dropped is not None:
                number = self.dropped.first_known(number)
            if self.is_quiet:
                next_number = self._next_with_point(view, number)
                number = last + 1 if next_number is None else next_number
            if number > last:
                self.done = last
                return
            begin, end = schedule.bounds(number)
            low, high = view.before(begin), view.before(end)
            has_dropped = self.dropped is not None and self.dropped.next_from(number) == number
            yield DueWindow(self, number, view, low, high, has_dropped or high - low > points_max)
            self.done, self.is_quiet = number, high == low and not has_dropped
            if self.dropped is not None:
                self.dropped = self.dropped.after(number)

    def _next_with_point(self, view: View, number: int) -> int | None:
        """Return the number of the first window that has a point, even a dropped one, among the windows from ``number``
        on. Return None if there is none.
        """
        schedule = self.query.schedule
        row = view.before(schedule.bounds(number)[0])
        numbers = [max(number, schedule.first_with(int(view.places[row])))] if row < len(view.places) else []
        dropped = None if self.dropped is None else self.dropped.next_from(number)
        return min(numbers if dropped is None else [*numbers, dropped], default=None)

    def drop(self, places: Ints, newest: Place) -> None:
        """Record that points were dropped, for a query whose windows are by time. ``places``: the times of the dropped
        points, at least one, in any order. ``newest``: the last of these points.
        """
        self._drop(Dropped.at(places, self.query.schedule, self.done, newest), int(places.max()))

    def drop_numbered(self, count: int, newest: Place) -> None:
        """Record that the points with a number below ``count`` were dropped, for a query whose windows count points.
        ``newest``: the last of these points.
        """
        self._drop(Dropped.between(0, count - 1, self.query.schedule, self.done, newest), count - 1)

    def _drop(self, dropped: Dropped, last: int) -> None:
        self.dropped = dropped if self.dropped is None else self.dropped.merged(dropped)
        if self.ids is not None and last >= self.needed_from:
            # The window to compare with cannot be computed again.
            self.ids = None

    def drop_unheld(self, places: Iterable[Place]) -> None:
        """Record points that were dropped on arrival, for a query whose windows count points. ``places``: the points in
        the order of arrival. The caller ensures that none is before the watermark, and that all are before the points
        that the track holds.

        A point gets the next number if all dropped points of the query are before it. Any other point may be a repeat
        of a dropped point, and gets no number. This is no loss: the windows that would contain the point contain a
        dropped point with a number.
        """
        # ``dropped`` no longer has points whose windows are all written. None of these is after ``newest``.
        known = [self.newest, None if self.dropped is None else self.dropped.newest]
        newest = max((place for place in known if place is not None), default=None)
        before = self.numbered
        for place in places:
            if newest is None or place > newest:
                newest = place
                self.numbered += 1
        if newest is not None and self.numbered > before:
            self.drop_numbered(self.numbered, newest)

    def plain(self) -> list[Any]:
        """Return the progress as a JSON list, without the ids."""
        own = (self.query.id, self.since, self.done, self.first_us, self.is_quiet, self.newest, self.numbered)
        dropped = None if self.dropped is None else self.dropped.plain()
        return [*own, dropped, self.last_output, None if self.ids is None else len(self.ids)]

    @staticmethod
    def of_plain(query: DbscanQuery, plain: Sequence[Any], ids: HeldIds | None, form: int) -> QueryProgress:
        """Return the progress from the JSON list that :meth:`plain` returned, and from the ids. ``form``: the form
        (version number) of the state from which the list was read.
        """
        _, since, done, first_us, is_quiet, newest, numbered, dropped, last_window, _ = plain
        if dropped is not None:
            dropped = Dropped.of_plain(dropped) if form > 1 else _dropped_of_form_1(dropped, query.schedule, done)
        return QueryProgress(
            query,
            since,
            done,
            first_us,
            is_quiet,
            ids,
            None if newest is None else Place(*newest),
            numbered,
            dropped,
            None if last_window is None else (last_window[0], last_window[1], last_window[2]),
        )

    @property
    def latest(self) -> dict[str, Any]:
        """Return the figures of the last window that was output: the numbers of clusters and noise points, and the end
        as output records show it. Return an empty dict if no window was output.
        """
        if self.last_output is None:
            return {}
        number, clusters, noise = self.last_output
        end = self.query.schedule.bounds(number)[1]
        figures = {"clusters": clusters, "noise": noise, "end": time_text(end) if self.query.is_timed else end}
        return figures if clusters is not None else {**figures, "skipped": "capacity"}


def _dropped_of_form_1(plain: Sequence[Any], schedule: Schedule, done: int) -> Dropped:
    """Return the windows that a state of form 1 says have lost points. Form 1 has only the positions of the first and
    the last dropped point, so all windows between the two are included.
    """
    first, last, newest = plain
    return Dropped.between(first, last, schedule, done, Place(*newest))


class Views:
    """The views of a track's points (the points of each query), each computed once."""

    def __init__(self, points: Points, selections: Selections) -> None:
        self.points = points
        self._selections = selections
        self._accepted: dict[tuple[str, ...], Ints] = {}
        self._rows: dict[tuple[tuple[str, ...], int, bool], tuple[Ints, Ints]] = {}
        self._timed: dict[tuple[tuple[str, ...], int], View] = {}
        self._counted: dict[tuple[tuple[str, ...], int, int], View] = {}

    def rows(self, progress: QueryProgress) -> tuple[Ints, Ints]:
        """Return the indices of a query's points in the track, in order, and the times of these points.

        These are the points that the query accepts and that arrived after its registration. A query whose windows count
        points also excludes points that are late for it.
        """
        query = progress.query
        name = query.selections, progress.since, query.is_timed
        if name not in self._rows:
            rows, points = self._accepted_rows(query.selections), self.points
            if progress.since:
                rows = rows[points.arrival[rows] >= progress.since]
            if not query.is_timed:
                rows = rows[points.seen_us[rows] <= points.time_us[rows]]
            self._rows[name] = rows, points.time_us[rows]
        return self._rows[name]

    def timed(self, progress: QueryProgress) -> View:
        """Return the view of a query whose windows are by time."""
        name = progress.query.selections, progress.since
        if name not in self._timed:
            self._timed[name] = View(*self.rows(progress))
        return self._timed[name]

    def counted(self, progress: QueryProgress, before_us: int) -> View:
        """Return the view of a query whose windows count points. The caller ensures that all points of the query before
        ``before_us`` have a number.
        """
        rows, times_us = self.rows(progress)
        settled = int(np.searchsorted(times_us, before_us))
        first = progress.numbered - settled
        name = progress.query.selections, progress.since, first
        if name not in self._counted:
            self._counted[name] = View(rows, first + np.arange(len(rows)))
        return self._counted[name]

    def _accepted_rows(self, selections: tuple[str, ...]) -> Ints:
        if selections not in self._accepted:
            accepted = self._selections.accepted(selections)
            self._accepted[selections] = np.flatnonzero(accepted[self.points.code])
        return self._accepted[selections]
