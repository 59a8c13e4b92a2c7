"""The keys of geohashes: the cells that contain positions, at each level."""

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
"""The number of low bits of a cell's number in the second digit for grouping. The higher bits are the first digit."""
_Ints = npt.NDArray[np.int64]


def geohash_keys(latitudes: pa.Array, longitudes: pa.Array, bits: Sequence[int]) -> tuple[Key, ...]:
    """Return the key of each level. ``bits``: the number of bits of each level, ascending.

    Cost: some 15 ns for each position, and for each distinct cell a sort and the texts of its levels. The coarser
    levels are computed from the distinct cells of the finest level.
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
    """Return the share of positions out of range among the positions that are not NULL; 0 if all are NULL."""
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
    """Return the distinct cells, ascending, and the code of each position: the index of its cell plus 1, or 0 without a
    cell.
    """
    if not len(cells):
        return cells, frozen(np.zeros(0, dtype=np.int32))
    low_bits = max(0, bits - _DIGIT_BITS)
    # Positions without a cell, -1, get the digit 0.
    digits = [(frozen(((cells >> low_bits) + 1).astype(np.int32)), (1 << bits - low_bits) + 1)]
    if low_bits:
        digits.append((frozen((cells & (1 << low_bits) - 1).astype(np.int32)), 1 << low_bits))
    grouping = Grouping.of(digits, len(cells))
    distinct = cells[grouping.firsts]
    if distinct[0] < 0:
        return distinct[1:], grouping.cells
    return distinct, frozen(grouping.cells + np.int32(1))
