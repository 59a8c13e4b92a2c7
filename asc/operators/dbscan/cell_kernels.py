# ruff: noqa: PLR0917 (compiled functions take their arrays one by one, by position)
"""Compiled loops over the cells of a grid, all of whose points are neighbours of each other."""

from __future__ import annotations

from typing import Any

from asc.compiled import compiled
from asc.operators.dbscan.chain_kernels import root_of
from asc.operators.dbscan.grid_kernels import cells_near
from asc.operators.dbscan.neighbour_kernels import squared_distance

Array = Any


@compiled
def bound(values: Array, starts: Array, ends: Array, low: Array, high: Array) -> None:
    """Write the least and the greatest value of each attribute over the points of a cell from start to end."""
    for cell in range(ends.size):
        for place in range(values.shape[1]):
            for i in range(starts[cell], ends[cell]):
                value = values[i, place]
                if i == starts[cell] or value < low[cell, place]:
                    low[cell, place] = value
                if i == starts[cell] or value > high[cell, place]:
                    high[cell, place] = value


@compiled
def _least_square(values: Array, point: int, low: Array, high: Array, cell: int) -> float:
    """Return a bound below the squared distance of a point to each point of a cell: rounding keeps the order."""
    total = 0.0
    for place in range(values.shape[1]):
        value = values[point, place]
        difference = 0.0
        if value < low[cell, place]:
            difference = low[cell, place] - value
        elif value > high[cell, place]:
            difference = value - high[cell, place]
        total += difference * difference
    return total


@compiled
def _greatest_square(values: Array, point: int, low: Array, high: Array, cell: int) -> float:
    """Return a bound above the squared distance of a point to each point of a cell: rounding keeps the order."""
    total = 0.0
    for place in range(values.shape[1]):
        value = values[point, place]
        difference = max(value - low[cell, place], high[cell, place] - value)
        total += difference * difference
    return total


@compiled
def find_core(
    values: Array,
    starts: Array,
    bins: Array,
    reach: int,
    low: Array,
    high: Array,
    square: float,
    least: int,
    ranges: Array,
    near: Array,
    is_core: Array,
) -> None:
    """Write whether each point, in the order of the cells, has at least ``least`` neighbours."""
    for cell in range(bins.shape[0]):
        own = starts[cell + 1] - starts[cell]
        if own >= least:
            for i in range(starts[cell], starts[cell + 1]):
                is_core[i] = True
            continue
        found = cells_near(bins, cell, reach, bins.shape[0] - 1, ranges, near)
        for i in range(starts[cell], starts[cell + 1]):
            count = own
            for k in range(found):
                other = near[k]
                if other == cell or _least_square(values, i, low, high, other) > square:
                    continue
                if _greatest_square(values, i, low, high, other) <= square:
                    count += starts[other + 1] - starts[other]
                else:
                    for j in range(starts[other], starts[other + 1]):
                        if squared_distance(values, i, j) <= square:
                            count += 1
                            if count >= least:
                                break
                if count >= least:
                    break
            is_core[i] = count >= least


@compiled
def core_first(
    order: Array, values: Array, starts: Array, is_core: Array, ends: Array, own: Array, moved: Array
) -> None:
    """Write the points of each cell with the core ones first, to ``own`` and ``moved``, and where these end."""
    for cell in range(ends.size):
        place = starts[cell]
        for turn in range(2):
            for i in range(starts[cell], starts[cell + 1]):
                if is_core[i] == (turn == 0):
                    own[place] = order[i]
                    for k in range(values.shape[1]):
                        moved[place, k] = values[i, k]
                    place += 1
            if turn == 0:
                ends[cell] = place


@compiled
def _are_connected(
    values: Array, starts: Array, ends: Array, low: Array, high: Array, square: float, one: int, other: int
) -> bool:
    """Return whether two cells have core points that are neighbours."""
    for i in range(starts[one], ends[one]):
        if _least_square(values, i, low, high, other) > square:
            continue
        for j in range(starts[other], ends[other]):
            if squared_distance(values, i, j) <= square:
                return True
    return False


@compiled
def connect(
    values: Array,
    starts: Array,
    ends: Array,
    bins: Array,
    reach: int,
    low: Array,
    high: Array,
    square: float,
    ranges: Array,
    near: Array,
    parents: Array,
) -> None:
    """Unite cells whose core points are neighbours. ``ends``: where the core points of each cell end; ``low`` and
    ``high`` bound these.
    """
    for cell in range(bins.shape[0]):
        if ends[cell] == starts[cell]:
            continue
        found = cells_near(bins, cell, reach, cell - 1, ranges, near)
        # Backwards: the last ones are those beside it.
        for k in range(found - 1, -1, -1):
            other = near[k]
            if ends[other] == starts[other]:
                continue
            one, two = root_of(parents, cell), root_of(parents, other)
            if one != two and _are_connected(values, starts, ends, low, high, square, cell, other):
                parents[max(one, two)] = min(one, two)


@compiled
def number_cells(order: Array, starts: Array, ends: Array, cell_of: Array, parents: Array, labels: Array) -> int:
    """Write the label of each cell with core points, by the first core point of its component; return their number.

    ``cell_of`` gets the cell of each core point in order, -1 for others. ``labels`` int32[cells] is of -1.
    """
    for point in range(cell_of.size):
        cell_of[point] = -1
    for cell in range(ends.size):
        for i in range(starts[cell], ends[cell]):
            cell_of[order[i]] = cell
    count = 0
    for point in range(cell_of.size):
        if cell_of[point] >= 0:
            root = root_of(parents, cell_of[point])
            if labels[root] < 0:
                labels[root] = count
                count += 1
    for cell in range(ends.size):
        if ends[cell] > starts[cell]:
            labels[cell] = labels[root_of(parents, cell)]
    return count


@compiled
def label_points(
    order: Array,
    values: Array,
    starts: Array,
    ends: Array,
    bins: Array,
    reach: int,
    low: Array,
    high: Array,
    square: float,
    ranges: Array,
    near: Array,
    cell_labels: Array,
    labels: Array,
    is_core: Array,
) -> None:
    """Write the label of each point, and whether it is core, from those of the cells."""
    for cell in range(bins.shape[0]):
        for i in range(starts[cell], ends[cell]):
            labels[order[i]] = cell_labels[cell]
            is_core[order[i]] = True
        if ends[cell] == starts[cell + 1]:
            continue
        found = cells_near(bins, cell, reach, bins.shape[0] - 1, ranges, near)
        for i in range(ends[cell], starts[cell + 1]):
            lowest = cell_labels[cell]
            for k in range(found):
                other = near[k]
                if cell_labels[other] < 0 or 0 <= lowest <= cell_labels[other]:
                    continue
                if _least_square(values, i, low, high, other) > square:
                    continue
                for j in range(starts[other], ends[other]):
                    if squared_distance(values, i, j) <= square:
                        lowest = cell_labels[other]
                        break
            labels[order[i]] = lowest
            is_core[order[i]] = False
