"""Lists of geohashes as scopes of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from asc.operators.cube.computed.geohash_text import BITS_MAX
from asc.operators.cube.within.scope import INSIDE, OUTSIDE, TOUCHED, Cells, Classes, Pause


@dataclass(frozen=True, slots=True)
class CellScope:
    """The union of the cells of geohashes.

    ``intervals``: disjoint intervals of numbers of cells with BITS_MAX bits, ascending: a first number, and the number
    after the last. Adjacent intervals are united.
    """

    intervals: tuple[tuple[int, int], ...]

    @staticmethod
    def of(geohashes: Sequence[tuple[int, int]]) -> CellScope:
        """Return the union of geohashes. A geohash is the number of its cell and its number of bits."""
        merged: list[tuple[int, int]] = []
        for number, bits in sorted(geohashes, key=lambda own: (own[0] << (BITS_MAX - own[1]), own[1])):
            first, end = number << (BITS_MAX - bits), (number + 1) << (BITS_MAX - bits)
            if merged and first <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((first, end))
        return CellScope(tuple(merged))

    def classes(self, cells: Cells, bits: int, pause: Pause) -> Classes:
        """Return the class of each cell: outside, touched or inside. Cost: a bisection among the intervals for each
        cell.
        """
        pause()
        firsts, ends = np.array(self.intervals, dtype=np.int64).T
        begin, close = cells << (BITS_MAX - bits), (cells + 1) << (BITS_MAX - bits)
        # The index of the first interval that ends after the cell begins.
        place = np.searchsorted(ends, begin, side="right")
        near = np.minimum(place, len(ends) - 1)
        is_near = (place < len(ends)) & (firsts[near] < close)
        is_inside = is_near & (firsts[near] <= begin) & (close <= ends[near])
        return np.where(is_inside, INSIDE, np.where(is_near, TOUCHED, OUTSIDE)).astype(np.uint8)
