"""The keys of geohashes: the cells of positions, at levels of some bits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.frozen import frozen
from asc.operators.cube.computed.geohash_kernels import Positions, geohash_cells
from asc.operators.cube.computed.geohash_text import geohash_texts
from asc.operators.cube.grouping import Grouping
from asc.operators.cube.keys import Codes, Key
from asc.operators.cube.states.doubles import doubles
from asc.operators.cube.states.memory import nulls_of

_DIGIT_BITS = 30
"""The bits of a cell's number that one digit of a group has."""
_Ints = npt.NDArray[np.int64]


def geohash_keys(latitudes: pa.Array, longitudes: pa.Array, bits: Sequence[int]) -> tuple[Key, ...]:
    """Return the key of each level. ``bits``: those of the levels, ascending.

    Cost: some 15 ns for each position, and for each distinct cell a sort and the texts of its levels. The coarser
    levels come from the distinct cells of the finest one.
    """
    cells, codes = _distinct(_cells(latitudes, longitudes, bits[-1]), bits[-1])
    keys = [Key(geohash_texts(cells, bits[-1]), codes)]
    for coarser, finer in reversed(list(pairwise(bits))):
        parents = cells >> (finer - coarser)
        is_first = np.append(True, parents[1:] != parents[:-1])[: len(parents)]
        ranks = np.append(0, np.cumsum(is_first)).astype(np.int32)
        cells, codes = parents[is_first], frozen(ranks[codes])
        keys.append(Key(geohash_texts(cells, coarser), codes))
    return tuple(reversed(keys))


def share_out_of_range(latitudes: pa.Array, longitudes: pa.Array) -> float:
    """Return the share of positions without a cell among those that are not NULL; 0 if there are none."""
    is_null = np.zeros(len(latitudes), dtype=np.bool_)
    for column in (latitudes, longitudes):
        nulls = nulls_of(column)
        is_null |= nulls if len(nulls) else False
    known = int(np.count_nonzero(~is_null))
    return float(np.count_nonzero((_cells(latitudes, longitudes, 1) < 0) & ~is_null)) / max(1, known)


def _cells(latitudes: pa.Array, longitudes: pa.Array, bits: int) -> _Ints:
    """Return the number of each position's cell, int64[n], -1 for a position without a cell."""
    positions = Positions(doubles(latitudes), doubles(longitudes), nulls_of(latitudes), nulls_of(longitudes))
    cells = np.empty(len(latitudes), dtype=np.int64)
    geohash_cells(positions, bits, cells)
    return cells


def _distinct(cells: _Ints, bits: int) -> tuple[_Ints, Codes]:
    """Return the distinct cells, ascending, and for each position the place of its cell among them plus 1, or 0 without
    a cell.
    """
    if not len(cells):
        return cells, frozen(np.zeros(0, dtype=np.int32))
    low_bits = max(0, bits - _DIGIT_BITS)
    # The digit 0 is that of positions without a cell.
    digits = [(frozen(((cells >> low_bits) + 1).astype(np.int32)), (1 << bits - low_bits) + 1)]
    if low_bits:
        digits.append((frozen((cells & (1 << low_bits) - 1).astype(np.int32)), 1 << low_bits))
    grouping = Grouping.of(digits, len(cells))
    distinct = cells[grouping.firsts]
    if distinct[0] < 0:
        return distinct[1:], grouping.cells
    return distinct, frozen(grouping.cells + np.int32(1))
