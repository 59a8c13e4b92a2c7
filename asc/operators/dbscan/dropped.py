"""Points of a query that were dropped because of capacity: the windows that contained these points, and are therefore
incomplete.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from asc.operators.dbscan.dbscan_query import SLIDES_MAX
from asc.operators.dbscan.points import Ints, Place
from asc.operators.dbscan.schedule import Schedule

WINDOWS_MAX = 2 * SLIDES_MAX
"""The most windows with dropped points that are remembered for a query. At most SLIDES_MAX windows contain the newest
dropped point. All points that a track still holds are newer. So each window with a dropped and a held point is among
the remembered windows.
"""


class Windows(NamedTuple):
    """Consecutive windows, from one number to another, both included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """The windows that contained a dropped point, and the newest dropped point.

    Invariant: ``ranges`` are disjoint, not adjacent, and ascending. They cover at most the newest WINDOWS_MAX windows.
    So the order in which objects are merged does not matter, and the result does not depend on how the points were
    split into batches.
    """

    ranges: tuple[Windows, ...]
    newest: Place

    @staticmethod
    def at(places: Ints, schedule: Schedule, done: int, newest: Place) -> Dropped:
        """Return the windows after the window ``done`` that contain one of ``places``, the positions of dropped points
        on the axis of the windows (:class:`asc.operators.dbscan.schedule.Schedule`). ``newest``: the newest dropped
        point.

        Cost: O(n log n) for n positions.

        >>> Dropped.at(np.array([9, 3, 40]), Schedule(10, 4), -1, Place(40, 0, 0)).ranges
        (Windows(first=0, last=2), Windows(first=8, last=10))
        """
        first, last = schedule.first_with(places), schedule.last_with(places)
        return Dropped(_newest_of(np.maximum(first, done + 1), last), newest)

    @staticmethod
    def between(first: int, last: int, schedule: Schedule, done: int, newest: Place) -> Dropped:
        """Return the windows after the window ``done`` that contain a position from ``first`` to ``last`` on the axis
        of the windows. ``newest``: the newest dropped point.
        """
        numbers = max(schedule.first_with(first), done + 1), schedule.last_with(last)
        return Dropped(_newest_of(*(np.array([number]) for number in numbers)), newest)

    def merged(self, other: Dropped) -> Dropped:
        """Return the windows of this object and of ``other``, and the newer of their newest dropped points."""
        both = np.array([*self.ranges, *other.ranges], dtype=np.int64).reshape(-1, 2)
        return Dropped(_newest_of(both[:, 0], both[:, 1]), max(self.newest, other.newest))

    def next_from(self, number: int) -> int | None:
        """Return the number of the first window with a dropped point among the windows from ``number`` on. Return None
        if there is none.

        >>> Dropped((Windows(0, 2), Windows(8, 10)), Place(40, 0, 0)).next_from(3)
        8
        """
        place = bisect_left(self.ranges, number, key=_last)
        return max(self.ranges[place].first, number) if place < len(self.ranges) else None

    def first_known(self, number: int) -> int:
        """Return the number of the first window, from ``number`` on, of which it is known whether it contained a
        dropped point.

        Only the newest WINDOWS_MAX windows with dropped points are remembered. No point that the track still holds is
        in an older window.
        """
        first = self.ranges[0].first if self.ranges else number
        if first <= number or sum(own.last - own.first + 1 for own in self.ranges) < WINDOWS_MAX:
            return number
        return first

    def after(self, done: int) -> Dropped | None:
        """Return only the windows with dropped points that follow the window ``done``. Return None if there is none."""
        left = self.ranges[bisect_right(self.ranges, done, key=_last) :]
        if not left or done < self.ranges[0].first:
            return self if left else None
        return Dropped((Windows(max(left[0].first, done + 1), left[0].last), *left[1:]), self.newest)

    def plain(self) -> list[Any]:
        """Return the windows and the newest dropped point as a JSON list."""
        return [self.ranges, self.newest]

    @staticmethod
    def of_plain(plain: Sequence[Any]) -> Dropped:
        """Return the windows and the newest dropped point that :meth:`plain` returned."""
        ranges, newest = plain
        return Dropped(tuple(Windows(*own) for own in ranges), Place(*newest))


def _last(windows: Windows) -> int:
    return windows.last


def _newest_of(first: Ints, last: Ints) -> tuple[Windows, ...]:
    """Return the newest WINDOWS_MAX windows of the ranges from ``first`` to ``last``, which may be in any order. Ignore
    ranges that end before they begin.
    """
    is_range = first <= last
    first, last = first[is_range], last[is_range]
    if not len(first):
        return ()
    order = np.argsort(first, kind="stable")
    first, last = first[order], np.maximum.accumulate(last[order])
    begins = np.concatenate(([True], first[1:] > last[:-1] + 1))
    ends = np.concatenate((begins[1:], [True]))
    first, last = first[begins], last[ends]
    newer = np.cumsum((last - first + 1)[::-1])[::-1]
    # Of each range, the windows that fit after all later ranges.
    first = np.maximum(first, last + 1 - (WINDOWS_MAX - newer + (last - first + 1)))
    kept = first <= last
    return tuple(map(Windows, first[kept].tolist(), last[kept].tolist()))
