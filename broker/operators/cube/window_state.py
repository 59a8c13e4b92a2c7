"""States of windows: which windows of a cube are written after a commit, and which late records have changed these
windows since.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from asc.operators.cube.output import Output
from asc.operators.cube.revisions import Position, Unit
from asc.operators.cube.sliding import Sliding

_CHANGE_BYTES = 256
"""The bytes of a row of former cells and of its entry in memory, without the cells themselves."""
_REVISION_BYTES = 32
"""The bytes of the row that stores the number of one revision."""


@dataclass(frozen=True, slots=True, eq=False)
class KeptChange:
    """The panes that the late records of one batch changed, and the written windows whose rows still show the former
    cells. The former cells themselves are in the store.

    ``number``: the number of its row; later batches have greater numbers. ``first``, ``end``: the first of these
    windows, and the window after the last. ``panes``: the changed panes as int64, ascending. ``size_bytes``: the bytes
    in memory and in the store. ``is_damaged``: whether the panes can no longer be read.
    """

    number: int
    first: int
    end: int
    panes: npt.NDArray[np.int64]
    size_bytes: int
    is_damaged: bool = False

    @staticmethod
    def of(number: int, first: int, end: int, panes: npt.NDArray[np.int64], data_bytes: int) -> KeptChange:
        """Return a change. ``data_bytes``: the bytes of the former cells."""
        return KeptChange(number, first, end, panes, _CHANGE_BYTES + panes.nbytes + data_bytes)

    def following(self, sliding: Sliding, window: int) -> int | None:
        """Return the first window of the change from ``window`` on that contains a changed pane. Return None if there
        is none.
        """
        window = max(window, self.first)
        first, end = sliding.panes(window)
        place = int(np.searchsorted(self.panes, first))
        if place == len(self.panes):
            return None
        pane = int(self.panes[place])
        found = window if pane < end else sliding.holding(pane).start
        return found if found < self.end else None

    def spans(self, sliding: Sliding) -> list[tuple[int, int]]:
        """Return the changed panes that the windows of the change contain, as ranges of successive panes. A range is
        its first pane, and the pane after its last.
        """
        first, end = sliding.panes(self.first)[0], sliding.panes(self.end - 1)[1]
        panes = self.panes[np.searchsorted(self.panes, first) : np.searchsorted(self.panes, end)]
        if self.is_damaged or not len(panes):
            return [(first, end)]
        several = np.split(panes, np.flatnonzero(np.diff(panes) > 1) + 1)
        return [(int(own[0]), int(own[-1]) + 1) for own in several]


@dataclass(frozen=True, slots=True, eq=False)
class WindowState:
    """The progress of writing a cube's windows to its topic.

    ``first_window``: the first window that may be written; None means the first window that contains a pane with
    records. ``written``: the last acknowledged window. Before there is one, it is the window before ``first_window``,
    or None if ``first_window`` is None. ``changes``: the changes by late records that are not yet written to the topic,
    ascending by number. ``position``: the position in the round of revisions that writes these changes. ``is_due``:
    whether the revisions of the last commit are still to be written. ``is_behind``: whether the last commit reached its
    limit of windows, so that the next commit continues. ``revisions``: the number of stored revision numbers.
    ``count``: the number of windows written for the first time.

    Invariant: the rows of each window up to ``written`` reflect its cells, with former cells in place of changed ones.
    For the window at the position, this holds for the rows that are not revised yet. Windows before the position
    include the changes up to the position's batch. A change ends before the window at the position, or begins at or
    after it.
    """

    topic: str
    output: Output
    first_window: int | None = None
    written: int | None = None
    position: Position = field(default_factory=Position)
    changes: tuple[KeptChange, ...] = ()
    is_due: bool = False
    is_behind: bool = False
    revisions: int = 0
    count: int = 0

    @staticmethod
    def beginning(topic: str, output: Output, open_from: int | None, *, is_new: bool) -> WindowState:
        """Return the state of a cube that has not written a window yet. ``open_from``: the first open pane; None if no
        pane is closed. ``is_new``: whether the cube has no pieces.

        If the cube already has pieces, its first window is the first one that ends after its watermark.
        """
        if is_new or open_from is None:
            return WindowState(topic, output)
        written = output.sliding.last_final(open_from)
        return WindowState(topic, output, written + 1, written)

    @property
    def has_left(self) -> bool:
        """Return whether the last commit reached its limit, so that windows or revisions remain to be written."""
        return self.is_behind or (bool(self.changes) and not self.is_due)

    @property
    def size_bytes(self) -> int:
        """Return the bytes of the changes, in memory and in the store, and of the stored revision numbers."""
        return sum(own.size_bytes for own in self.changes) + _REVISION_BYTES * self.revisions

    def is_of(self, topic: str, output: Output) -> bool:
        """Return True if the topic and the windows are those of this state, so that the state continues."""
        return (self.topic, self.output) == (topic, output)

    def due_to(self, open_from: int | None) -> int | None:
        """Return the last final window that is not written yet. Return None if there is no such window, or if the next
        commit first has to write the windows that the last commit left.
        """
        if open_from is None or self.is_behind:
            return None
        last = self.output.sliding.last_final(open_from)
        return last if self.written is None or last > self.written else None

    def late_panes(self) -> tuple[int | None, int] | None:
        """Return the first pane of the written windows, and the pane after the last one. Return None if no window is
        written.

        The first pane is None if there is no lower bound.
        """
        if self.written is None or (self.first_window is not None and self.written < self.first_window):
            return None
        sliding = self.output.sliding
        first_pane = None if self.first_window is None else sliding.panes(self.first_window)[0]
        return first_pane, sliding.panes(self.written)[1]

    def needed_from(self) -> int | None:
        """Return the first pane that is needed for windows that have to be written, or written again. Return None until
        the first window is written, because all panes are needed until then.
        """
        if self.written is None:
            return None
        windows = [self.written, *(change.first for change in self.changes)]
        return self.output.sliding.panes(min(windows))[0]

    def touched(self) -> WindowState:
        """Return the state after the commit of a batch without late records for written windows. Revisions that are
        left become due.
        """
        is_same = not self.is_behind and self.is_due >= bool(self.changes)
        return self if is_same else replace(self, is_due=self.is_due or bool(self.changes), is_behind=False)

    def changed(self, panes: npt.NDArray[np.int64], data_bytes: int, numbers: Iterator[int]) -> WindowState:
        """Return the state after the commit of a batch with late records.

        ``panes``: the panes within :meth:`late_panes` that the batch changed, ascending. ``data_bytes``: the size of
        their former cells.
        """
        assert self.written is not None
        first, end = self.output.sliding.holding(int(panes[0])).start, self.output.sliding.holding(int(panes[-1])).stop
        first, end = max(first, first if self.first_window is None else self.first_window), min(end, self.written + 1)
        own = KeptChange.of(0, first, end, panes, data_bytes)
        new = tuple(replace(each, number=next(numbers)) for each in self._parts(own))
        return replace(self, changes=(*self.changes, *new), is_due=True, is_behind=False)

    def _parts(self, change: KeptChange) -> Iterator[KeptChange]:
        """Divide a change at the position of the current round of revisions, and yield the parts. So each part is
        either entirely before the position, within its window, or after it.
        """
        at = self.position.window
        bounds = [change.first, change.end]
        if at is not None:
            bounds += [at, at + 1] if self.position.is_within else [at]
        bounds = sorted({min(max(each, change.first), change.end) for each in bounds})
        for first, end in pairwise(bounds):
            part = replace(change, first=first, end=end)
            if part.following(self.output.sliding, first) is not None:
                yield part

    def changes_of(self, first: int, last: int) -> list[KeptChange]:
        """Return the changes of the windows from ``first`` to ``last``."""
        sliding = self.output.sliding
        panes = sliding.panes(first)[0], sliding.panes(last)[1]
        met = (own for own in self.changes if own.first <= last and first < own.end)
        return [own for own in met if np.diff(np.searchsorted(own.panes, panes))[0]]

    def partly_written(self, change: KeptChange) -> Unit | None:
        """Return the window and output cuboid at the position if some rows of its revision are written and the change
        ``change`` affects the window. Otherwise return None.
        """
        at = self.position
        is_partly_written = at.window is not None and at.skipped and change.first <= at.window < change.end
        return (at.window, at.place) if at.window is not None and is_partly_written else None

    def without_change(self, gone: KeptChange, raised: Mapping[Unit, int]) -> WindowState:
        """Return the state without a damaged change. If the change affects a partly revised window, the revision of
        this window starts again.

        ``raised``: the revision number of such a window, which was already used.
        """
        kept, at = tuple(own for own in self.changes if own.number != gone.number), self.position
        if not kept:
            at = Position()
        elif at.window is not None and gone.first <= at.window < gone.end:
            at = Position(at.window, until=at.until)
        return replace(self, changes=kept, position=at, revisions=self.revisions + _first_ones(raised))

    def newest(self, window: int) -> int:
        """Return the row number of the last change that affects a window. ``window``: the number of the window."""
        return max(own.number for own in self.changes if own.first <= window < own.end)

    def revised(self, position: Position, raised: Mapping[Unit, int]) -> WindowState:
        """Return the state after revisions up to a position. ``raised``: the revision numbers that were used, by window
        and cuboid.
        """
        start, following = self.position, position.window
        if following is None:
            assert self.written is not None
            following = (self.written if start.until is None else start.until) + 1
        kept = []
        for own in self.changes:
            is_later = start.is_within and own.first == start.window and own.number > start.batch
            is_before = start.window is not None and own.first < start.window
            first = own.first if is_later or is_before else max(own.first, following)
            if first < own.end:
                kept.append(own if first == own.first else replace(own, first=first))
        revisions = self.revisions + _first_ones(raised)
        return replace(self, changes=tuple(kept), position=position, is_due=False, revisions=revisions)


def _first_ones(raised: Mapping[Unit, int]) -> int:
    return sum(revision == 1 for revision in raised.values())
