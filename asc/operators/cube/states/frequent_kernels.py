# ruff: noqa: PLR0917 (compiled functions take their arguments by position)
"""Compiled loops that prune, write and read the states of ``frequent``: the items of cells that occur most.

A state begins with six numbers: MAGIC, the capacity, the number of values, the error, the number of values too long to
be items, and the number of items. Each item follows with its bytes, its counter, and its extra: by how much the item's
count exceeds the counter at least. If items have variable sizes, the number of bytes precedes the bytes.

A number is stored in as few bytes as possible, 7 bits in each, lowest bits first. All bytes but the last have the bit
128.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from asc.compiled import compiled, inlined

Array = Any

MAGIC = 0x71
HEADS = 3
"""The number of values in the head of a cell: the number of values, the error, and the number of values that are too
long.
"""
SOUND, DAMAGED, UNEQUAL = 0, 1, 2
"""The results of :func:`check`."""

_GROUP = 7
_MORE = 128
_GROUPS_MOST = 9
"""The largest number of bytes of a number, so that the number fits into 63 bits."""


class Packed(NamedTuple):
    """Stored states. ``data`` uint8: the bytes of all states. ``offsets`` int64[states + 1]: the position of each state
    in ``data``. A NULL state has no bytes.
    """

    data: Array
    offsets: Array


class Items(NamedTuple):
    """The items of cells, by cell.

    ``starts`` int64[cells + 1]: the index of each cell's first item. ``counters`` int64[items]: the count of the item
    is at most its counter plus the error of the cell. ``extras`` int64[items]: the count of the item is at least its
    counter plus its extra. ``heads`` int64[HEADS, cells]: the numbers of values, errors, and numbers of values that are
    too long.
    """

    starts: Array
    counters: Array
    extras: Array
    heads: Array


@inlined
def _size(number: Any) -> Any:
    """Return the number of bytes of a stored number."""
    groups = 1
    while number >= _MORE:
        number >>= _GROUP
        groups += 1
    return groups


@inlined
def _write(data: Array, at: Any, number: Any) -> Any:
    """Write a number at the position ``at``, and return the position after it."""
    while number >= _MORE:
        data[at] = (number & (_MORE - 1)) | _MORE
        number >>= _GROUP
        at += 1
    data[at] = number
    return at + 1


@inlined
def _read(data: Array, at: Any, end: Any) -> Any:
    """Return a number and the position after it. The position is -1 if the number does not end before ``end``, has more
    bytes than needed, or does not fit into 63 bits.
    """
    number, shift = 0, 0
    while at < end and shift < _GROUP * _GROUPS_MOST:
        byte = np.int64(data[at])
        at += 1
        number |= (byte & (_MORE - 1)) << shift
        if byte < _MORE:
            return number, np.int64(-1 if byte == 0 and shift else at)
        shift += _GROUP
    return np.int64(0), np.int64(-1)


@compiled
def prune(items: Items, capacity: int) -> None:
    """Reduce the counters of each cell with more than ``capacity`` items, so that at most ``capacity`` counters are
    above zero.

    All counters are reduced by the largest counter that becomes zero or less. This number is added to the error of the
    cell, and to the extra of each item. Cost: a pass over the items of the cell for each bit of the largest counter.
    """
    for cell in range(items.starts.size - 1):
        first, end = items.starts[cell], items.starts[cell + 1]
        if end - first <= capacity:
            continue
        low, high = 0, 0
        for place in range(first, end):
            high = max(high, items.counters[place])
        # Invariant: more than ``capacity`` counters are at least ``low``, and at most ``capacity`` exceed ``high``.
        while low < high:
            middle = low + ((high - low) >> 1)
            above = 0
            for place in range(first, end):
                above += items.counters[place] > middle
            if above > capacity:
                low = middle + 1
            else:
                high = middle
        items.heads[1, cell] += low
        for place in range(first, end):
            items.counters[place] -= low
            items.extras[place] += low


@compiled
def measure(items: Items, spans: Array, codes: Array, capacity: int, is_fixed: bool, sizes: Array) -> None:
    """Write the number of bytes of each cell's state to ``sizes``; 0 for a cell without values. Only items with a
    counter above zero are counted.

    ``spans`` int64[codes + 1]: the position of each code's item among the bytes of all items. ``codes`` int32[items]:
    the code of each item.
    """
    for cell in range(sizes.size):
        sizes[cell] = 0
        if not items.heads[0, cell]:
            continue
        size = _size(MAGIC) + _size(capacity)
        for head in range(HEADS):
            size += _size(items.heads[head, cell])
        count = 0
        for place in range(items.starts[cell], items.starts[cell + 1]):
            if items.counters[place] <= 0:
                continue
            count += 1
            length = spans[codes[place] + 1] - spans[codes[place]]
            size += length + (0 if is_fixed else _size(length))
            size += _size(items.counters[place]) + _size(items.extras[place])
        sizes[cell] = size + _size(count)


@compiled
def write(items: Items, spans: Array, content: Array, codes: Array, capacity: int, is_fixed: bool, to: Packed) -> None:
    """Write the state of each cell at the offsets that :func:`measure` gives. ``content`` uint8: the bytes of items."""
    for cell in range(to.offsets.size - 1):
        at = to.offsets[cell]
        if at == to.offsets[cell + 1]:
            continue
        at = _write(to.data, at, MAGIC)
        at = _write(to.data, at, capacity)
        for head in range(HEADS):
            at = _write(to.data, at, items.heads[head, cell])
        count = 0
        for place in range(items.starts[cell], items.starts[cell + 1]):
            count += items.counters[place] > 0
        at = _write(to.data, at, count)
        for place in range(items.starts[cell], items.starts[cell + 1]):
            if items.counters[place] <= 0:
                continue
            first, last = spans[codes[place]], spans[codes[place] + 1]
            if not is_fixed:
                at = _write(to.data, at, last - first)
            for byte in range(first, last):
                to.data[at] = content[byte]
                at += 1
            at = _write(to.data, at, items.counters[place])
            at = _write(to.data, at, items.extras[place])


@compiled
def check(packed: Packed, capacity: int, width: int, starts: Array, lengths: Array) -> int:
    """Return SOUND if all states are sound, DAMAGED if one is damaged, or UNEQUAL if one has another capacity.

    ``width``: the number of bytes of each item; 0 for a type of variable size. ``starts`` int64[states + 1] receives
    the index of each state's first item, and ``lengths`` int64[states] the number of bytes of its items.
    """
    data, offsets = packed.data, packed.offsets
    starts[0] = 0
    for i in range(offsets.size - 1):
        at, end = offsets[i], offsets[i + 1]
        starts[i + 1], lengths[i] = starts[i], 0
        if at == end:
            continue
        if at < 0 or at > end or end > data.size:
            return DAMAGED
        number, at = _read(data, at, end)
        if at < 0 or number != MAGIC:
            return DAMAGED
        number, at = _read(data, at, end)
        if at >= 0 and number != capacity:
            return UNEQUAL
        for _ in range(HEADS):
            if at >= 0:
                number, at = _read(data, at, end)
        count = 0
        if at >= 0:
            count, at = _read(data, at, end)
        if at < 0 or count > capacity:
            return DAMAGED
        for _ in range(count):
            length = width
            if not width:
                length, at = _read(data, at, end)
            if at < 0 or length > end - at:
                return DAMAGED
            lengths[i] += length
            number, at = _read(data, at + length, end)
            if at >= 0:
                number, at = _read(data, at, end)
            if at < 0:
                return DAMAGED
        if at != end:
            return DAMAGED
        starts[i + 1] += count
    return SOUND


@compiled
def read(packed: Packed, width: int, items: Items, spans: Array, content: Array) -> None:
    """Read the items of states that :func:`check` found sound. ``items.starts``: the starts that :func:`check` wrote.
    ``content`` uint8 receives the bytes of all items, and ``spans`` int64[items + 1] the position of each item in it.
    """
    data, place, to = packed.data, 0, 0
    for i in range(packed.offsets.size - 1):
        at, end = packed.offsets[i], packed.offsets[i + 1]
        for head in range(HEADS):
            items.heads[head, i] = 0
        if at == end:
            continue
        _, at = _read(data, at, end)
        _, at = _read(data, at, end)
        for head in range(HEADS):
            items.heads[head, i], at = _read(data, at, end)
        count, at = _read(data, at, end)
        for _ in range(count):
            length = width
            if not width:
                length, at = _read(data, at, end)
            spans[place] = to
            for byte in range(length):
                content[to + byte] = data[at + byte]
            to += length
            items.counters[place], at = _read(data, at + length, end)
            items.extras[place], at = _read(data, at, end)
            place += 1
    spans[place] = to
