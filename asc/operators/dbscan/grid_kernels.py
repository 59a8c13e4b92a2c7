# ruff: noqa: PLR0917 (compiled functions take their arrays one by one, by position)
"""Compiled loops over the bins of a grid (:class:`asc.operators.dbscan.grid.Grid`). A bin is an interval of one
attribute, and a cell is the set of points with the same bins.
"""

from __future__ import annotations

from typing import Any

from asc.compiled import compiled

Array = Any


@compiled
def bin_values(values: Array, order: Array, side: float, bins: Array) -> int:
    """Write the number of the bin of each value to ``bins``, and return the number of bins. A bin begins at a value and
    is ``side`` wide. ``order``: the indices of the values, ascending by value.
    """
    if not order.size:
        return 0
    number, begin = 0, values[order[0]]
    for point in order:
        value = values[point]
        if value - begin > side:
            number += 1
            begin = value
        bins[point] = number
    return number + 1


@compiled
def sort_by_bin(order: Array, bins: Array, ends: Array, out: Array) -> None:
    """Write the points of ``order`` to ``out``, sorted by bin; points of one bin keep their order. ``ends`` int64[bins
    + 1], initially zeros, is scratch.
    """
    for point in order:
        ends[bins[point] + 1] += 1
    for number in range(1, ends.size):
        ends[number] += ends[number - 1]
    for point in order:
        out[ends[bins[point]]] = point
        ends[bins[point]] += 1


@compiled
def find_cells(order: Array, bins: Array, starts: Array) -> int:
    """Write to ``starts`` the start of each cell in ``order``, and the end of the last cell. Return the number of
    cells. ``order``: the points, sorted by their bins. ``bins`` int32[attributes, points].
    """
    count = 0
    for i in range(order.size):
        is_new = i == 0
        for place in range(bins.shape[0]):
            if i > 0 and bins[place, order[i]] != bins[place, order[i - 1]]:
                is_new = True
        if is_new:
            starts[count] = i
            count += 1
    starts[count] = order.size
    return count


@compiled
def cells_near(bins: Array, cell: int, reach: int, last: int, ranges: Array, cells: Array) -> int:
    """Write to ``cells`` the cells near a cell, ascending, and return their number. A near cell has an index up to
    ``last``, and each of its bins differs by at most ``reach`` from the bin of ``cell``.

    ``ranges`` int64[2, attributes] is scratch. Cost: two searches for each bin of each attribute in the range.
    """
    attributes = bins.shape[1]
    level, count = 0, 0
    ranges[0, 0] = _lower_bound(bins, 0, last + 1, 0, bins[cell, 0] - reach)
    ranges[1, 0] = last + 1
    while level >= 0:
        place, end = ranges[0, level], ranges[1, level]
        if place >= end or bins[place, level] > bins[cell, level] + reach:
            level -= 1
        elif level == attributes - 1:
            while place < end and bins[place, level] <= bins[cell, level] + reach:
                cells[count] = place
                count += 1
                place += 1
            level -= 1
        else:
            after = _lower_bound(bins, place, end, level, bins[place, level] + 1)
            ranges[0, level] = after
            ranges[0, level + 1] = _lower_bound(bins, place, after, level + 1, bins[cell, level + 1] - reach)
            ranges[1, level + 1] = after
            level += 1
    return count


@compiled
def _lower_bound(bins: Array, low: int, high: int, level: int, least: int) -> int:
    """Return the first cell from ``low`` to before ``high`` whose bin of the attribute ``level`` is at least ``least``.
    Return ``high`` if there is no such cell.
    """
    while low < high:
        middle = (low + high) >> 1
        if bins[middle, level] < least:
            low = middle + 1
        else:
            high = middle
    return low
