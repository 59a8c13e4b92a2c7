"""Cells that grow by the cells of one fold after another."""

from __future__ import annotations

from asc.operators.cube.cells import Cells, merged
from asc.operators.cube.layout import Layout

_LOOSE_LEAST = 50_000
"""The cells that may be unmerged, beyond as many as the merged ones."""


class GrowingCells:
    """The cells of one layout, merged now and then, and where they are asked for.

    Invariant: :attr:`cells` is the merge of all added ones, in the order of their adding. Cost: a cell is merged some
    times, as a byte of a list that doubles is copied. Not for several threads at once.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._merged = Cells.none(layout)
        self._loose: list[Cells] = []
        self._loose_count = 0

    @property
    def parts(self) -> tuple[Cells, ...]:
        """Return the cells as they are held, not merged with each other."""
        return (self._merged, *self._loose)

    @property
    def cells(self) -> Cells:
        """Return all cells."""
        self._merge()
        return self._merged

    def add(self, cells: Cells) -> None:
        """Add the cells of more records."""
        if not cells.count:
            return
        self._loose.append(cells)
        self._loose_count += cells.count
        if self._loose_count > self._merged.count + _LOOSE_LEAST:
            self._merge()

    def _merge(self) -> None:
        if self._loose:
            self._merged = merged(self._layout, self.parts)
            self._loose, self._loose_count = [], 0
