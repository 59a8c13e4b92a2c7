# ruff: noqa: PLR0917 (compiled functions take their arrays one by one, by position)
"""Sixteenths of the cells that cover a shape. Each sixteenth has a state: none, some or all of its positions satisfy
the test of the shape (in short: meet the shape).

The states of a cell's sixteenths are one number in base three, with one digit for each sixteenth, in Z-order, the
lowest first. A digit is EMPTY if no position meets the shape, FILLED if each does, otherwise PARTLY. The number is
stored in the flags of the cell's entry, in the bits that refer to lists of near edges for large shapes. So it takes no
additional memory. With smaller cells instead, each as large as a sixteenth, an index would have four times as many
cells. With the states, three quarters of the entries for the positions in a shape's cells are decided without reading
the shape.

Cost: for each edge of a shape, a few comparisons for each sixteenth along the edge. This is some 3 us for a shape of 18
vertices, once, when a query with the shape is registered.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from asc.compiled import compiled, inlined
from asc.spatial.cells import ACROSS, cell_of, rectangle
from asc.spatial.location import INSIDE, OUTSIDE, is_near, place_in_polygons
from asc.spatial.shape import HEAD_WORDS, RINGS_WORD

Array = npt.NDArray[Any]
Cells = tuple[int, int, int, int]
"""The first and last column, and the first and last row, of the cells that a shape may have."""

EMPTY, PARTLY, FILLED = 0, 1, 2

SUBCELL_LEVELS = 2
"""The number of halvings from the side of a cell to the side of a sixteenth."""

_SIDE = 1 << SUBCELL_LEVELS

SUBCELL_CAPACITY = (_SIDE * (ACROSS + 2)) ** 2
"""The greatest number of sixteenths in all cells of a shape."""

ALL_EMPTY, ALL_FILLED = 0, 3**16 - 1

_PLACES = np.array([3**part for part in range(16)], dtype=np.int64)


@inlined
def subcell_state(number: int, part: int) -> int:
    """Return the state of a sixteenth from the number that has the states of a cell. ``part``: the index of the
    sixteenth in Z-order.
    """
    return int(np.uint32(number) // np.uint32(_PLACES[part]) % np.uint32(3))


@inlined
def subcell_of(key: int, shift: int) -> int:
    """Return the index of the sixteenth of a cell that contains a position. ``key``: the position in the Z-order.
    ``shift``: the size of the cell, as the number of halvings of its side down to the smallest cells.
    """
    return int((key >> np.int64(max(0, 2 * shift - 4))) & 15)


@compiled
def subcells_number(parts: Array, cells: Cells, column: int, row: int) -> int:
    """Return the number that has the states of a cell's sixteenths. ``parts``: the states of the sixteenths of all
    ``cells`` of a shape, as :func:`fill_subcells` writes them.
    """
    first, last, low, _ = cells
    width = (last - first + 1) * _SIDE
    found = 0
    for part in range(15, -1, -1):
        across = (column - first) * _SIDE + (part & 1 | part >> 1 & 2)
        up = (row - low) * _SIDE + (part >> 1 & 1 | part >> 2 & 2)
        found = 3 * found + parts[up * width + across]
    return found


@compiled
def fill_subcells(
    words: Array,
    reals: Array,
    base: int,
    square: Array,
    shift: int,
    cells: Cells,
    moved: float,
    is_area: bool,
    parts: Array,
) -> None:
    """Write the states of the sixteenths of all cells of a shape, row by row. ``is_area``: whether the shape has an
    interior.
    """
    first, last, low, high = cells
    width, height = (last - first + 1) * _SIDE, (high - low + 1) * _SIDE
    size = shift - SUBCELL_LEVELS
    for place in range(width * height):
        parts[place] = EMPTY
    rings = words[base + RINGS_WORD]
    vertices = base + HEAD_WORDS + rings
    begin = vertices
    for ring in range(rings):
        end = vertices + 2 * (words[base + HEAD_WORDS + ring] >> 1)
        for place in range(begin + 2, end, 2):
            edge = reals[place - 2], reals[place - 1], reals[place], reals[place + 1]
            _mark(edge, square, size, first * _SIDE, low * _SIDE, width, height, moved, parts)
        begin = end
    if not is_area:
        return
    for up in range(height):
        for across in range(width):
            place = up * width + across
            if parts[place] == PARTLY:
                continue
            # No edge separates two adjacent sixteenths without edges, so both have the same state.
            if across > 0 and parts[place - 1] != PARTLY:
                parts[place] = parts[place - 1]
            elif up > 0 and parts[place - width] != PARTLY:
                parts[place] = parts[place - width]
            else:
                x0, y0, x1, y1 = rectangle(square, size, first * _SIDE + across, low * _SIDE + up, moved)
                middle = place_in_polygons(words, reals, base, (x0 + x1) / 2, (y0 + y1) / 2)
                parts[place] = FILLED if middle == INSIDE else (EMPTY if middle == OUTSIDE else PARTLY)


@inlined
def _mark(
    edge: tuple[float, float, float, float],
    square: Array,
    size: int,
    first: int,
    low: int,
    width: int,
    height: int,
    moved: float,
    parts: Array,
) -> None:
    """Set to PARTLY each sixteenth in which an edge may have a point. In each row, the sixteenths along the edge are
    tested, and one more on each side.
    """
    ax, ay, bx, by = edge
    begin = (cell_of(min(ay, by) - 2 * square[9], square[6], square[7]) >> size) - low
    end = (cell_of(max(ay, by) + 2 * square[9], square[6], square[7]) >> size) - low
    for up in range(max(0, begin), min(height - 1, end) + 1):
        _, y0, _, y1 = rectangle(square, size, first, low + up, moved)
        least, greatest = min(ax, bx), max(ax, bx)
        if ay != by:
            from_y, to_y = ax + _share(y0, ay, by) * (bx - ax), ax + _share(y1, ay, by) * (bx - ax)
            # The margin of cells covers rounding inside the square only, so an edge that goes beyond it needs its own
            # margin.
            rounded = 1e-15 * (abs(ax) + abs(bx))
            least, greatest = min(from_y, to_y) - rounded, max(from_y, to_y) + rounded
        left = (cell_of(least - moved - 2 * square[8], square[4], square[5]) >> size) - first - 1
        right = (cell_of(greatest - moved + 2 * square[8], square[4], square[5]) >> size) - first + 1
        for across in range(max(0, left), min(width - 1, right) + 1):
            if parts[up * width + across] == PARTLY:
                continue
            x0, y0, x1, y1 = rectangle(square, size, first + across, low + up, moved)
            if is_near(ax, ay, bx, by, x0, y0, x1, y1):
                parts[up * width + across] = PARTLY


@inlined
def _share(y: float, ay: float, by: float) -> float:
    """Return the fraction of an edge, from 0 to 1, at which it reaches the height ``y``. ``ay``, ``by``: the heights of
    its ends. The caller ensures that their difference is a finite double.
    """
    return min(1.0, max(0.0, (y - ay) / (by - ay)))
