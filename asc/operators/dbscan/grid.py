"""Grids: points sorted into cells, for any number of attributes and any magnitude of values."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from asc.operators.dbscan.grid_kernels import bin_values, find_cells, sort_by_bin
from asc.operators.dbscan.points import Codes, Floats, Ints

_DOUBT = 1e-9
"""The relative margin that is added to a radius, or subtracted from the side of a cell. It is far above the rounding
error of a sum of squares.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Points by cells. The bin of a cell along an attribute is the number of an interval that is at least ``side``
    wide.

    A cell is the set of points with the same bins. ``order``: the points by cell, ascending within a cell. ``values``:
    their attributes in this order. ``starts`` int64[cells + 1]: where each cell begins in ``order``. ``bins``
    int32[cells, attributes], in ascending order.

    Invariant: two points of a cell differ by at most ``side`` in each attribute, in float64 subtraction. Two points
    whose bins differ by k differ by more than ``(k - 1) * side``. A bin begins at a value and not at a multiple of the
    side. So neither a large value nor a wide range loses precision.
    """

    order: Ints
    values: Floats
    starts: Ints
    bins: Codes

    @staticmethod
    def of(values: Floats, side: float, orders: Ints | None = None) -> Grid:
        """Return the grid of points. ``side``: the largest difference of two points of a cell in an attribute.
        ``orders``: the result of :func:`orders_of`, if known.
        """
        count, attributes = values.shape
        orders = orders_of(values) if orders is None else orders
        bins = np.empty((attributes, count), dtype=np.int32)
        order, other = np.arange(count), np.empty(count, dtype=np.int64)
        # From the last attribute to the first, each keeping the order of the ones after it.
        for place in range(attributes - 1, -1, -1):
            width = bin_values(np.ascontiguousarray(values[:, place]), orders[place], side, bins[place])
            sort_by_bin(order, bins[place], np.zeros(width + 1, dtype=np.int64), other)
            order, other = other, order
        starts = np.empty(count + 1, dtype=np.int64)
        starts = starts[: find_cells(order, bins, starts) + 1]
        return Grid(order, values[order], starts, np.ascontiguousarray(bins[:, order[starts[:-1]]].T))

    @property
    def cells(self) -> int:
        """Return the number of cells."""
        return len(self.bins)


def orders_of(values: Floats) -> Ints:
    """Return for each attribute the indices of the points, sorted by the attribute in ascending order,
    int64[attributes, points].
    """
    return np.array([np.argsort(column) for column in values.T], dtype=np.int64).reshape(values.shape[::-1])


def reach_of(radius: float) -> float:
    """Return the distance in one attribute beyond which two points are no neighbours, even with the rounding of squares
    and sums in float64.

    >>> reach_of(0.5) >= 0.5, reach_of(1e-160) > 1e-160
    (True, True)
    """
    return math.sqrt(math.nextafter(radius * radius, math.inf)) * (1 + _DOUBT)


def side_within(radius: float, attributes: int) -> float:
    """Return the side of a cell in which all points are neighbours, even with the rounding in float64. It is a little
    less than ``radius`` divided by the square root of ``attributes``.

    >>> round(side_within(1.0, 4), 6)
    0.5
    """
    side = radius / math.sqrt(attributes) * (1 - _DOUBT)
    while sum(side * side for _ in range(attributes)) > radius * radius:
        side *= 1 - _DOUBT ** (1 / 3)
    return side
