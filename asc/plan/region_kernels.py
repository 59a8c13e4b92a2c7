"""Compiled loops over the bitmaps of regions. Callers guarantee the shapes and dtypes of the arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from asc.compiled import compiled

Array = npt.NDArray[Any]

_ONE = np.uint64(1)


@compiled
def admit_regions(regions: Array, bits: Array, lows: Array, highs: Array) -> None:
    """Set, for each i, bit ``bits[i]`` in the rows ``lows[i]`` to ``highs[i]`` of ``regions`` uint64[rows, words]."""
    for i in range(bits.size):
        word = bits[i] >> 6
        mask = _ONE << np.uint64(bits[i] & 63)
        for row in range(lows[i], highs[i] + 1):
            regions[row, word] |= mask


@compiled
def find_groups(matrix: Array, span: int, groups: Array) -> None:
    """Find, for each row of ``matrix`` uint64[rows, words], the groups of ``span`` words in which the row and row 0
    have a common 1. So the evaluation can skip the other groups.

    Write the result to ``groups`` uint64[rows]: bit g is 1 if group g has a common 1.
    """
    words = matrix.shape[1]
    for row in range(matrix.shape[0]):
        group_bits = np.uint64(0)
        for first in range(0, words, span):
            any_live = np.uint64(0)
            for word in range(first, min(first + span, words)):
                any_live |= matrix[row, word] & matrix[0, word]
            if any_live != 0:
                group_bits |= _ONE << np.uint64(first // span)
        groups[row] = group_bits
