"""Cells: the quadtree cells of a square, 2**26 columns by 2**26 rows, numbered in Z-order."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from asc.compiled import compiled

Array = npt.NDArray[Any]

LEVELS = 26
"""The number of times that the square is divided into four; a position in the Z-order has as many pairs of bits."""

SIDE = 1 << LEVELS

ACROSS = 4
"""The approximate number of cells of a cover across the width or height of its shape."""


@compiled
def spread(value: int) -> int:
    """Return the low 32 bits of a number, with a zero bit inserted above each bit. :func:`z_order` combines two such
    numbers.
    """
    value &= 0xFFFFFFFF
    value = (value | (value << 16)) & 0x0000FFFF0000FFFF
    value = (value | (value << 8)) & 0x00FF00FF00FF00FF
    value = (value | (value << 4)) & 0x0F0F0F0F0F0F0F0F
    value = (value | (value << 2)) & 0x3333333333333333
    return (value | (value << 1)) & 0x5555555555555555


@compiled
def z_order(column: int, row: int) -> int:
    """Return the index of a cell in the Z-order, whose bits are alternately those of the column and of the row."""
    return spread(column) | (spread(row) << 1)


@compiled
def cell_of(value: float, origin: float, scale: float) -> int:
    """Return the column of cells that contains an x, or the row that contains a y. Coordinates beyond the square are in
    the outermost column or row.

    The function is monotone in spite of rounding: a greater coordinate never has a lower column or row.
    """
    place = (value - origin) * scale
    if not place > 0.0:
        return 0
    if place >= SIDE - 1:
        return SIDE - 1
    return int(place)


@compiled
def rectangle(square: Array, shift: int, column: int, row: int, moved: float) -> tuple[float, float, float, float]:
    """Return the least x, least y, greatest x and greatest y of a cell, which is slightly enlarged. ``shift``: the size
    of the cell, as the number of halvings of its side down to the smallest cells. ``moved`` is added to each x.
    """
    x0 = square[4] + (column << shift) / square[5] - square[8]
    x1 = square[4] + ((column + 1) << shift) / square[5] + square[8]
    y0 = square[6] + (row << shift) / square[7] - square[9]
    y1 = square[6] + ((row + 1) << shift) / square[7] + square[9]
    if column == 0:
        x0 = min(x0, square[0])
    if (column + 1) << shift == SIDE:
        x1 = max(x1, square[1])
    if row == 0:
        y0 = min(y0, square[2])
    if (row + 1) << shift == SIDE:
        y1 = max(y1, square[3])
    return x0 + moved, y0, x1 + moved, y1
