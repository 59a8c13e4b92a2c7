# ruff: noqa: PLR0917 (compiled functions take their arguments by position)
"""Compiled loops that check stored KLL sketches of doubles, and read the items of one.

A stored sketch has the form of Apache DataSketches. A sketch of one value has 8 bytes of head, and the value. A sketch
of more values has the head, the number of values, ``k`` and the number of levels. Then follow the positions of the
levels, the least and greatest value, and the items of all levels. An item of level h represents 2**h values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from asc.compiled import compiled, inlined
from asc.operators.cube.states.stored import Stored

Array = Any

SOUND, DAMAGED, OTHER = 0, 1, 2
"""The results of :func:`check`: all sketches are sound; one is damaged; one has another ``k``."""

_FAMILY, _WIDTH = 15, 8
"""The library's number of the kind of sketch KLL, and the least capacity of a level."""
_SINGLE_WORDS, _SINGLE_VERSION, _SINGLE_FLAGS, _SINGLE_BYTES = 2, 2, 4, 16
_WORDS, _VERSION, _IS_SORTED = 5, 1, 2
_HEAD_BYTES = 20
_LEVELS_MOST = 61
_DEPTH_MOST = 30
"""The greatest exponent of 2/3 that the library computes in one step."""


@inlined
def _integer(content: Array, place: int, count: int) -> Any:
    """Return some bytes as an integer, the lowest byte first."""
    number = np.int64(0)
    for i in range(count - 1, -1, -1):
        number = (number << 8) | np.int64(content[place + i])
    return number


@inlined
def _shrunk(k: int, depth: int) -> Any:
    """Return ``k`` times (2/3)**depth, rounded, for a depth of at most _DEPTH_MOST."""
    power = np.int64(1)
    for _ in range(depth):
        power *= 3
    return (((k << 1) << depth) // power + 1) >> 1


@inlined
def _capacity(k: int, levels: int) -> Any:
    """Return the largest number of items of a sketch with ``levels`` levels."""
    total = 0
    for depth in range(levels):
        half = depth // 2 if depth > _DEPTH_MOST else 0
        total += max(_WIDTH, _shrunk(_shrunk(k, half) if half else k, depth - half))
    return total


@inlined
def _read_items(content: Array, place: int, count: int, words: Array, word_bytes: Array) -> None:
    """Copy some items to ``words`` float64; ``word_bytes`` uint8 is the same memory."""
    for i in range(8 * count):
        word_bytes[i] = content[place + i]


@inlined
def _is_level(items: Array, start: int, stop: int, least: float, greatest: float, is_sorted: bool) -> Any:
    """Return whether the items of a level are within the least and greatest value of the sketch and, with
    ``is_sorted``, ascend.
    """
    for i in range(start, stop):
        if not least <= items[i] <= greatest or (is_sorted and i > start and items[i - 1] > items[i]):
            return False
    return True


@inlined
def _is_sound(content: Array, place: int, stop: int, k: int, items: Array, item_bytes: Array) -> Any:
    flags, size = content[place + 3], stop - place
    if flags == _SINGLE_FLAGS:
        if size != _SINGLE_BYTES or content[place] != _SINGLE_WORDS or content[place + 1] != _SINGLE_VERSION:
            return False
        _read_items(content, place + 8, 1, items, item_bytes)
        return not np.isnan(items[0])
    if size < _HEAD_BYTES or content[place] != _WORDS or content[place + 1] != _VERSION or flags & ~_IS_SORTED:
        return False
    count, levels = _integer(content, place + 8, 8), np.int64(content[place + 18])
    if count < 2 or not 0 < levels <= _LEVELS_MOST or content[place + 19] != 0:
        return False
    if _integer(content, place + 16, 2) != k:
        return False
    capacity, bounds = _capacity(k, levels), place + _HEAD_BYTES
    first = _integer(content, bounds, 4) if size >= _HEAD_BYTES + 4 * levels else capacity
    if first >= capacity or size != _HEAD_BYTES + 4 * levels + 16 + 8 * (capacity - first):
        return False
    _read_items(content, bounds + 4 * levels, 2 + capacity - first, items, item_bytes)
    least, greatest = items[0], items[1]
    total, start = np.int64(0), first
    for level in range(levels):
        end = _integer(content, bounds + 4 * level + 4, 4) if level + 1 < levels else capacity
        if not start <= end <= capacity or (end - start) > (count - total) >> level:
            return False
        is_sorted = level > 0 or flags == _IS_SORTED
        if not _is_level(items, 2 + start - first, 2 + end - first, least, greatest, is_sorted):
            return False
        total += (end - start) << level
        if level + 1 == levels and end == start:
            return False
        start = end
    return total == count


@compiled
def check(stored: Stored, k: int, items: Array, item_bytes: Array) -> int:
    """Return SOUND if the library can read all sketches safely, and their parameter is ``k``. Else return DAMAGED or
    OTHER.

    ``items`` float64 and ``item_bytes`` uint8: the same working memory, for the most items of a sketch and two more.
    """
    if stored.offsets[stored.offsets.size - 1] > stored.content.size or stored.offsets[0] < 0:
        return DAMAGED
    for i in range(stored.offsets.size - 1):
        place, stop = stored.offsets[i], stored.offsets[i + 1]
        if stop == place:
            continue
        if stop - place < _SINGLE_BYTES or stored.content[place + 2] != _FAMILY:
            return DAMAGED
        if stored.content[place + 6] != _WIDTH or stored.content[place + 7] != 0:
            return DAMAGED
        if _integer(stored.content, place + 4, 2) != k:
            return OTHER
        if not _is_sound(stored.content, place, stop, k, items, item_bytes):
            return DAMAGED
    return SOUND


@compiled
def read_sketch(stored: Stored, sketch: int, items: Array, item_bytes: Array, weights: Array) -> Any:
    """Write the items of a sound sketch to ``items``, and the number of values that each item represents to ``weights``
    float64. Return the number of items, 0 for a sketch without values.
    """
    content, place, stop = stored.content, stored.offsets[sketch], stored.offsets[sketch + 1]
    if stop == place:
        return 0
    if content[place + 3] == _SINGLE_FLAGS:
        _read_items(content, place + 8, 1, items, item_bytes)
        weights[0] = 1.0
        return 1
    levels = np.int64(content[place + 18])
    bounds = place + _HEAD_BYTES
    count = (stop - bounds - 4 * levels - 16) >> 3
    _read_items(content, bounds + 4 * levels + 16, count, items, item_bytes)
    first = _integer(content, bounds, 4)
    for level in range(levels):
        start = _integer(content, bounds + 4 * level, 4) - first
        end = _integer(content, bounds + 4 * level + 4, 4) - first if level + 1 < levels else count
        for i in range(start, end):
            weights[i] = np.float64(np.int64(1) << level)
    return count


@compiled
def densities(items: Array, weights: Array, points: Array, width: float, out: Array) -> None:
    """Write the density at each of ``points`` to ``out``: the weighted mean of Gaussian kernels at the items.
    ``width``: the standard deviation of a kernel.
    """
    total = 0.0
    for i in range(items.size):
        total += weights[i]
    scale = 1.0 / (total * width * np.sqrt(2.0 * np.pi))
    for point in range(points.size):
        height = 0.0
        for i in range(items.size):
            away = (points[point] - items[i]) / width
            height += weights[i] * np.exp(-0.5 * away * away)
        out[point] = height * scale
