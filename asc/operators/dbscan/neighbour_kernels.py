# ruff: noqa: PLR0917 (compiled functions take their arguments by position)
"""Compiled loops that find pairs of neighbours and list them by point. The rank of a pair is the index of the smallest
radius that reaches it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from asc.compiled import compiled
from asc.operators.dbscan.grid_kernels import cells_near

Array = Any


class GridArrays(NamedTuple):
    """The arrays of a :class:`asc.operators.dbscan.grid.Grid` as kernels read them."""

    order: Array
    values: Array
    starts: Array
    bins: Array


@compiled
def squared_distance(values: Array, one: int, other: int) -> Any:
    """Return the sum of the squared differences of two rows, in the order of the attributes."""
    first = values[one, 0] - values[other, 0]
    total = first * first
    for place in range(1, values.shape[1]):
        difference = values[one, place] - values[other, place]
        total += difference * difference
    return total


@compiled
def rank_of(squares: Array, square: float) -> int:
    """Return the index of the first number in ``squares`` that is at least ``square``. The caller ensures that the
    numbers in ``squares`` are ascending.
    """
    low, high = 0, squares.size
    while low < high:
        middle = (low + high) >> 1
        if squares[middle] < square:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def search(
    grid: GridArrays,
    new_from: int,
    squares: Array,
    ranges: Array,
    near: Array,
    newer: Array,
    older: Array,
    ranks: Array,
) -> int:
    """Write to ``newer``, ``older`` and ``ranks`` the pairs of neighbours in which at least one point is at or after
    ``new_from``. Return the number of pairs.

    Return -1 if ``newer`` lacks capacity for all pairs.

    ``squares``: the squares of the radii, ascending. ``ranges`` and ``near`` are scratch. The caller ensures that the
    side of the grid is at least the largest radius.
    """
    order, values, starts, bins = grid.order, grid.values, grid.starts, grid.bins
    count, capacity, widest = 0, newer.size, squares[squares.size - 1]
    for cell in range(bins.shape[0]):
        # The points of a cell ascend.
        is_new = order[starts[cell + 1] - 1] >= new_from
        found = cells_near(bins, cell, 1, cell, ranges, near)
        for k in range(found):
            other = near[k]
            if not is_new and order[starts[other + 1] - 1] < new_from:
                continue
            for i in range(starts[cell], starts[cell + 1]):
                point = order[i]
                end = i if other == cell else starts[other + 1]
                for j in range(starts[other], end):
                    if point < new_from and order[j] < new_from:
                        continue
                    square = squared_distance(values, i, j)
                    if square <= widest:
                        if count == capacity:
                            return -1
                        newer[count] = max(point, order[j])
                        older[count] = min(point, order[j])
                        ranks[count] = rank_of(squares, square)
                        count += 1
    return count


@compiled
def sample_ranks(values: Array, step: int, squares: Array, counts: Array) -> None:
    """Count the neighbours of every ``step``-th point by rank, in ``counts``. ``squares``: the squares of the radii,
    ascending.
    """
    widest = squares[squares.size - 1]
    for i in range(0, values.shape[0], step):
        for j in range(values.shape[0]):
            square = squared_distance(values, i, j)
            if square <= widest and i != j:
                counts[rank_of(squares, square)] += 1


@compiled
def by_older(newer: Array, older: Array, ranks: Array, ends: Array, out_newer: Array, out_ranks: Array) -> None:
    """Write the pairs to ``out_newer`` and ``out_ranks``, sorted by their older point. ``ends`` int64[points + 1],
    initially zeros, receives the end of each point's pairs.
    """
    for k in range(older.size):
        ends[older[k] + 1] += 1
    for point in range(1, ends.size):
        ends[point] += ends[point - 1]
    for k in range(older.size):
        place = ends[older[k]]
        out_newer[place] = newer[k]
        out_ranks[place] = ranks[k]
        ends[older[k]] = place + 1


@compiled
def by_newer(newer: Array, ranks: Array, ends: Array, starts: Array, out_older: Array, out_ranks: Array) -> None:
    """Write the pairs as lists by their newer point. Each list has the newest of its older points first. The caller
    ensures that the given pairs are sorted by their older point.

    ``ends``: the end of the pairs of each older point. ``starts`` int64[points + 1], initially zeros, receives the
    starts of the lists.
    """
    for k in range(newer.size):
        starts[newer[k] + 1] += 1
    for point in range(1, starts.size):
        starts[point] += starts[point - 1]
    point = ends.size - 2
    while point >= 0:
        for k in range(ends[point - 1] if point else 0, ends[point]):
            place = starts[newer[k]]
            out_older[place] = point
            out_ranks[place] = ranks[k]
            starts[newer[k]] = place + 1
        point -= 1
    # Each start has moved to its end, which is the start of the next.
    for point in range(starts.size - 1, 0, -1):
        starts[point] = starts[point - 1]
    starts[0] = 0
