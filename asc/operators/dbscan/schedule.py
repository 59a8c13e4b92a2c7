"""Schedules of sliding windows: the windows that contain a point's position, and the windows that are final."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from asc.operators.dbscan.points import Ints

Position = TypeVar("Position", int, Ints)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Sliding windows along one axis. A window is ``window`` long and begins at a multiple of ``slide``.

    The axis is event time in microseconds, or the number of points before a point. The window n covers the positions
    from ``n * slide`` to before ``n * slide + window``.

    >>> Schedule(10, 4).bounds(1), Schedule(10, 4).last_final(14), Schedule(10, 4).first_with(9)
    ((4, 14), 1, 0)
    """

    window: int
    slide: int

    def bounds(self, number: int) -> tuple[int, int]:
        """Return the first position of the window ``number`` on the axis, and the position after its last."""
        return number * self.slide, number * self.slide + self.window

    def last_final(self, mark: int) -> int:
        """Return the number of the last window whose end is at or before ``mark``, the position on the axis up to which
        no more points arrive.
        """
        return (mark - self.window) // self.slide

    def first_with(self, place: Position) -> Position:
        """Return the number of the first window that contains the position ``place``. For an array of positions, return
        an array of numbers.
        """
        return (place - self.window) // self.slide + 1

    def last_with(self, place: Position) -> Position:
        """Return the number of the last window that contains the position ``place``. For an array of positions, return
        an array of numbers.
        """
        return place // self.slide

    def late_before(self, mark: int) -> int:
        """Return the position on the axis before which a point is late once points have come up to ``mark``. All
        windows that would contain a late point are final.
        """
        return (self.last_final(mark) + 1) * self.slide


def ends(schedules: Iterable[Schedule], after: int, to: int) -> list[int]:
    """Return the ends of the windows of all schedules that are final at the mark ``to`` and were not final at the mark
    ``after``, ascending.

    >>> ends([Schedule(10, 4), Schedule(9, 5), Schedule(6, 2)], 5, 20)
    [6, 8, 9, 10, 12, 14, 16, 18, 19, 20]
    """
    return sorted(
        {
            own.bounds(number)[1]
            for own in schedules
            for number in range(max(0, own.last_final(after) + 1), own.last_final(to) + 1)
        }
    )
