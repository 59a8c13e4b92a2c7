# ruff: noqa: PLR0917 (compiled functions take their arrays one by one, by position)
"""Compiled loops that convert values to keys, and keys to regions.

The loops do not know Arrow. Callers guarantee the shapes and dtypes of the arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from asc.compiled import compiled
from asc.keys.float_bits import NAN_KEY, SIGN_MASK

Array = npt.NDArray[Any]

_ONE = np.uint64(1)


@compiled
def float_keys(values: Array, keys: Array) -> None:
    """Write the key of each double: an int64 with the order of the doubles, as :func:`asc.keys.floats.float_key`
    returns it.
    """
    bits = values.view(np.int64)
    for i in range(values.size):
        key = bits[i] if bits[i] >= 0 else bits[i] ^ SIGN_MASK
        if values[i] != values[i]:
            key = NAN_KEY
        elif values[i] == 0.0:
            key = 0
        keys[i] = key


@compiled
def bytes_keys(
    offsets: Array, data: Array, ends: Array, constants: Array, heads: Array, labels: Array, keys: Array
) -> None:
    """Write the label of each byte string ``data[offsets[i]:offsets[i + 1]]``, as
    ``asc.keys.dictionary.Dictionary.label`` returns it. ``ends``, ``constants``, ``heads`` and ``labels`` are the
    arrays of the dictionary.
    """
    for i in range(offsets.size - 1):
        start = offsets[i]
        length = offsets[i + 1] - start
        head = np.uint64(0)
        for j in range(min(length, 8)):
            head |= np.uint64(data[start + j]) << np.uint64(56 - 8 * j)
        low = 0
        high = heads.size
        is_constant = False
        while low < high:
            middle = (low + high) >> 1
            order = 0
            if heads[middle] != head:
                order = -1 if heads[middle] < head else 1
            else:
                order = _compare(constants, ends[middle], ends[middle + 1] - ends[middle], data, start, length)
            if order == 0:
                low = middle
                is_constant = True
                break
            if order < 0:
                low = middle + 1
            else:
                high = middle
        if is_constant:
            keys[i] = labels[low]
        elif low > 0:
            keys[i] = labels[low - 1] + 1
        else:
            keys[i] = labels[0] - 1 if labels.size > 0 else 0


@compiled
def _compare(a: Array, start_a: int, length_a: int, b: Array, start_b: int, length_b: int) -> int:
    """Return -1, 0 or 1 if the byte string in ``a`` sorts before, equal to or after the byte string in ``b``."""
    for j in range(min(length_a, length_b)):
        if a[start_a + j] != b[start_b + j]:
            return -1 if a[start_a + j] < b[start_b + j] else 1
    return 0 if length_a == length_b else (-1 if length_a < length_b else 1)


@compiled
def regions_by_table(keys: Array, origin: int, table: Array, regions: Array) -> None:
    """Write the region of each key. ``table``: the regions of consecutive keys, the first of which is ``origin``."""
    last = origin + table.size - 1
    for i in range(keys.size):
        regions[i] = table[np.uint64(min(max(keys[i], origin), last) - origin)]


@compiled
def regions_by_cells(keys: Array, boundaries: Array, origin: int, shift: int, table: Array, regions: Array) -> None:
    """Write the region of each key by a binary search among the boundaries inside the key's cell.

    Cells have 2**shift keys, from ``origin`` on. ``table`` holds the region of the first key of each cell, and at its
    end the region of the last boundary.
    """
    last = boundaries[-1]
    for i in range(keys.size):
        key = keys[i]
        cell = (np.uint64(min(max(key, origin), last)) - np.uint64(origin)) >> np.uint64(shift)
        low = np.uint64(table[cell])
        high = np.uint64(table[cell + _ONE])
        while low < high:
            middle = (low + high) >> _ONE
            if boundaries[middle] <= key:
                low = middle + _ONE
            else:
                high = middle
        regions[i] = low
