# ruff: noqa: PLR0917 (compiled functions take their arrays one by one, by position)
"""The compiled loops that evaluate tuples. Nothing here allocates for a tuple or knows of Arrow; shapes and dtypes are
the callers' duty.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from asc.compiled import compiled, trailing_zeros
from asc.keys.grid import KEY_MAX, KEY_MIN
from asc.plan.conjuncts import HIGH_OPEN, INEXACT, LOW_OPEN, SLOT_MASK

Array = npt.NDArray[Any]

_ONE = np.uint64(1)


@compiled
def _widened(bound: int, least: int, greatest: int) -> int:
    """A bound of a table whose type has these limits, which stand for no bound, as a bound of type int64."""
    if bound == least:
        return KEY_MIN
    return KEY_MAX if bound == greatest else bound


@compiled
def _is_verified(conjunct: int, row: int, keys: Array, regions: Array, null_regions: Array, exact: Any) -> bool:
    """Whether the inexact constraints of a conjunct admit the row's values (NULL's region never leaves a doubt)."""
    first, code, low, high = exact[0], exact[1], exact[2], exact[3]
    i = first[conjunct]
    end = first[conjunct + 1]
    while i < end and code[i] & INEXACT:
        slot = code[i] & SLOT_MASK
        key = keys[slot, row]
        inside = regions[slot, row] == null_regions[slot]
        while i < end and code[i] & SLOT_MASK == slot:
            start = _widened(np.int64(low[i]), exact[4], exact[5])
            stop = _widened(np.int64(high[i]), exact[4], exact[5])
            if code[i] & LOW_OPEN:
                start += 1
            if code[i] & HIGH_OPEN:
                stop -= 1
            inside |= start <= key <= stop
            i += 1
        if not inside:
            return False
    return True


@compiled
def _emit(
    grb: Array,
    row: int,
    place: int,
    keys: Array,
    regions: Array,
    null_regions: Array,
    exact: Any,
    owner: Array,
    rank: Array,
    found: Array,
    count: int,
) -> int:
    """Write the queries of the conjuncts left in the GRB: ``place << 32 | ordinal``, each query once."""
    last = -1
    for word in range(grb.size):
        left = grb[word]
        while left != 0:
            conjunct = (word << 6) + np.int64(trailing_zeros(left))  # type: ignore[call-arg]
            left &= left - _ONE
            handle = owner[conjunct]
            if handle != last and (
                exact[0].size == 0 or _is_verified(conjunct, row, keys, regions, null_regions, exact)
            ):
                last = handle
                found[count] = (place << 32) | np.int64(rank[handle])
                count += 1
    return count


@compiled
def sweep(
    regions: Array,
    keys: Array,
    null_regions: Array,
    begin: int,
    end: int,
    offset: int,
    matrix: Array,
    slots: Array,
    bases: Array,
    constructs: int,
    exact: Any,
    owner: Array,
    rank: Array,
    grb: Array,
    found: Array,
    count: int,
) -> tuple[int, int, int, int]:
    """Evaluate rows ``begin`` to ``end`` along one macro-sequence until the GRB is all zeros.

    The GRB is looked at after the first four constructs, then after every eight. ``regions`` uint16[slots + 1, rows],
    the last all zeros; ``keys`` int64[slots, rows] (read by verification alone); ``slots``, ``bases`` int64[4 + 8 p]:
    slot and first row of each of the ``constructs`` in sequence, filled up with the all-zeros slot and row 0, the GRB
    to start with, which changes nothing. ``exact``: (first, code, low, high, least, greatest) of the block's table,
    ``first`` empty where nothing needs to be verified. ``found`` int64[n] receives pairs from ``count`` on; where fewer
    places are left than a tuple may need, the sweep ends early.
    Returns the next row, the number of pairs, the constructs evaluated, and the rows whose GRB became all zeros.
    """
    # Rows are indexed rather than sliced: a slice would count references, which costs more than the row.
    words = matrix.shape[1]
    evaluated = 0
    dropped = 0
    for row in range(begin, end):
        if count + (words << 6) > found.size:
            return row, count, evaluated, dropped
        a = np.uint64(bases[0] + regions[slots[0], row])
        b = np.uint64(bases[1] + regions[slots[1], row])
        c = np.uint64(bases[2] + regions[slots[2], row])
        d = np.uint64(bases[3] + regions[slots[3], row])
        any_left = np.uint64(0)
        for word in range(words):
            left = matrix[0, word] & matrix[a, word] & matrix[b, word] & matrix[c, word] & matrix[d, word]
            grb[word] = left
            any_left |= left
        i = 4
        while i < slots.size and any_left != 0:
            a = np.uint64(bases[i] + regions[slots[i], row])
            b = np.uint64(bases[i + 1] + regions[slots[i + 1], row])
            c = np.uint64(bases[i + 2] + regions[slots[i + 2], row])
            d = np.uint64(bases[i + 3] + regions[slots[i + 3], row])
            e = np.uint64(bases[i + 4] + regions[slots[i + 4], row])
            f = np.uint64(bases[i + 5] + regions[slots[i + 5], row])
            g = np.uint64(bases[i + 6] + regions[slots[i + 6], row])
            h = np.uint64(bases[i + 7] + regions[slots[i + 7], row])
            any_left = np.uint64(0)
            for word in range(words):
                left = grb[word] & matrix[a, word] & matrix[b, word] & matrix[c, word] & matrix[d, word]
                left &= matrix[e, word] & matrix[f, word] & matrix[g, word] & matrix[h, word]
                grb[word] = left
                any_left |= left
            i += 8
        evaluated += min(i, constructs)
        if any_left != 0:
            count = _emit(grb, row, offset + row, keys, regions, null_regions, exact, owner, rank, found, count)
        else:
            dropped += 1
    return end, count, evaluated, dropped


@compiled
def walk(
    regions: Array,
    keys: Array,
    null_regions: Array,
    begin: int,
    end: int,
    offset: int,
    matrix: Array,
    slots: Array,
    bases: Array,
    sequence: Array,
    arrows: Array,
    geb: Array,
    exact: Any,
    owner: Array,
    rank: Array,
    grb: Array,
    found: Array,
    count: int,
) -> tuple[int, int, int, int]:
    """Evaluate rows ``begin`` to ``end`` along a hybrid-sequence, one construct at a time (sections 4.3 and 5.1).

    As :func:`sweep`, but ``slots`` and ``bases`` are in the order of the constructs, ``sequence`` int32[c] is the
    macro-sequence, ``arrows`` int32[rows] the construct that the micro-arrow of each row leads to (-1: none; empty:
    none at all) and ``geb`` bool[c] room for the GEB. The constructs evaluated that it returns are the exact cost.
    """
    words = matrix.shape[1]
    evaluated = 0
    dropped = 0
    for row in range(begin, end):
        if count + (words << 6) > found.size:
            return row, count, evaluated, dropped
        any_left = np.uint64(0)
        for word in range(words):
            grb[word] = matrix[0, word]
            any_left |= grb[word]
        geb[:] = False
        successor = 0
        target = -1
        while any_left != 0:
            if target < 0 or geb[target]:
                while successor < sequence.size and geb[sequence[successor]]:
                    successor += 1
                if successor == sequence.size:
                    break
                target = sequence[successor]
            geb[target] = True
            evaluated += 1
            place = bases[target] + regions[slots[target], row]
            any_left = np.uint64(0)
            for word in range(words):
                left = grb[word] & matrix[place, word]
                grb[word] = left
                any_left |= left
            target = arrows[place] if arrows.size > 0 else -1
        if any_left != 0:
            count = _emit(grb, row, offset + row, keys, regions, null_regions, exact, owner, rank, found, count)
        else:
            dropped += 1
    return end, count, evaluated, dropped
