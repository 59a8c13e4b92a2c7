"""Windows that are due: their rows, and tombstones of the groups that are no longer in a window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from asc.operators.cube.cells import Cells
from asc.operators.cube.comparing import changed, matched, rolled_up
from asc.operators.cube.window_rows import WindowRow, WindowWriting

Reading = Callable[[int, int], Sequence[Cells]]
"""A function that returns the cells of the base cuboid in an interval of panes. Its arguments are the first pane and
the pane after the last one. The cells are in parts, ascending by pane.
"""

IsWhole = Callable[[int, int], bool]
"""A function that returns whether no record is missing in an interval of panes. Its arguments are the first pane and
the pane after the last one.
"""


class Windows:
    """The windows of a cube after one commit. The content of a window depends only on the cells of its panes."""

    def __init__(self, writing: WindowWriting, read: Reading, is_whole: IsWhole) -> None:
        self._writing = writing
        self._read = read
        self._is_whole = is_whole
        self._sliding = writing.output.sliding
        named = {column for place in range(len(writing.output.cuboids)) for column in writing.columns(place)}
        self._columns = tuple(sorted(named))
        self._kept: dict[int, Cells] = {}

    def is_whole(self, number: int) -> bool:
        """Return whether no record of a window is missing."""
        return self._is_whole(*self._sliding.panes(number))

    def cells(self, number: int, place: int) -> Cells:
        """Return the groups of a window in the output cuboid with the index ``place``."""
        own = self._base(number)
        return rolled_up(
            self._writing.layout, [own], [self._columns.index(column) for column in self._writing.columns(place)]
        )

    def rows(self, number: int, oldest: int | None) -> Iterator[WindowRow]:
        """Yield the rows of a window that is written for the first time.

        The rows are all groups of the window or, with ``emit: changes``, only the groups that differ from the preceding
        window. Each group of the preceding window that is not in the window gets a tombstone. ``oldest``: the first
        window that the cube has written; None if windows before it may exist.
        """
        writing, layout = self._writing, self._writing.layout
        is_whole = self.is_whole(number)
        for place in range(len(writing.output.cuboids)):
            now = self.cells(number, place)
            former = self.cells(number - 1, place) if oldest is None or number > oldest else now.slice(0, 0)
            shown = now.take(changed(layout, former, now)) if writing.output.emit == "changes" else now
            yield from writing.rows(shown, number, place, revision=0, is_whole=is_whole)
            gone = former.take(matched(layout, former, now).gone)
            yield from writing.tombstones(gone, number, place, revision=0)

    def _base(self, number: int) -> Cells:
        """Return the groups of a window by all dimensions that occur in any output cuboid. The last two windows are
        cached.
        """
        groups = self._kept.pop(number, None)
        if groups is None:
            first, end = self._sliding.panes(number)
            groups = rolled_up(self._writing.layout, self._read(first, end), self._columns)
        self._kept[number] = groups
        while len(self._kept) > 2:
            del self._kept[next(iter(self._kept))]
        return groups
