# ruff: noqa: PLR0917 (compiled functions take their arguments by position)
"""Compiled loops over the cells of a grid, which find the clusters of a window without a list of its neighbouring
points. All points of a cell are neighbours of each other.

If one number is at most another, this also holds after rounding. So a bound on the differences of two points, squared
and summed, is a bound on their squared distance, too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from asc.compiled import compiled
from asc.operators.dbscan.chain_kernels import root_of
from asc.operators.dbscan.grid_kernels import cells_near
from asc.operators.dbscan.neighbour_kernels import squared_distance

Array = Any

_SORTED = 64
"""The largest number of near cells in a list that is sorted by distance. Sorting a list takes time proportional to the
square of its length.
"""


class CellArrays(NamedTuple):
    """The points of a window by cells.

    ``values`` float64[points, attributes]: the attributes of the points, sorted by cell. ``starts`` int64[cells + 1]:
    the index at which each cell begins in ``values``. ``low`` and ``high`` float64[cells, attributes]: the least and
    the greatest value of each attribute in each cell.
    """

    values: Array
    starts: Array
    low: Array
    high: Array


class NearArrays(NamedTuple):
    """Lists of near cells, one list for each cell from ``first`` to before ``after``. Near cells may contain neighbours
    of the cell's points. A list of at most _SORTED cells has the nearest cell first.

    ``starts``: the start of each list in ``near``. ``near``: the near cells of all lists. ``squares``: for each near
    cell, a lower bound of the squared distance between points of the two cells.
    """

    first: int
    after: int
    starts: Array
    near: Array
    squares: Array


@compiled
def bound(values: Array, starts: Array, low: Array, high: Array) -> None:
    """Write the least and the greatest value of each attribute in each cell to ``low`` and ``high``."""
    for cell in range(low.shape[0]):
        for place in range(values.shape[1]):
            low[cell, place] = high[cell, place] = values[starts[cell], place]
        for i in range(starts[cell] + 1, starts[cell + 1]):
            for place in range(values.shape[1]):
                low[cell, place] = min(low[cell, place], values[i, place])
                high[cell, place] = max(high[cell, place], values[i, place])


@compiled
def list_near(
    bins: Array,
    low: Array,
    high: Array,
    reach: int,
    square: float,
    ranges: Array,
    candidates: Array,
    listed: NearArrays,
) -> int:
    """Write the lists of near cells to ``listed``, for each cell from ``listed.first`` on, until ``listed.near`` is
    full. Return the first cell without a list, or the number of cells if all lists are complete.

    A cell is near another cell if the squared distance of the boxes around their points is at most ``square``. The
    caller ensures that ``near`` has capacity for the list of at least one cell.
    """
    first, near_starts, near, squares = listed.first, listed.starts, listed.near, listed.squares
    count = 0
    near_starts[0] = 0
    for cell in range(first, bins.shape[0]):
        begin = count
        for k in range(cells_near(bins, cell, reach, bins.shape[0] - 1, ranges, candidates)):
            other = candidates[k]
            box_square = _square_between(low, high, cell, other)
            if other == cell or box_square > square:
                continue
            if count == near.size:
                return cell
            place = count
            while begin < place <= begin + _SORTED and squares[place - 1] > box_square:
                near[place], squares[place] = near[place - 1], squares[place - 1]
                place -= 1
            near[place], squares[place] = other, box_square
            count += 1
        near_starts[cell - first + 1] = count
    cells: int = bins.shape[0]
    return cells


@compiled
def _square_between(low: Array, high: Array, one: int, other: int) -> float:
    """Return a lower bound of the squared distances between the points of two cells."""
    total = 0.0
    for place in range(low.shape[1]):
        difference = max(low[other, place] - high[one, place], low[one, place] - high[other, place])
        if difference > 0:
            total += difference * difference
    return total


@compiled
def _least_square(values: Array, point: int, low: Array, high: Array, cell: int) -> float:
    """Return a lower bound of the squared distances between a point and the points of a cell."""
    total = 0.0
    for place in range(values.shape[1]):
        difference = max(low[cell, place] - values[point, place], values[point, place] - high[cell, place])
        if difference > 0:
            total += difference * difference
    return total


@compiled
def _greatest_square(values: Array, point: int, low: Array, high: Array, cell: int) -> float:
    """Return an upper bound of the squared distances between a point and the points of a cell."""
    total = 0.0
    for place in range(values.shape[1]):
        difference = max(values[point, place] - low[cell, place], high[cell, place] - values[point, place])
        total += difference * difference
    return total


@compiled
def list_nearest(cells: CellArrays, listed: NearArrays, nearest: Array) -> None:
    """Write the squared distances from each point to its nearest other points, ascending.

    ``nearest`` float64[points, number] receives the distances for the cells of ``listed``. It initially holds
    infinities, which remain if a point has fewer other points within reach.
    """
    values, starts, low, high = cells.values, cells.starts, cells.low, cells.high
    first, near_starts, near, squares = listed.first, listed.starts, listed.near, listed.squares
    number = nearest.shape[1]
    for cell in range(first, listed.after):
        for i in range(starts[cell], starts[cell + 1]):
            _insert_nearest(values, i, starts[cell], starts[cell + 1], nearest)
            for k in range(near_starts[cell - first], near_starts[cell - first + 1]):
                other, farthest = near[k], nearest[i, number - 1]
                if squares[k] > farthest:
                    continue
                if _least_square(values, i, low, high, other) <= farthest:
                    _insert_nearest(values, i, starts[other], starts[other + 1], nearest)


@compiled
def _insert_nearest(values: Array, point: int, begin: int, end: int, nearest: Array) -> None:
    last = nearest.shape[1] - 1
    for j in range(begin, end):
        square = squared_distance(values, point, j)
        if j == point or square >= nearest[point, last]:
            continue
        place = last
        while place > 0 and nearest[point, place - 1] > square:
            nearest[point, place] = nearest[point, place - 1]
            place -= 1
        nearest[point, place] = square


@compiled
def find_core(cells: CellArrays, listed: NearArrays, square: float, least: int, is_core: Array) -> None:
    """Write to ``is_core`` whether each point of the cells in ``listed`` has at least ``least`` neighbours: points at a
    squared distance of at most ``square``. The point itself counts as a neighbour.
    """
    values, starts, low, high = cells.values, cells.starts, cells.low, cells.high
    first, near_starts, near, squares = listed.first, listed.starts, listed.near, listed.squares
    for cell in range(first, listed.after):
        points_in_cell = starts[cell + 1] - starts[cell]
        begin, end = near_starts[cell - first], near_starts[cell - first + 1]
        most = points_in_cell
        for k in range(begin, end):
            if squares[k] <= square:
                most += starts[near[k] + 1] - starts[near[k]]
        for i in range(starts[cell], starts[cell + 1]):
            if points_in_cell >= least or most < least:
                is_core[i] = points_in_cell >= least
                continue
            count = points_in_cell
            for k in range(begin, end):
                if count >= least:
                    break
                other = near[k]
                if squares[k] > square or _least_square(values, i, low, high, other) > square:
                    continue
                if _greatest_square(values, i, low, high, other) <= square:
                    count += starts[other + 1] - starts[other]
                    continue
                for j in range(starts[other], starts[other + 1]):
                    if squared_distance(values, i, j) <= square:
                        count += 1
                        if count >= least:
                            break
            is_core[i] = count >= least


@compiled
def core_first(
    order: Array, values: Array, starts: Array, is_core: Array, ends: Array, core_order: Array, moved: Array
) -> None:
    """Write the points of each cell to ``core_order``, with the core points first. Write the attributes of the points
    to ``moved`` in this order. Write the end of each cell's core points to ``ends``.
    """
    for cell in range(ends.size):
        place = starts[cell]
        for turn in range(2):
            for i in range(starts[cell], starts[cell + 1]):
                if is_core[i] == (turn == 0):
                    core_order[place] = order[i]
                    for k in range(values.shape[1]):
                        moved[place, k] = values[i, k]
                    place += 1
            if turn == 0:
                ends[cell] = place


@compiled
def _are_connected(cells: CellArrays, ends: Array, square: float, one: int, other: int) -> bool:
    """Return whether a core point of one cell and a core point of the other cell are neighbours."""
    values, starts, low, high = cells.values, cells.starts, cells.low, cells.high
    for i in range(starts[one], ends[one]):
        if _least_square(values, i, low, high, other) > square:
            continue
        for j in range(starts[other], ends[other]):
            if squared_distance(values, i, j) <= square:
                return True
    return False


@compiled
def connect(cells: CellArrays, ends: Array, listed: NearArrays, square: float, parents: Array) -> None:
    """Unite two cells in the union-find ``parents`` if a core point of one cell is a neighbour of a core point of the
    other cell. ``ends``: the end of each cell's core points.
    """
    starts, first = cells.starts, listed.first
    near_starts, near, squares = listed.starts, listed.near, listed.squares
    for cell in range(first, listed.after):
        if ends[cell] == starts[cell]:
            continue
        for k in range(near_starts[cell - first], near_starts[cell - first + 1]):
            other = near[k]
            if squares[k] > square or other > cell or ends[other] == starts[other]:
                continue
            one, two = root_of(parents, cell), root_of(parents, other)
            if one != two and _are_connected(cells, ends, square, cell, other):
                parents[max(one, two)] = min(one, two)


@compiled
def number_cells(order: Array, starts: Array, ends: Array, cell_of: Array, parents: Array, labels: Array) -> int:
    """Assign a number to each component of connected cells, in the order of the components' first core points. Write to
    ``labels`` the component's number for each cell with core points. Return the number of components.

    ``cell_of`` receives the cell of each core point in order, -1 for other points. ``labels`` int32[cells] initially
    holds -1.
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
    cells: CellArrays,
    ends: Array,
    listed: NearArrays,
    square: float,
    order: Array,
    cell_labels: Array,
    labels: Array,
    is_core: Array,
) -> None:
    """Write to ``labels`` the label of each point of the cells in ``listed``, from the labels of the cells. Also write
    to ``is_core`` whether each point is a core point.
    """
    values, starts, low, high = cells.values, cells.starts, cells.low, cells.high
    first, near_starts, near, squares = listed.first, listed.starts, listed.near, listed.squares
    for cell in range(first, listed.after):
        for i in range(starts[cell], ends[cell]):
            labels[order[i]] = cell_labels[cell]
            is_core[order[i]] = True
        for i in range(ends[cell], starts[cell + 1]):
            lowest = cell_labels[cell]
            for k in range(near_starts[cell - first], near_starts[cell - first + 1]):
                other = near[k]
                if squares[k] > square or cell_labels[other] < 0 or 0 <= lowest <= cell_labels[other]:
                    continue
                if _least_square(values, i, low, high, other) > square:
                    continue
                for j in range(starts[other], ends[other]):
                    if squared_distance(values, i, j) <= square:
                        lowest = cell_labels[other]
                        break
            labels[order[i]] = lowest
            is_core[order[i]] = False
