"""Late windows: windows of a cube that late records changed after the windows were written, and the former cells of
these windows.
"""

from __future__ import annotations

from heapq import heapify, heappop, heapreplace

from asc.operators.cube.layout import Layout
from asc.operators.cube.window_versions import LateChange
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.window_state import WindowState


class LateWindows:
    """The windows of a cube that late records have changed. Callers request them in ascending order.

    Cost: for each requested window a search in one change, and a search in each further change whose next window
    precedes the requested one. Former cells are read for the requested windows, and cached until other windows are
    requested.
    """

    def __init__(self, keeper: Keeper, state: WindowState, layout: Layout) -> None:
        self._keeper = keeper
        self._own = state
        self._layout = layout
        self._sliding = state.output.sliding
        # For each change, its first window that the caller has not yet requested.
        self._least = [(change.first, place) for place, change in enumerate(state.changes)]
        heapify(self._least)
        self._kept: tuple[tuple[int, int], list[LateChange]] | None = None

    def following(self, window: int | None) -> int | None:
        """Return the first changed window from ``window`` on. If ``window`` is None, return the first of all changed
        windows. Return None if there is no such window.
        """
        while self._least:
            least, place = self._least[0]
            next_window = self._own.changes[place].following(
                self._sliding, least if window is None else max(least, window)
            )
            if next_window is None:
                heappop(self._least)
                continue
            heapreplace(self._least, (next_window, place))
            if next_window in (window, self._least[0][0]):
                return next_window
        return None

    def newest(self, window: int) -> int:
        """Return the row number of the last batch change that affects a window. ``window``: the number of the
        window.
        """
        return self._own.newest(window)

    def changes(self, first: int, last: int) -> list[LateChange]:
        """Return the changes of the windows from ``first`` to ``last``, in the order of batches."""
        if self._kept is None or self._kept[0] != (first, last):
            panes = self._sliding.panes(first)[0], self._sliding.panes(last)[1]
            self._kept = (
                (first, last),
                [
                    LateChange(
                        *(own.number, own.first, own.end),
                        self._keeper.former_cells(self._layout, own).between(*panes),
                    )
                    for own in self._own.changes_of(first, last)
                ],
            )
        return self._kept[1]
