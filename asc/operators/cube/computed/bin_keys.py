"""Keys of bins: the lower edge of each value's bin, at each level."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.frozen import frozen
from asc.operators.cube.computed.bin_edges import BinEdges, levels_of
from asc.operators.cube.computed.bin_kernels import find_bins, write_codes
from asc.operators.cube.computed.bin_sample import Floats
from asc.operators.cube.keys import Key
from asc.operators.cube.states.doubles import doubles
from asc.operators.cube.states.memory import nulls_of


def bin_numbers(edges: BinEdges, values: Floats) -> npt.NDArray[np.int32]:
    """Return the number of each value's bin. The first bin has the number 0.

    >>> bin_numbers(BinEdges((1.0, 2.5, 7.0)), np.array([0.0, 1.0, 6.9, 7.0, float("nan")])).tolist()
    [0, 1, 2, 3, 3]
    """
    found = np.empty(len(values), dtype=np.int32)
    find_bins(values, edges.array, found)
    return found


def bin_keys(edges: BinEdges, column: pa.Array) -> tuple[Key, ...]:
    """Return the key of each level, from coarse to fine. ``column``: numbers of any Arrow type of numbers.

    Cost: one search for each value, and one look-up for each value and level.
    """
    bins, nulls = bin_numbers(edges, doubles(column)), nulls_of(column)
    keys: list[Key] = []
    for count in levels_of(edges.count):
        lows, codes_of_bins = edges.codes(count)
        codes = np.empty(len(bins), dtype=np.int32)
        write_codes(bins, codes_of_bins, nulls, codes)
        keys.append(Key(pa.array(lows), frozen(codes)))
    return tuple(keys)


def present_doubles(column: pa.Array) -> Floats:
    """Return the values of a column that are not NULL, as doubles."""
    nulls = nulls_of(column)
    values = doubles(column)
    return values[~nulls] if len(nulls) else values
