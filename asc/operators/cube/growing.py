"""A set of cells that grows by the cells of successive folds."""

from __future__ import annotations

from asc.operators.cube.cells import Cells, merged
from asc.operators.cube.layout import Layout

_LOOSE_LEAST = 50_000
"""The number by which unmerged cells may exceed the merged cells before they are merged."""


class GrowingCells:
    """A growing set of cells of one layout. Added cells are merged when they are many, and when ``cells`` is read.

    Invariant: :attr:`cells` is the merge of all added cells, in the order in which they were added. Cost: each cell is
    merged a constant number of times on average, because the merged cells about double between merges. Not thread-safe.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._merged = Cells.none(layout)
        self._loose: list[Cells] = []
        self._loose_count = 0

    @property
    def parts(self) -> tuple[Cells, ...]:
        """Return the cells in parts, without merging: the cells that are already merged, then each later addition."""
        return (self._merged, *self._loose)

    @property
    def cells(self) -> Cells:
        """Return all cells, merged."""
        self.merge()
        return self._merged

    def add(self, cells: Cells) -> None:
        """Add the cells of more records."""
        if not cells.count:
            return
        self._loose.append(cells)
        self._loose_count += cells.count
        if self._loose_count > self._merged.count + _LOOSE_LEAST:
            self.merge()

    def merge(self) -> None:
        """Merge all added cells."""
        if self._loose:
            self._merged = merged(self._layout, self.parts)
            self._loose, self._loose_count = [], 0
