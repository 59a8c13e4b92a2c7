"""DBSCAN by the cells of a grid, without listing pairs of neighbouring points. It is used for windows in which points
have many neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from asc.operators.dbscan.cell_kernels import (
    CellArrays,
    NearArrays,
    bound,
    connect,
    core_first,
    find_core,
    label_points,
    list_near,
    list_nearest,
    number_cells,
)
from asc.operators.dbscan.chains import Labels
from asc.operators.dbscan.grid import Grid, orders_of, reach_of, side_within
from asc.operators.dbscan.points import Flags, Floats, Ints

_ALIKE = 1.25
"""The largest ratio of two radii for which the same grid of cells is used."""

_NEAREST_USERS = 4
"""The least number of settings of one window for which the nearest points of each point are listed."""

_NEAREST = 32
"""The largest number of nearest points that are listed for each point."""

_CAPACITY = 1 << 20
"""The most near cells that are listed at a time."""


@dataclass(frozen=True, slots=True)
class CellSetting:
    """A setting of one window (its radius and min_samples), without the window's first point."""

    radius: float
    min_samples: int


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The points of a window by cells. The side of a cell is slightly smaller than the least radius divided by the
    square root of the number of attributes.

    ``widest``: the greatest radius for which these cells are used. Invariant: for each radius, any two points of a cell
    are neighbours, and the labels equal the labels computed from pairs. Cost: each point is compared with the points of
    the near cells, except of cells that are completely within the radius or outside it.
    """

    widest: float
    grid: Grid
    low: Floats
    high: Floats
    reach: int
    _listed: list[NearArrays] = field(default_factory=list)

    @staticmethod
    def of(values: Floats, least: float, widest: float | None = None, orders: Ints | None = None) -> Cells:
        """Return the cells of points in order, for radii from ``least`` to ``widest``. ``widest``: None if there is
        only the radius ``least``. ``orders``: the points sorted by each attribute, if known.
        """
        widest = least if widest is None else widest
        side = side_within(least, values.shape[1])
        grid = Grid.of(values, side, orders)
        low, high = np.empty((grid.cells, values.shape[1])), np.empty((grid.cells, values.shape[1]))
        bound(grid.values, grid.starts, low, high)
        # If all values of a bin are equal, the bin has no width, and no two bins are near each other.
        reach = int(reach_of(widest) / side * (1 + 1e-6)) + 1 if side > 0 else 1
        return Cells(widest, grid, low, high, reach)

    @property
    def arguments(self) -> CellArrays:
        """Return the cells in the form that the compiled loops (:mod:`asc.operators.dbscan.cell_kernels`) read."""
        return CellArrays(values=self.grid.values, starts=self.grid.starts, low=self.low, high=self.high)

    def near(self) -> Iterator[NearArrays]:
        """Yield the lists of near cells (cells within the widest radius of a cell), for several cells at a time. If one
        buffer holds the lists of all cells, the lists are computed only once.
        """
        if self._listed:
            yield self._listed[0]
            return
        first, cells = 0, self.grid.cells
        ranges, candidates = np.empty((2, self.low.shape[1]), dtype=np.int64), np.empty(cells, dtype=np.int64)
        capacity = max(_CAPACITY, cells)
        while first < cells:
            starts, near = np.empty(cells - first + 1, dtype=np.int64), np.empty(capacity, dtype=np.int64)
            memory = NearArrays(first, cells, starts, near, squares=np.empty(capacity))
            own = (self.grid.bins, self.low, self.high, self.reach, self.widest * self.widest)
            after = list_near(*own, ranges, candidates, memory)
            count = int(starts[after - first])
            listed = NearArrays(first, after, starts, near[:count].copy(), memory.squares[:count].copy())
            if after == cells and first == 0:
                self._listed.append(listed)
            yield listed
            first = after

    def nearest(self, number: int) -> Floats:
        """Return for each point the squared distances of its ``number`` nearest points, up to the widest radius. The
        points are in the order of the window.
        """
        grid = self.grid
        nearest = np.full((len(grid.order), number), np.inf)
        for listed in self.near():
            list_nearest(self.arguments, listed, nearest)
        found = np.empty_like(nearest)
        found[grid.order] = nearest
        return found

    def labels(self, setting: CellSetting, is_core: Flags | None = None) -> Labels:
        """Return the clusters for a setting. ``is_core``: whether each point of the window is core, if known."""
        grid, square, cells = self.grid, setting.radius * setting.radius, self.arguments
        points = len(grid.order)
        if is_core is None:
            core, least = np.zeros(points, dtype=np.bool_), min(setting.min_samples, points + 1)
            for listed in self.near():
                find_core(cells, listed, square, least, core)
        else:
            core = is_core[grid.order]
        order, values = np.empty_like(grid.order), np.empty_like(grid.values)
        ends = np.empty(grid.cells, dtype=np.int64)
        core_first(grid.order, grid.values, grid.starts, core, ends, order, values)
        parents = np.arange(grid.cells, dtype=np.int32)
        cells = cells._replace(values=values)
        for listed in self.near():
            connect(cells, ends, listed, square, parents)
        cell_labels = np.full(grid.cells, -1, dtype=np.int32)
        clusters = number_cells(order, grid.starts, ends, np.empty(points, dtype=np.int32), parents, cell_labels)
        labels, found = np.empty(points, dtype=np.int32), np.empty(points, dtype=np.bool_)
        for listed in self.near():
            label_points(cells, ends, listed, square, order, cell_labels, labels, found)
        return Labels(labels, found, clusters)


def labels_by_cells(values: Floats, settings: Sequence[CellSetting]) -> Iterator[tuple[CellSetting, Labels]]:
    """Yield the clusters of the points of a window for each of several distinct settings.

    Similar radii share their cells. If there are at least ``_NEAREST_USERS`` settings, the nearest points of each point
    are listed once for all settings. The distance of the k-th nearest point determines whether a point is core.
    """
    if not settings:
        return
    orders = orders_of(values)
    groups = _alike(settings)
    nearest: Floats | None = None
    for group in groups:
        cells = Cells.of(values, group[-1].radius, group[0].radius, orders)
        if nearest is None and len(settings) >= _NEAREST_USERS:
            # The first group has the widest radii.
            number = max(setting.min_samples for setting in settings) - 1
            nearest = cells.nearest(min(max(number, 1), _NEAREST))
        for setting in group:
            yield setting, cells.labels(setting, _core_of(nearest, setting))


def _core_of(nearest: Floats | None, setting: CellSetting) -> Flags | None:
    """Return for each point whether it is a core point for a setting. ``nearest``: the squared distances of its nearest
    points, or None. Return None if too few nearest points are listed to decide this.
    """
    others = setting.min_samples - 1
    if nearest is None or others > nearest.shape[1]:
        return None
    if others == 0:
        return np.ones(len(nearest), dtype=np.bool_)
    found: Flags = nearest[:, others - 1] <= setting.radius * setting.radius
    return found


def _alike(settings: Sequence[CellSetting]) -> list[list[CellSetting]]:
    """Return settings in groups of similar radii, with the greatest radii first."""
    groups: list[list[CellSetting]] = []
    for setting in sorted(settings, key=lambda own: (-own.radius, own.min_samples)):
        if not groups or setting.radius * _ALIKE < groups[-1][0].radius:
            groups.append([])
        groups[-1].append(setting)
    return groups
