"""The locality of a shape: its position in a Z-order, by which neighbouring shapes sort near each other. The module
does not load the kernels.
"""

from __future__ import annotations

import math

_BITS = 26


def locality(x: float, y: float, side: float) -> int:
    """Return the index of a position in the Z-order of a square with a given side around 0. The square repeats in all
    directions, so that every position has an index.

    >>> locality(0.0, 0.0, 360.0) < locality(1.0, 1.0, 360.0)
    True
    """
    column, row = (int(math.fmod(value / side + 0.5, 1.0) % 1.0 * (1 << _BITS)) for value in (x, y))
    return _interleaved(column) | _interleaved(row) << 1


def _interleaved(value: int) -> int:
    # Reading the binary digits in base four puts a zero between two bits.
    return int(format(value, "b"), 4)
