"""Parts of an interval: cells of one view of a cube, as an answer reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from asc.operators.cube.cells import Cells
from asc.operators.cube.layout import Layout
from asc.operators.cube.view import View


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Cells of a view, for an answer.

    ``cells`` has one key for each expression of the view's cuboid. Its pane numbers are those of the cube's own panes:
    the first pane that a pane of the view covers.
    """

    view: View
    columns: tuple[int, ...]
    cells: Cells

    @staticmethod
    def of(layout: Layout, view: View, cells: Cells) -> Part:
        """Return cells of a view as a part. ``columns`` are the indices of the expressions of the view's cuboid."""
        return Part(view, layout.definition.dimensions.columns(view.cuboid), cells)

    @staticmethod
    def base(layout: Layout, cells: Cells) -> Part:
        """Return cells of the base cuboid as a part."""
        return Part.of(layout, View.base(layout.definition.dimensions), cells)

    @property
    def count(self) -> int:
        """Return the number of cells."""
        return self.cells.count

    def between(self, first: int | None, end: int | None) -> Part:
        """Return the cells of the panes from ``first`` to before ``end``. None means no bound."""
        return replace(self, cells=self.cells.between(first, end))

    def keyed_by(self, columns: Sequence[int]) -> Cells:
        """Return the cells with only the keys of the expressions at the indices ``columns``. Equal cells are not
        merged.
        """
        return self.cells.rolled_up([self.columns.index(place) for place in columns])
