"""Compiled loops that assign records to cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from asc.compiled import compiled

Array = Any

_FACTOR_1, _FACTOR_2 = np.uint64(0xBF58_476D_1CE4_E5B9), np.uint64(0x94D0_49BB_1331_11EB)
"""The factors of the finaliser of SplitMix64, which mixes all bits of a key into each other."""

_BASIS, _PRIME = np.uint64(0xCBF2_9CE4_8422_2325), np.uint64(0x0000_0100_0000_01B3)
"""The initial value and the factor of the hash FNV-1a with 64 bits."""

DIGIT_BITS = 11
"""The number of bits of a digit in a radix sort. Each pass sorts by one digit of the keys."""


@compiled
def combine(keys: Array, codes: Array, rows: Array, radix: int) -> None:
    """Append a digit to each int64 key: key i becomes key i times ``radix`` plus the code of row ``rows[i]``. All codes
    are below ``radix``.
    """
    for i in range(keys.size):
        keys[i] = keys[i] * radix + codes[rows[i]]


@compiled
def combine_all(keys: Array, codes: Array, radix: int) -> None:
    """Append a digit to each int64 key as :func:`combine` does, with the code of row i for key i."""
    for i in range(keys.size):
        keys[i] = keys[i] * radix + codes[i]


@compiled
def gather(values: Array, places: Array, out: Array) -> None:
    """Write to ``out`` the value at each index in ``places``. NumPy would take twice as long, because it first widens
    32-bit indices.
    """
    for i in range(places.size):
        out[i] = values[places[i]]


@compiled
def count_by_pane(panes: Array, cells: Array, starts: Array, counts: Array) -> int:
    """Count the rows of each pane, and return the number of panes.

    ``panes`` int64[cells], ascending: the pane of each cell. ``cells`` int32[rows]: the cell of each row. ``starts``
    int32[cells] receives the first cell of each pane. ``counts`` int64[cells] receives the number of rows of each pane.
    """
    for cell in range(panes.size):
        counts[cell] = 0
    for i in range(cells.size):
        counts[cells[i]] += 1
    pane_count = 0
    for cell in range(panes.size):
        if cell and panes[cell] == panes[cell - 1]:
            counts[pane_count - 1] += counts[cell]
        else:
            starts[pane_count] = cell
            counts[pane_count] = counts[cell]
            pane_count += 1
    return pane_count


@compiled
def mark(keys: Array, present: Array) -> None:
    """Set ``present`` to true for each key that occurs. ``present``: bool, one element for each possible key."""
    for i in range(keys.size):
        present[keys[i]] = True


@compiled
def rank(keys: Array, ranks: Array, cells: Array, firsts: Array) -> None:
    """Write the rank of each row's key to ``cells``, and the first row of each cell to ``firsts``.
    ``ranks``: by key.
    """
    for i in range(keys.size - 1, -1, -1):
        cell = ranks[keys[i]]
        cells[i] = cell
        firsts[cell] = i


@compiled
def hash_keys(keys: Array, slots: Array, probes_max: int, cells: Array, firsts: Array) -> int:
    """Assign a number to each distinct key, in the order of first occurrence. Write the number of each row's key to
    ``cells``. Return the number of distinct keys, or -1 after too many probes.

    ``slots`` int32[2**n]: a hash table with open addressing, initially zeros, with at least twice as many slots as
    keys. A slot contains a number plus 1. ``probes_max``: the largest number of probes beyond the first slot of each
    key, because an adversary can choose keys that all begin at one slot. ``firsts`` int32[keys] receives the first row
    of each distinct key.
    """
    count, probes = 0, 0
    last = slots.size - 1
    shift = 64
    while slots.size >> (64 - shift) > 1:
        shift -= 1
    for i in range(keys.size):
        key = keys[i]
        mixed = np.uint64(key)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _FACTOR_1
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _FACTOR_2
        place = np.int64((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(shift))
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
            probes += 1
            if probes > probes_max:
                return -1
            place = (place + 1) & last
    return count


@compiled
def sort_pass(keys: Array, order: Array, shift: int, counts: Array, out: Array) -> None:
    """Sort rows by one digit of their keys, in one pass of a stable radix sort.

    ``order``: the rows in their present order. ``shift``: the lowest bit of the digit. ``counts`` int64[2**DIGIT_BITS]:
    zeros. ``out`` receives the sorted rows.
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
    """Replace the number of each row's cell by the rank of the cell."""
    for i in range(cells.size):
        cells[i] = ranks[cells[i]]


@compiled
def hash_bytes(offsets: Array, data: Array, hashes: Array) -> None:
    """Write the hash FNV-1a of each byte string ``data[offsets[i]:offsets[i + 1]]`` to ``hashes``, uint64."""
    for i in range(hashes.size):
        value = _BASIS
        for j in range(offsets[i], offsets[i + 1]):
            value = (value ^ np.uint64(data[j])) * _PRIME
        hashes[i] = value


@compiled
def mix_codes(places: Array, codes: Array, hashes: Array) -> None:
    """Mix the hash of each row's code into the row's place. ``places`` uint64[rows], ``codes`` int32[rows], ``hashes``
    uint64[codes].

    All bits of a place depend on all bits of the hashes. The hash FNV-1a alone mixes the leading bits least.
    """
    for i in range(places.size):
        mixed = (places[i] * _PRIME) ^ hashes[codes[i]]
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _FACTOR_1
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _FACTOR_2
        places[i] = mixed ^ (mixed >> np.uint64(31))
