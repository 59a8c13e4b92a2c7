"""Sliding windows over panes: the panes of each window, and the windows that are due."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

Following = Callable[[int | None], int | None]
"""A function that returns the first pane with cells from a given pane on. For None, the function returns the first of
all panes with cells. It returns None if there is no such pane.
"""


@dataclass(frozen=True, slots=True)
class Sliding:
    """Sliding windows of ``window`` panes. A window ends at each multiple of ``slide`` panes. If both numbers are
    equal, the windows are tumbling.

    The window with the number n contains the panes from ``n * slide - window`` to before ``n * slide``.

    >>> Sliding(window=24, slide=1).panes(30), Sliding(window=4, slide=2).holding(5)
    ((6, 30), range(3, 5))
    """

    window: int
    slide: int

    def panes(self, number: int) -> tuple[int, int]:
        """Return the first pane of a window, and the pane after its last."""
        end = number * self.slide
        return end - self.window, end

    def last_final(self, open_from: int) -> int:
        """Return the number of the last window that has no open pane. ``open_from``: the first open pane."""
        return open_from // self.slide

    def holding(self, pane: int) -> range:
        """Return the numbers of the windows that contain a pane."""
        return range(pane // self.slide + 1, (pane + self.window) // self.slide + 1)

    def due(self, following: Following, after: int | None, to: int) -> Iterator[int]:
        """Yield the numbers of the windows to write, ascending: each window that contains a cell, and the first window
        after it, which may need tombstones.

        ``following``: finds panes that have a cell. ``after``: the last written window; None if none is written.
        ``to``: the last final window. Cost: a search for each window that is due; empty windows between them cost
        nothing.
        """
        least = following(None)
        if least is None:
            return
        number = self.holding(least).start if after is None else after + 1
        is_before = self._has_pane(following, number - 1)
        while number <= to:
            first, end = self.panes(number)
            pane = following(first)
            has_pane = pane is not None and pane < end
            if has_pane or is_before:
                yield number
                is_before = has_pane
                number += 1
            elif pane is None:
                return
            else:
                number = self.holding(pane).start

    def _has_pane(self, following: Following, number: int) -> bool:
        first, end = self.panes(number)
        pane = following(first)
        return pane is not None and pane < end
