"""Sliding windows over panes: which panes a window holds, and which windows are due."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sliding:
    """Windows of so many panes, one at each multiple of the slide; tumbling where both are equal.

    The window with the number n has the panes from ``n * slide - window`` to before ``n * slide``.

    >>> Sliding(window=24, slide=1).panes(30), Sliding(window=4, slide=2).holding(5)
    ((6, 30), range(3, 5))
    """

    window: int
    slide: int

    def panes(self, number: int) -> tuple[int, int]:
        """Return the first pane of a window, and the one after its last."""
        end = number * self.slide
        return end - self.window, end

    def last_final(self, open_from: int) -> int:
        """Return the number of the last window that has no open pane. ``open_from``: the first open pane."""
        return open_from // self.slide

    def holding(self, pane: int) -> range:
        """Return the numbers of the windows that hold a pane."""
        return range(pane // self.slide + 1, (pane + self.window) // self.slide + 1)

    def due(self, panes: Sequence[int], after: int | None, to: int) -> Iterator[int]:
        """Yield the numbers of windows to be written, ascending: those with a pane, and the first ones after these.

        ``panes``: those with a cell, ascending. ``after``: the last window that was written, None for none; ``to``: the
        last one that is final. Cost: a search for each window that is due, however many are empty between them.
        """
        if not panes:
            return
        number = self.holding(panes[0]).start if after is None else after + 1
        while number <= to:
            first, end = self.panes(number)
            place = bisect_left(panes, first)
            has_pane = place < len(panes) and panes[place] < end
            if has_pane or self._has_pane(panes, number - 1):
                yield number
                number += 1
            elif place == len(panes):
                return
            else:
                number = self.holding(panes[place]).start

    def _has_pane(self, panes: Sequence[int], number: int) -> bool:
        first, end = self.panes(number)
        place = bisect_left(panes, first)
        return place < len(panes) and panes[place] < end
