"""Revisions: rows of windows that are written again, because late records changed the windows after they
were written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Protocol

from asc.operators.cube.cells import Cells
from asc.operators.cube.comparing import changed, matched, rolled_up
from asc.operators.cube.window_rows import WindowRow, WindowWriting
from asc.operators.cube.window_versions import NOW, LateChange, WindowVersions
from asc.operators.cube.windows import Reading, Windows

REVISED_ROWS_MAX = 100_000
"""The largest number of rows that one commit writes because of late records."""
REVISED_WINDOWS_MAX = 1_000
"""The largest number of windows that one commit computes again. A window counts once for each output cuboid."""
REVISED_CELLS_MAX = 20_000_000
"""The largest number of cells that one commit reads in order to compute windows again. The first window is always read,
even if it has more cells.
"""
REVISED_BYTES_MAX = 64 << 20
"""The largest number of bytes, in keys and values, of the rows that one commit builds because of late records. One row
is always written. Rows of the newest window that follow rows of older windows do not count, because they are built
while they are sent.
"""
_SPAN_MOST = 128
"""The largest number of successive windows whose panes are read together."""

Unit = tuple[int, int]
"""The number of a window, and the index of an output cuboid."""


@dataclass(frozen=True, slots=True)
class RevisionLimits:
    """The limits of the work that one commit does because of late records. Each commit writes at least one row, or
    completes at least one window without changed rows.
    """

    rows: int = REVISED_ROWS_MAX
    windows: int = REVISED_WINDOWS_MAX
    cells: int = REVISED_CELLS_MAX
    size_bytes: int = REVISED_BYTES_MAX


@dataclass(frozen=True, slots=True)
class Position:
    """The position in a round of revisions. A round visits each window that late records changed once, in ascending
    order.

    ``window``: the first window that is not complete; None if no round is in progress. ``place``: the index of the
    first output cuboid of this window that is not complete. ``skipped``: the number of rows of this cuboid that are
    already written. ``batch``: if some rows of the window are written, the last batch whose changes they include; the
    changes of later batches are written in the next round. ``until``: the last window of the round, which was the
    newest window when the round began.
    """

    window: int | None = None
    place: int = 0
    skipped: int = 0
    batch: int = NOW
    until: int | None = None

    @property
    def is_within(self) -> bool:
        """Return whether a part of the window is already written."""
        return bool(self.place or self.skipped)


class LateWindows(Protocol):
    """The windows that late records have changed."""

    def following(self, window: int | None) -> int | None:
        """Return the first changed window from ``window`` on; for None, the first of all changed windows. Return None
        if there is none.

        Callers request windows in ascending order.
        """

    def newest(self, window: int) -> int:
        """Return the number of the last batch that changed a window."""

    def changes(self, first: int, last: int) -> Sequence[LateChange]:
        """Return the changes of the windows from ``first`` to ``last``, in the order of batches."""


@dataclass(frozen=True, slots=True, eq=False)
class Revised:
    """The rows of revisions that one commit writes. ``rows`` can be iterated once. ``position``: the position at which
    the next commit continues.

    ``raised``: the last revision number of each window and output cuboid whose groups the commit writes.
    """

    rows: Iterator[WindowRow]
    position: Position
    raised: Mapping[Unit, int]


class _Work:
    """The rows that one commit has computed so far, and the work that they took.

    ``free_rows``: the number of rows that the commit may still write. ``windows``, ``cells``: the numbers of windows
    and cells that were processed. ``size_bytes``: the size of ``rows``. ``again``: rows of the newest window, which
    follow ``rows``. ``older``: the groups of which rows of older windows are written, by cuboid index.

    ``newest``: the groups of which rows of the newest window are written, by cuboid index. ``done``: by cuboid index,
    the last batch that the rows of the newest window include, if this window is complete.
    """

    def __init__(self, limits: RevisionLimits) -> None:
        self._limits = limits
        self.cells = 0
        self.free_rows = limits.rows
        self.windows = 0
        self.rows: list[WindowRow] = []
        self.size_bytes = 0
        self.again: list[Iterator[WindowRow]] = []
        self.raised: dict[Unit, int] = {}
        self.older: dict[int, list[Cells]] = defaultdict(list)
        self.newest: dict[int, list[Cells]] = defaultdict(list)
        self.done: dict[int, int] = {}

    @property
    def is_spent(self) -> bool:
        """Return whether the commit has reached a limit, so that the next commit continues."""
        limits = self._limits
        is_beyond = self.windows >= limits.windows or self.cells >= limits.cells or self.size_bytes >= limits.size_bytes
        return self.windows > 0 and (is_beyond or self.free_rows < 2)

    def add(self, rows: Iterable[WindowRow]) -> int:
        """Add rows up to the limit of bytes, and return the number of added rows. The first row of a commit is always
        added.
        """
        count = 0
        for row in rows:
            row_bytes = len(row.key) + len(row.value or b"")
            if self.rows and self.size_bytes + row_bytes > self._limits.size_bytes:
                break
            self.rows.append(row)
            self.size_bytes += row_bytes
            count += 1
        return count


class _Span:
    """Several windows that are revised together. The versions of an output cuboid are computed when they are first
    needed.
    """

    def __init__(self, work: _Work, make: Callable[[int], WindowVersions]) -> None:
        self._work = work
        self._make = make
        self._made: dict[int, WindowVersions] = {}

    def versions(self, number: int, place: int, batch: int) -> tuple[Cells, Cells]:
        """Return the groups of a window before all late records, and the groups of the window after a batch."""
        versions = self._made.get(place)
        if versions is None:
            self._made[place] = versions = self._make(place)
            # The first window does not count, because each commit computes at least one window.
            self._work.cells += versions.count if self._work.windows else 0
        before = versions.count
        found = versions.cells(number, -1), versions.cells(number, batch)
        self._work.cells += versions.count - before
        return found


class Revisions:
    """The revisions that are due after one commit. They are written in rounds, each of which visits every changed
    window once.

    A consumer that keeps the last record of each key would otherwise end with a row of an older window. So for each
    group of which a row of an older window is written, the row of the newest window, or a tombstone, is written again,
    with a higher revision.

    Invariant: the rows are a function of the cells, the changes and the position, so that a repeated computation gives
    the same rows. Records that arrive during a round add no row to the windows that the round has yet to visit. So each
    round ends, and the next round writes these changes.
    """

    def __init__(
        self,
        windows: Windows,
        writing: WindowWriting,
        read: Reading,
        *,
        late: LateWindows,
        written: int,
        position: Position,
        revision: Callable[[int, int], int],
        limits: RevisionLimits,
    ) -> None:
        """Begin after a commit.

        ``written``: the newest written window. ``revision``: a function that returns the last revision number of a
        window and an output cuboid.
        """
        self._windows = windows
        self._writing = writing
        self._layout = writing.layout
        self._sliding = writing.output.sliding
        self._read = read
        self._late = late
        self._written = written
        self._position = position
        self._revision = revision
        self._limits = limits
        self._places = range(len(writing.output.cuboids))

    def rows(self) -> Revised:
        """Return the next rows, up to a limit of the commit or the end of the round."""
        start = self._position
        until = self._written if start.until is None else start.until
        work, position = _Work(self._limits), Position()
        for number, span in self._spans(work, until):
            stopped = self._revise(work, number, span)
            if stopped is not None:
                position = replace(stopped, until=until)
                break
        for place in self._places:
            self._again(work, place)
        return Revised(chain(work.rows, *work.again), position, MappingProxyType(work.raised))

    def _spans(self, work: _Work, until: int) -> Iterator[tuple[int, _Span]]:
        """Yield the windows that remain in the round, each with the span of windows that are revised together."""
        reach = min(_SPAN_MOST, max(1, self._sliding.window // self._sliding.slide))
        number = self._following(self._position.window, until)
        while number is not None:
            numbers = [number]
            following = self._following(number + 1, until)
            while following is not None and following < number + reach and len(numbers) < self._limits.windows:
                numbers.append(following)
                following = self._following(following + 1, until)
            span = _Span(work, partial(self._versions, (number, numbers[-1])))
            for own in numbers:
                yield own, span
            number = following

    def _following(self, window: int | None, until: int) -> int | None:
        found = self._late.following(window)
        return None if found is None or found > until else found

    def _versions(self, windows: tuple[int, int], place: int, groups: Cells | None = None) -> WindowVersions:
        return WindowVersions(
            self._layout,
            self._writing.columns(place),
            self._sliding,
            windows,
            changes=self._late.changes(*windows),
            read=self._read,
            groups=groups,
        )

    def _revise(self, work: _Work, number: int, span: _Span) -> Position | None:
        """Add the rows of a window to ``work``. Return the position at which a limit ended the work; None if the window
        is complete.
        """
        start = self._position if self._position.window == number else Position()
        is_older = number < self._written
        for place in self._places[start.place :]:
            skipped = start.skipped if place == start.place else 0
            if work.is_spent:
                return self._stopped(start, number, place, skipped)
            before, now = span.versions(number, place, start.batch)
            cells = now.take(changed(self._layout, before, now))
            most = min(cells.count - skipped, work.free_rows // 2 if is_older else work.free_rows)
            shown = cells.slice(skipped, skipped + most)
            revision, is_whole = self._revision(number, place) + 1, self._windows.is_whole(number)
            taken = work.add(
                self._writing.rows(shown, number, place, revision=revision, is_whole=is_whole, is_late=True)
            )
            work.windows += 1
            work.free_rows -= 2 * taken if is_older else taken
            (work.older if is_older else work.newest)[place].append(shown.slice(0, taken))
            if skipped + taken < cells.count:
                return self._stopped(start, number, place, skipped + taken)
            if cells.count:
                work.raised[number, place] = revision
            if not is_older:
                work.done[place] = start.batch
        return None

    def _stopped(self, start: Position, number: int, place: int, skipped: int) -> Position:
        """Return the position at which the work stops in a window. Its ``batch`` is the last batch whose changes the
        written rows of the window include.
        """
        found = Position(number, place, skipped, start.batch)
        return replace(found, batch=self._late.newest(number)) if found.is_within and not start.is_within else found

    def _again(self, work: _Work, place: int) -> None:
        """Add the row of the newest window, or a tombstone, for each group of which a row of an older window was added.
        Skip groups of which a row of the newest window was just added.

        Until the newest window itself is revised, these rows show it as it was before the late records.
        """
        layout, number, older = self._layout, self._written, work.older[place]
        if not any(part.count for part in older):
            return
        columns = range(len(older[0].keys))
        groups = rolled_up(layout, older, columns)
        own = rolled_up(layout, [groups.slice(0, 0), *work.newest[place]], columns)
        groups = groups.take(matched(layout, groups, own).gone)
        if not groups.count:
            return
        now = self._versions((number, number), place, groups).cells(number, work.done.get(place, -1))
        revision, is_whole = self._revision(number, place) + 1, self._windows.is_whole(number)
        gone = groups.take(matched(layout, groups, now).gone)
        work.again += (
            self._writing.rows(now, number, place, revision=revision, is_whole=is_whole, is_late=True),
            self._writing.tombstones(gone, number, place, revision=revision),
        )
        work.raised[number, place] = revision
