"""Compiled loops that find the cells of records."""

from __future__ import annotations

from typing import Any

import numpy as np

from asc.compiled import compiled

Array = Any

_FACTOR = np.uint64(0x9E37_79B9_7F4A_7C15)
"""The golden ratio in 64 bits: a product with it spreads neighbours over a table."""

DIGIT_BITS = 11
"""The bits that one pass of a sort looks at."""


@compiled
def combine(keys: Array, codes: Array, rows: Array, radix: int) -> None:
    """Append a digit to int64 keys: the code of each row, below ``radix``."""
    for i in range(keys.size):
        keys[i] = keys[i] * radix + codes[rows[i]]


@compiled
def mark(keys: Array, present: Array) -> None:
    """Mark the keys that occur, in ``present`` bool[keys that there may be]."""
    for i in range(keys.size):
        present[keys[i]] = True


@compiled
def rank(keys: Array, ranks: Array, cells: Array, firsts: Array) -> None:
    """Write the rank of each key as its cell, and to ``firsts`` the first row of each cell."""
    for i in range(keys.size - 1, -1, -1):
        cell = ranks[keys[i]]
        cells[i] = cell
        firsts[cell] = i


@compiled
def hash_keys(keys: Array, slots: Array, shift: int, cells: Array, firsts: Array) -> int:
    """Number the different keys as they come; return how many there are.

    ``slots`` int32[2**n] of zeros, at least twice as many as keys, is a table of open addressing: a number and 1.
    ``shift`` is 64 - n. ``firsts`` int32[keys] gets the first row of each number.
    """
    count = 0
    last = slots.size - 1
    for i in range(keys.size):
        key = keys[i]
        place = np.int64((np.uint64(key) * _FACTOR) >> np.uint64(shift))
        while True:
            number = slots[place]
            if number == 0:
                firsts[count] = i
                cells[i] = count
                count += 1
                slots[place] = count
                break
            if keys[firsts[number - 1]] == key:
                cells[i] = number - 1
                break
            place = (place + 1) & last
    return count


@compiled
def sort_pass(keys: Array, order: Array, shift: int, counts: Array, out: Array) -> None:
    """Sort rows by one digit of their keys, keeping the order of equal ones.

    ``counts`` int64[2**DIGIT_BITS] of zeros.
    """
    mask = counts.size - 1
    for i in range(order.size):
        counts[(keys[order[i]] >> shift) & mask] += 1
    total = 0
    for digit in range(counts.size):
        own = counts[digit]
        counts[digit] = total
        total += own
    for i in range(order.size):
        row = order[i]
        digit = (keys[row] >> shift) & mask
        out[counts[digit]] = row
        counts[digit] += 1


@compiled
def renumber(cells: Array, ranks: Array) -> None:
    """Write the rank of each cell in its place."""
    for i in range(cells.size):
        cells[i] = ranks[cells[i]]
