"""Parts of an interval: the cells of one view of a cube that an answer reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from asc.operators.cube.cells import Cells
from asc.operators.cube.layout import Layout
from asc.operators.cube.view import View


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Some cells of one view, which an answer reads.

    ``columns``: the indices of the expressions by which the view's cuboid groups. ``cells`` have one key for each of
    these expressions. A pane number of a cell is the number of the cube's first pane in the pane of the view.
    """

    view: View
    columns: tuple[int, ...]
    cells: Cells

    @staticmethod
    def of(layout: Layout, view: View, cells: Cells) -> Part:
        """Return cells of a view as a part."""
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
        """Return the cells with only the keys of the expressions at the indices ``columns``. Cells with equal keys are
        not merged.
        """
        return self.cells.rolled_up([self.columns.index(place) for place in columns])
