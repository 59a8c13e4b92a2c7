"""Cells: the clusters of one setting without its pairs, for windows in which points have many neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from asc.operators.dbscan.cell_kernels import (
    bound,
    connect,
    core_first,
    find_core,
    label_points,
    number_cells,
)
from asc.operators.dbscan.chains import Labels
from asc.operators.dbscan.grid import Grid, orders_of, reach_of, side_within
from asc.operators.dbscan.points import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The points of a window by cells a little smaller than ``radius`` over the root of the attributes.

    Invariant: two points of a cell are neighbours; the labels equal those by the pairs. Cost: a sort of the points, and
    for each point a look at those of the cells around that it may reach, and that do not count as a whole.
    """

    radius: float
    grid: Grid

    @staticmethod
    def of(values: Floats, radius: float, orders: Ints | None = None) -> Cells:
        """Return the cells of points in order. ``orders``: the points by each attribute, where they are known."""
        return Cells(radius, Grid.of(values, side_within(radius, values.shape[1]), orders))

    def labels(self, min_samples: int) -> Labels:
        """Return the clusters for a min_samples."""
        grid, square = self.grid, self.radius * self.radius
        points, attributes = grid.values.shape
        low, high = (np.zeros((grid.cells, attributes)) for _ in range(2))
        bound(grid.values, grid.starts, grid.starts[1:], low, high)
        reach, least = self._reach, min(min_samples, points + 1)
        memory = np.empty((2, attributes), dtype=np.int64), np.empty(grid.cells, dtype=np.int64)
        is_core = np.zeros(points, dtype=np.bool_)
        find_core(grid.values, grid.starts, grid.bins, reach, low, high, square, least, *memory, is_core)
        ends, order, values = (
            np.empty(grid.cells, dtype=np.int64),
            np.empty_like(grid.order),
            np.empty_like(grid.values),
        )
        core_first(grid.order, grid.values, grid.starts, is_core, ends, order, values)
        bound(values, grid.starts, ends, low, high)
        parents = np.arange(grid.cells, dtype=np.int32)
        around = (grid.bins, reach, low, high, square, *memory)
        connect(values, grid.starts, ends, *around, parents)
        cell_labels = np.full(grid.cells, -1, dtype=np.int32)
        clusters = number_cells(order, grid.starts, ends, np.empty(points, dtype=np.int32), parents, cell_labels)
        labels = np.empty(points, dtype=np.int32)
        label_points(order, values, grid.starts, ends, *around, cell_labels, labels, is_core)
        return Labels(labels, is_core, clusters)

    @property
    def _reach(self) -> int:
        """Return the number of bins beyond which no neighbour is."""
        side = side_within(self.radius, self.grid.values.shape[1])
        # Bins of equal values alone have no width, and then no two values are near.
        return int(reach_of(self.radius) / side * (1 + 1e-6)) + 1 if side > 0 else 1


class CellsOfWindows:
    """Cells of windows that end with the same point, by first point and radius: made once for equal ones in a row."""

    def __init__(self, values: Floats) -> None:
        self._values = values
        self._orders: tuple[int, Ints] | None = None
        self._cells: tuple[int, float, Cells] | None = None

    def labels(self, first: int, radius: float, min_samples: int) -> Labels:
        """Return the clusters of the points from ``first`` on."""
        if self._orders is None or self._orders[0] != first:
            self._orders = first, orders_of(self._values[first:])
            self._cells = None
        if self._cells is None or self._cells[:2] != (first, radius):
            self._cells = first, radius, Cells.of(self._values[first:], radius, self._orders[1])
        return self._cells[2].labels(min_samples)
