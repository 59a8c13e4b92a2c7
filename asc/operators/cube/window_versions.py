"""Versions of windows: the groups of a window now, and the groups before the late records of each batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from asc.operators.cube.cells import Cells, joined, merged
from asc.operators.cube.comparing import is_within, rolled_up
from asc.operators.cube.former_cells import FormerCells
from asc.operators.cube.grouping import Grouping, pane_digit
from asc.operators.cube.layout import Layout
from asc.operators.cube.sliding import Sliding
from asc.operators.cube.windows import Reading

_Ints = npt.NDArray[np.int64]

NOW = 2**62
"""A batch number that is greater than the number of every batch."""


@dataclass(frozen=True, slots=True, eq=False)
class LateChange:
    """The changes that the late records of one batch made to written windows.

    ``number``: a number of the batch, greater than those of earlier batches. ``first``, ``end``: the windows, from
    ``first`` to before ``end``, whose rows were computed from the former cells. ``cells``: the former cells.
    """

    number: int
    first: int
    end: int
    cells: FormerCells


class WindowVersions:
    """The groups of an output cuboid that late records touched, in successive windows.

    Invariant: a cell as it was before a batch is taken from the first change since that batch that contains the cell.
    If no change contains the cell, it is the current cell. Cost: the panes of all windows are read once. Then each
    window reads its groups only in those panes that the first and the last window do not share.
    """

    def __init__(
        self,
        layout: Layout,
        columns: Sequence[int],
        sliding: Sliding,
        windows: tuple[int, int],
        *,
        changes: Sequence[LateChange],
        read: Reading,
        groups: Cells | None = None,
    ) -> None:
        """Read the cells of successive windows. ``windows``: the numbers of the first and the last window.

        ``groups``: the groups to read; None means the groups that late records touched. The attribute ``count`` is the
        number of cells that were read so far.
        """
        self._layout = layout
        self._sliding = sliding
        self._every = range(len(columns))
        first, end = sliding.panes(windows[0])[0], sliding.panes(windows[1])[1]
        former = [(own, own.cells.between(first, end)) for own in changes]
        touched = merged(layout, [Cells.none(layout), *(part for _, own in former for part in (own.cells, own.new))])
        if groups is None:
            groups = rolled_up(layout, [touched], columns)
        untouched, now = [], []
        self.count = sum(part.count for _, own in former for part in (own.cells, own.new))
        for part in read(first, end):
            self.count += part.count
            own = part.take(np.flatnonzero(is_within(layout, part.rolled_up(columns), groups)))
            is_touched = is_within(layout, own, touched, by_pane=True)
            now.append(own.take(np.flatnonzero(is_touched)))
            untouched.append(own.take(np.flatnonzero(~is_touched)).rolled_up(columns))
        none = groups.slice(0, 0)
        base = rolled_up(layout, [none, *untouched], self._every, by_pane=True)
        # Merge the current cells, because an open pane has several pieces.
        versions = _Versions.of(layout, former, merged(layout, [Cells.none(layout), *now]))
        versions = versions.rolled_up(columns, is_within(layout, versions.cells.rolled_up(columns), groups))
        # Give both sets one dictionary for each key, so that each window is merged without joining dictionaries.
        both = joined(layout, [base, versions.cells])
        self._base, self._versions = (
            both.slice(0, base.count),
            replace(versions, cells=both.slice(base.count, both.count)),
        )
        self._shared = sliding.panes(windows[1])[0], sliding.panes(windows[0])[1]
        self._common = rolled_up(layout, [none, self._base.between(*self._shared)], self._every)
        self._kept: tuple[int, Cells] | None = None

    def cells(self, number: int, after: int) -> Cells:
        """Return the groups of a window as they were after the batch ``after``, without the changes of later batches.

        ``after``: -1 for the groups before all batches, ``NOW`` for the groups after all batches.
        """
        versions = self._versions.at(number, after, self._sliding.panes(number))
        return rolled_up(self._layout, [self._untouched(number), versions], self._every)

    def _untouched(self, number: int) -> Cells:
        """Return the groups of a window, computed only from the cells that late records did not touch."""
        if self._kept is None or self._kept[0] != number:
            first, end = self._sliding.panes(number)
            shared_first, shared_end = self._shared
            parts = [self._base.between(first, end)]
            if shared_first < shared_end:
                parts = [self._base.between(first, shared_first), self._common, self._base.between(shared_end, end)]
            self.count += sum(part.count for part in parts)
            self._kept = number, rolled_up(self._layout, parts, self._every)
        return self._kept[1]


@dataclass(frozen=True, slots=True, eq=False)
class _Versions:
    """The versions of the cells that late records touched. Each version is a row. Rows are sorted by cell, then by the
    number of the batch that replaced the version.

    ``cells``: the versions with their states. ``ids``: a number for the cell of each row, ascending. ``numbers``: the
    number of the batch that replaced each version. ``firsts``, ``ends``: the windows for which the version is valid.
    ``is_absent``: whether the cell did not exist in this version.
    """

    cells: Cells
    ids: _Ints
    numbers: _Ints
    firsts: _Ints
    ends: _Ints
    is_absent: npt.NDArray[np.bool_]

    @staticmethod
    def of(layout: Layout, former: Sequence[tuple[LateChange, FormerCells]], now: Cells) -> _Versions:
        """Return the former versions from the changes, and the current versions from ``now``."""
        parts, spans = [Cells.none(layout)], [(0, 0, 0, False)]
        for change, own in former:
            for cells, is_absent in ((own.cells, False), (own.new, True)):
                parts.append(cells)
                spans.append((change.number, change.first, change.end, is_absent))
        parts.append(now)
        spans.append((NOW + 1, -NOW, NOW, False))
        counts = [part.count for part in parts]
        numbers, firsts, ends, absents = (np.repeat(own, counts) for own in zip(*spans, strict=True))
        whole = joined(layout, parts)
        ids = np.zeros(whole.count, dtype=np.int64)
        if whole.count:
            digits = [pane_digit(whole.panes), *((key.codes, key.radix) for key in whole.keys)]
            ids = Grouping.of(digits, whole.count).cells.astype(np.int64)
        order = np.lexsort((numbers, ids))
        return _Versions(whole, ids, numbers, firsts, ends, absents.astype(np.bool_))._taken(order)

    def rolled_up(self, columns: Sequence[int], is_wanted: npt.NDArray[np.bool_]) -> _Versions:
        """Return the versions that ``is_wanted`` marks, with only the keys at the indices ``columns``."""
        own = self._taken(np.flatnonzero(is_wanted))
        return replace(own, cells=own.cells.rolled_up(columns))

    def at(self, number: int, after: int, panes: tuple[int, int]) -> Cells:
        """Return the cells in the panes of a window as they were after the batch ``after``, without the changes of
        later batches. ``panes``: the first pane of the window and the pane after the last one.
        """
        start, stop = (int(own) for own in np.searchsorted(self.cells.panes, panes))
        own = slice(start, stop)
        has = (self.firsts[own] <= number) & (number < self.ends[own]) & (self.numbers[own] > after)
        rows = start + np.flatnonzero(has)
        rows = rows[np.flatnonzero(np.diff(self.ids[rows], prepend=-1))]
        return self.cells.take(rows[~self.is_absent[rows]])

    def _taken(self, rows: _Ints) -> _Versions:
        ids, numbers, firsts, ends = (own[rows] for own in (self.ids, self.numbers, self.firsts, self.ends))
        return _Versions(self.cells.take(rows), ids, numbers, firsts, ends, self.is_absent[rows])
