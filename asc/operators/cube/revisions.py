"""Revisions: the rows of windows that late records have changed after they were written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from asc.frozen import frozen
from asc.operators.cube.cells import Cells, joined
from asc.operators.cube.comparing import changed, matched, rolled_up, touched, within
from asc.operators.cube.layout import Layout
from asc.operators.cube.window_rows import WindowRow, WindowWriting
from asc.operators.cube.windows import Reading, Windows

REVISED_ROWS_MAX = 100_000
"""The rows for late records that one commit writes."""

Unit = tuple[int, int]
"""A window and the place of an output cuboid."""


@dataclass(frozen=True, slots=True, eq=False)
class FormerPane:
    """A pane that late records have changed, with the cells of which windows were written.

    ``first``, ``end``: these windows, from the one to before the other. Of a pane they are different ones.
    """

    pane: int
    first: int
    end: int
    cells: Cells


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the first window that is to be revised: an output cuboid, and the rows of it that are written."""

    place: int = 0
    skipped: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Revised:
    """Rows of revisions. ``next``: the first window that is not done; None where all are. ``position``: in that one.

    ``raised``: the revisions that are used up, by window and cuboid.
    """

    rows: tuple[WindowRow, ...]
    next: int | None
    position: Position
    raised: Mapping[Unit, int]


@dataclass(frozen=True, slots=True, eq=False)
class _Touched:
    """The cells of the groups of one cuboid that late records have touched: those of all panes, and former ones."""

    now: Cells
    former: tuple[FormerPane, ...]

    def before(self, layout: Layout, number: int, panes: tuple[int, int]) -> Cells:
        """Return the groups of a window as they were written."""
        former = [own for own in self.former if own.first <= number < own.end]
        kept = self.now.between(*panes)
        if former and kept.count:
            kept = kept.take(np.flatnonzero(~np.isin(kept.panes, [own.pane for own in former])))
        found = joined(layout, [kept, *(own.cells for own in former)])
        # Sums of doubles are those of the panes in their order.
        ordered = found.take(np.argsort(found.panes, kind="stable"))
        return rolled_up(layout, [ordered], range(len(self.now.keys)))

    def after(self, layout: Layout, panes: tuple[int, int]) -> Cells:
        """Return the groups of a window as they are now."""
        return rolled_up(layout, [self.now.between(*panes)], range(len(self.now.keys)))


class Revisions:
    """The revisions that are due after one commit, in the order of windows.

    A row of an older window would stay the last one of its key. So each group that has one gets its row of the newest
    window again, or a tombstone, with a further revision. Invariant: the rows are a function of the cells, the former
    panes and the position, so that they are the same whenever they are made again.
    """

    def __init__(
        self,
        windows: Windows,
        writing: WindowWriting,
        read: Reading,
        *,
        former: Sequence[FormerPane],
        written: int,
        position: Position,
        revision: Callable[[int, int], int],
    ) -> None:
        """``written``: the newest window. ``revision``: the last one of a window and a cuboid."""
        self._windows = windows
        self._writing = writing
        self._layout = writing.layout
        self._sliding = writing.output.sliding
        self._read = read
        self._former = former
        self._written = written
        self._position = position
        self._revision = revision
        self._places = range(len(writing.output.cuboids))

    def rows(self, most: int = REVISED_ROWS_MAX) -> Revised:
        """Return the next rows, ``most`` of them at most."""
        found: list[WindowRow] = []
        raised: dict[Unit, int] = {}
        older: dict[int, list[Cells]] = {place: [] for place in self._places}
        newest: dict[int, list[Cells]] = {place: [] for place in self._places}
        room, position, stopped = most, self._position, None
        for number, place, cells in self._changed():
            is_older = number < self._written
            skipped = position.skipped if position.place == place else 0
            if place < position.place:
                continue
            position = Position()
            taken = min(cells.count - skipped, room // 2 if is_older else room)
            shown = cells.slice(skipped, skipped + taken)
            room -= 2 * taken if is_older else taken
            (older if is_older else newest)[place].append(shown)
            revision = self._revision(number, place) + 1
            is_whole = self._windows.is_whole(number)
            found += self._writing.rows(shown, number, place, revision=revision, is_whole=is_whole, is_late=True)
            if skipped + taken < cells.count:
                stopped, position = number, Position(place, skipped + taken)
                break
            if cells.count:
                raised[number, place] = revision
        for place in self._places:
            again = list(self._again(place, older[place], newest[place]))
            if again:
                raised[self._written, place] = self._revision(self._written, place) + 1
                found += again
        return Revised(tuple(found), stopped, position, MappingProxyType(raised))

    def _again(self, place: int, older: Sequence[Cells], newest: Sequence[Cells]) -> Iterator[WindowRow]:
        """Yield what the newest window has of the groups with rows of older ones, but for those that it just got."""
        layout, number = self._layout, self._written
        if not any(part.count for part in older):
            return
        columns = range(len(older[0].keys))
        groups = rolled_up(layout, older, columns)
        own = rolled_up(layout, newest or [groups.slice(0, 0)], columns)
        groups = groups.take(matched(layout, groups, own).gone)
        now = self._windows.cells(number, place)
        found = matched(layout, groups, now)
        revision, is_whole = self._revision(number, place) + 1, self._windows.is_whole(number)
        shown = now.take(np.sort(found.after))
        yield from self._writing.rows(shown, number, place, revision=revision, is_whole=is_whole, is_late=True)
        yield from self._writing.tombstones(groups.take(found.gone), number, place, revision=revision)

    def _changed(self) -> Iterator[tuple[int, int, Cells]]:
        """Yield each window that is to be revised with each cuboid, and the groups that are changed."""
        pending = sorted({number for own in self._former for number in range(own.first, own.end)})
        reach = max(1, self._sliding.window // self._sliding.slide)
        while pending:
            numbers = [number for number in pending if number < pending[0] + reach]
            pending = pending[len(numbers) :]
            prepared = [self._touched(place, numbers) for place in self._places]
            for number in numbers:
                panes = self._sliding.panes(number)
                for place, own in enumerate(prepared):
                    now = own.after(self._layout, panes)
                    before = own.before(self._layout, number, panes)
                    yield number, place, now.take(changed(self._layout, before, now))

    def _touched(self, place: int, numbers: Sequence[int]) -> _Touched:
        """Return the cells of the groups of a cuboid that late records touched in some windows."""
        layout, columns = self._layout, self._writing.columns(place)
        own = [each for each in self._former if each.first <= numbers[-1] and numbers[0] < each.end]
        former = [replace(each, cells=rolled_up(layout, [each.cells], columns)) for each in own]
        parts = []
        for each in former:
            now = rolled_up(layout, self._read(each.pane, each.pane + 1), columns)
            parts.append(now.take(touched(layout, each.cells, now)))
        every = range(len(columns))
        groups = rolled_up(layout, parts, every)
        first, end = self._sliding.panes(numbers[0])[0], self._sliding.panes(numbers[-1])[1]
        read = [within(layout, part.rolled_up(columns), groups) for part in self._read(first, end)]
        return _Touched(
            rolled_up(layout, [*read, groups.slice(0, 0)], every, by_pane=True),
            tuple(replace(each, cells=_of_pane(within(layout, each.cells, groups), each.pane)) for each in former),
        )


def _of_pane(cells: Cells, pane: int) -> Cells:
    return replace(cells, panes=frozen(np.full(cells.count, pane, dtype=np.int64)))
