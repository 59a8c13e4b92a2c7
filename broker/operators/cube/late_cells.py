"""Late cells: the cells that a batch changes in windows that are already written. Their former states are saved,
because a revision of a window writes only groups that have changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from asc.operators.cube.cells import Cells, joined, merged
from asc.operators.cube.comparing import is_within
from asc.operators.cube.former_cells import FormerCells
from asc.operators.cube.layout import Layout
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.panes import Panes, StoredPiece, sound
from broker.operators.cube.window_state import KeptChange, WindowState

_TOGETHER_BYTES = 32 << 20
"""The most bytes of panes whose cells are read and searched together. A single pane may have more."""

LateChanges = Sequence[tuple[KeptChange, bytes]]
"""Changes of windows that are already written, each with its former cells as bytes."""
NO_LATE_CHANGES: LateChanges = ()


class LateCells:
    """The component that searches the cells that a batch changes in windows already written, for all cubes of a stream.

    Cost: the pieces of the changed panes are read, as for a merge of these pieces.
    """

    def __init__(self, read: Callable[[Layout, StoredPiece], Cells], numbers: Iterator[int]) -> None:
        """Set the sources. ``read`` returns the cells of a piece. ``numbers``: the numbers of new changes."""
        self._read = read
        self._numbers = numbers

    def after(self, state: CubeState, cells: Cells) -> tuple[WindowState | None, LateChanges]:
        """Return the windows of a cube after a batch, and the changes of written windows. ``cells``: the cells that the
        batch adds.
        """
        windows, layout = state.windows, state.layout
        if windows is None or layout is None:
            return windows, NO_LATE_CHANGES
        bounds = windows.late_panes()
        late = cells.slice(0, 0)
        if bounds is not None:
            first, end = bounds
            if state.base_from is not None:
                # A window is not written again if some of its panes have moved to a band or were deleted.
                kept = state.base_from + windows.output.sliding.window
                first = kept if first is None else max(first, kept)
            late = cells.between(first, end)
        if not late.count:
            return windows.touched(), NO_LATE_CHANGES
        former = FormerCells.of(layout, late, self._before(layout, late, state.panes))
        data = former.to_bytes(layout)
        after = windows.changed(late.different_panes(), len(data), self._numbers)
        return after, [(change, data) for change in after.changes[len(windows.changes) :]]

    def _before(self, layout: Layout, late: Cells, panes: Panes) -> Cells:
        """Return the stored cells with which the late cells will be merged: those with the same pane and group."""
        cells, parts, size_bytes = [Cells.none(layout)], [Cells.none(layout)], 0
        for pane in late.different_panes().tolist():
            pieces = sound(panes.pane(pane))
            added_bytes = sum(piece.size_bytes for piece in pieces)
            if size_bytes + added_bytes > _TOGETHER_BYTES:
                cells.append(_those(layout, parts, late))
                parts, size_bytes = [Cells.none(layout)], 0
            parts += [self._read(layout, piece) for piece in pieces]
            size_bytes += added_bytes
        return joined(layout, [*cells, _those(layout, parts, late)])


def _those(layout: Layout, parts: Sequence[Cells], late: Cells) -> Cells:
    """Return the cells of ``parts`` that have the same pane and group as a late cell. They are merged, in ascending
    order of panes.
    """
    whole = joined(layout, parts)
    found = merged(layout, [whole.take(np.flatnonzero(is_within(layout, whole, late, by_pane=True)))])
    return replace(found, keys=tuple(key.compact() for key in found.keys))
