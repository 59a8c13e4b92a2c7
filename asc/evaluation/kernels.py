# ruff: noqa: PLR0917 (compiled functions take their arrays one by one, by position)
"""The compiled loops that evaluate tuples. Nothing here allocates for a tuple or knows of Arrow; shapes and dtypes are
the callers' duty.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from asc.compiled import compiled, ones, trailing_zeros
from asc.plan.conjuncts import HIGH_OPEN, INEXACT, LOW_OPEN, SLOT_MASK

Array = npt.NDArray[Any]

_ONE = np.uint64(1)
ROOM = 4
"""Places beyond those that the ones of a row may need."""
_LOW_OPEN_BIT, _HIGH_OPEN_BIT = LOW_OPEN.bit_length() - 1, HIGH_OPEN.bit_length() - 1


@compiled
def _verify(
    grb: Array,
    doubtful: Array,
    count: int,
    row: int,
    keys: Array,
    regions: Array,
    null_regions: Array,
    has_null: bool,
    exact: Any,
) -> None:
    """Take those of the conjuncts ``doubtful[:count]`` out of the GRB whose inexact constraints do not admit the row's
    values (NULL's region never leaves a doubt). Behind them is room for one more.
    """
    # All of a row in one call: to hand the arrays over takes as long as to verify a conjunct.
    first, code, low, high, least, greatest = exact
    # Read once what is to be read, all of it at the same time: the loop below waits for one after the other.
    sink = np.int64(0)
    for place in range(count):
        i = min(first[doubtful[place]], code.size - 1)
        sink ^= np.int64(code[i]) ^ np.int64(low[i]) ^ np.int64(high[i])
    doubtful[count] = sink
    for place in range(count):
        conjunct = doubtful[place]
        i = first[conjunct]
        end = first[conjunct + 1]
        bits = np.int64(code[i]) if i < end else 0
        inside = False
        while bits & INEXACT:
            slot = bits & SLOT_MASK
            # A key beyond the type of the table lies beyond all constants in it, as the end of the type does.
            key = min(max(keys[slot, row], least), greatest)
            start = np.int64(low[i]) + ((bits >> _LOW_OPEN_BIT) & 1)
            stop = np.int64(high[i]) - ((bits >> _HIGH_OPEN_BIT) & 1)
            inside |= (start <= key) & (key <= stop)
            if has_null:
                inside |= regions[slot, row] == null_regions[slot]
            i += 1
            # One look ahead tells the end of a constraint and of them all, and is twice as fast as a loop in a loop.
            bits = np.int64(code[i]) if i < end else 0
            if bits & (INEXACT | SLOT_MASK) != INEXACT | slot:
                if not inside:
                    grb[conjunct >> 6] &= ~(_ONE << np.uint64(conjunct & 63))
                    break
                inside = False


@compiled
def _write_ones(words: Array, some: Array, places: Array, count: int) -> int:
    """Write the places of the ones of some words from ``count`` on, ascending; how many there are in all then.

    ``some`` int64[words] is room; ``places`` has ROOM for more than there are. Which words have ones, and how many, is
    as good as random where there are many: so the words with any are found first, and the places of ROOM ones are
    written of each, whether it has so many or not. A wrong guess of the processor takes longer than that.
    """
    found = 0
    for word in range(words.size):
        some[found] = word
        found += words[word] != 0
    for i in range(found):
        left = words[some[i]]
        number = np.int64(ones(left))  # type: ignore[call-arg]
        base = some[i] << 6
        for j in range(ROOM):
            places[count + j] = base + np.int64(trailing_zeros(left))
            left &= left - _ONE
        j = ROOM
        while left != 0:
            places[count + j] = base + np.int64(trailing_zeros(left))
            left &= left - _ONE
            j += 1
        count += number
    return count


@compiled
def _emit(
    grb: Array,
    sure: Array,
    some: Array,
    doubtful: Array,
    is_sure_known: bool,
    verifies: bool,
    many: bool,
    row: int,
    place: int,
    keys: Array,
    regions: Array,
    null_regions: Array,
    has_null: bool,
    exact: Any,
    owner: Array,
    rank: Array,
    found: Array,
    count: int,
) -> int:
    """Write the queries of the conjuncts left in the GRB: ``place << 32 | ordinal``, each query once.

    Where the block ``verifies`` at all, those that are not ``sure`` are verified before, and taken out of the GRB where
    they fail. ``sure`` holds nothing of use afterwards.
    """
    if verifies:
        any_doubt = np.uint64(0)
        for word in range(grb.size):
            doubts = grb[word] & ~sure[word] if is_sure_known else grb[word]
            sure[word] = doubts
            any_doubt |= doubts
        if any_doubt != 0:
            number = _write_ones(sure, some, doubtful, 0)
            _verify(grb, doubtful, number, row, keys, regions, null_regions, has_null, exact)
    last = -1
    if not many:
        for word in range(grb.size):
            left = grb[word]
            while left != 0:
                handle = owner[(word << 6) + np.int64(trailing_zeros(left))]  # type: ignore[call-arg]
                left &= left - _ONE
                found[count] = (place << 32) | np.int64(rank[handle])
                count += handle != last
                last = handle
        return count
    begin = count
    for i in range(begin, _write_ones(grb, some, found, begin)):
        handle = owner[found[i]]
        found[count] = (place << 32) | np.int64(rank[handle])
        count += handle != last
        last = handle
    return count


@compiled
def _find_sure(certain: Array, regions: Array, row: int, slots: Array, bases: Array, sure: Array) -> None:
    """Which conjuncts the regions of a row satisfy for certain; ``slots`` and ``bases`` as :func:`sweep` has them."""
    words = certain.shape[1]
    a = np.uint64(bases[0] + regions[slots[0], row])
    b = np.uint64(bases[1] + regions[slots[1], row])
    c = np.uint64(bases[2] + regions[slots[2], row])
    d = np.uint64(bases[3] + regions[slots[3], row])
    for word in range(words):
        sure[word] = certain[a, word] & certain[b, word] & certain[c, word] & certain[d, word]
    for i in range(4, slots.size, 4):
        a = np.uint64(bases[i] + regions[slots[i], row])
        b = np.uint64(bases[i + 1] + regions[slots[i + 1], row])
        c = np.uint64(bases[i + 2] + regions[slots[i + 2], row])
        d = np.uint64(bases[i + 3] + regions[slots[i + 3], row])
        for word in range(words):
            sure[word] &= certain[a, word] & certain[b, word] & certain[c, word] & certain[d, word]


@compiled
def sweep(
    regions: Array,
    keys: Array,
    null_regions: Array,
    has_null: bool,
    begin: int,
    end: int,
    offset: int,
    matrix: Array,
    slots: Array,
    bases: Array,
    constructs: int,
    certain: Array,
    verifies: bool,
    exact: Any,
    owner: Array,
    rank: Array,
    grb: Array,
    sure: Array,
    some: Array,
    doubtful: Array,
    found: Array,
    count: int,
) -> tuple[int, int, int, int]:
    """Evaluate rows ``begin`` to ``end`` along one macro-sequence until the GRB is all zeros.

    The GRB is looked at after the first four constructs, then after every eight. ``regions`` uint16[slots + 1, rows],
    the last all zeros; ``keys`` int64[slots, rows] (read by verification alone); ``slots``, ``bases`` int64[4 + 8 p]:
    slot and first row of each of the ``constructs`` in sequence, filled up with the all-zeros slot and row 0, the GRB
    to start with, which changes nothing. ``has_null``: any value of these rows may be NULL. ``certain``: the rows of
    what the regions satisfy for certain, or none. ``verifies``: some constraints need to be verified, by ``exact``:
    (first, code, low, high, least, greatest) of the block's table. ``grb`` and ``sure`` uint64[words], ``some``
    int64[words] and ``doubtful`` int64[64 * words + ROOM] are room. ``found`` int64[n] receives
    pairs from ``count`` on; where fewer places are left than a tuple may need, the sweep ends early.
    Returns the next row, the number of pairs, the constructs evaluated, and the rows whose GRB became all zeros.
    """
    # Rows are indexed rather than sliced: a slice would count references, which costs more than the row.
    words = matrix.shape[1]
    evaluated = 0
    dropped = 0
    many = False
    for row in range(begin, end):
        if count + (words << 6) + ROOM > found.size:
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
            if certain.size > 0:
                _find_sure(certain, regions, row, slots, bases, sure)
            before = count
            count = _emit(
                grb,
                sure,
                some,
                doubtful,
                certain.size > 0,
                verifies,
                many,
                row,
                offset + row,
                keys,
                regions,
                null_regions,
                has_null,
                exact,
                owner,
                rank,
                found,
                count,
            )
            # A tuple is most likely as the one before it.
            many = (count - before) * 4 > words
        else:
            dropped += 1
    return end, count, evaluated, dropped


@compiled
def walk(
    regions: Array,
    keys: Array,
    null_regions: Array,
    has_null: bool,
    begin: int,
    end: int,
    offset: int,
    matrix: Array,
    slots: Array,
    bases: Array,
    sequence: Array,
    arrows: Array,
    geb: Array,
    certain: Array,
    verifies: bool,
    exact: Any,
    owner: Array,
    rank: Array,
    grb: Array,
    sure: Array,
    some: Array,
    doubtful: Array,
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
    many = False
    for row in range(begin, end):
        if count + (words << 6) + ROOM > found.size:
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
            if certain.size > 0:
                for word in range(words):
                    sure[word] = certain[0, word]
                for i in range(slots.size):
                    place = bases[i] + regions[slots[i], row]
                    for word in range(words):
                        sure[word] &= certain[place, word]
            before = count
            count = _emit(
                grb,
                sure,
                some,
                doubtful,
                certain.size > 0,
                verifies,
                many,
                row,
                offset + row,
                keys,
                regions,
                null_regions,
                has_null,
                exact,
                owner,
                rank,
                found,
                count,
            )
            # A tuple is most likely as the one before it.
            many = (count - before) * 4 > words
        else:
            dropped += 1
    return end, count, evaluated, dropped
