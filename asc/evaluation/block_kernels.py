# ruff: noqa: PLR0917 (compiled functions take their arrays one by one, by position)
"""Compiled loops that evaluate tuples.

The loops allocate no memory for a tuple and do not know Arrow. Callers guarantee the shapes and dtypes of the arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from asc.compiled import compiled, inlined, ones, trailing_zeros
from asc.evaluation.bitmap_and import NARROW, and_narrow, and_short, keep_narrow, write_wide
from asc.plan.block import LINE
from asc.plan.conjuncts import HIGH_OPEN, INEXACT, LOW_OPEN, SLOT_MASK

Array = npt.NDArray[Any]

_ONE = np.uint64(1)
SPARE_PAIRS = 4
"""The number of entries of ``pairs`` that a kernel may write beyond those that a row needs."""
_TOGETHER = 16_384
"""The number of pairs that are verified together, small enough for all of them to stay in the cache."""

_DOUBT_BIT = 31
IN_DOUBT = 1 << _DOUBT_BIT
_CONJUNCT = IN_DOUBT - 1
_SHIFTS = np.uint64(63)
_LOW_OPEN_BIT, _HIGH_OPEN_BIT = LOW_OPEN.bit_length() - 1, HIGH_OPEN.bit_length() - 1


@inlined
def _holds(
    conjunct: int, row: int, keys: Array, regions: Array, null_regions: Array, has_null: bool, exact: Any
) -> bool:
    """Return whether the inexact constraints of a conjunct admit the values of a row. The NULL region needs no
    verification.
    """
    first, code, low, high, least, greatest = exact
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
                return False
            inside = False
    return True


@compiled
def _settle(
    pairs: Array,
    begin: int,
    end: int,
    offset: int,
    keys: Array,
    regions: Array,
    null_regions: Array,
    has_null: bool,
    exact: Any,
    owner: Array,
    rank: Array,
) -> int:
    """Convert the pairs ``row << 32 | conjunct`` of ``pairs[begin:end]`` to pairs ``place << 32 | ordinal``. Return
    their new end.

    A conjunct with IN_DOUBT is verified, and its pair is removed if it fails. Each query occurs once. Many rows are
    converted at once. So the constraints of one conjunct are fetched while another is verified, and the bitmaps do not
    evict the constraints from the cache in between.
    """
    count = begin
    last = np.int64(-1)
    for i in range(begin, end):
        row = pairs[i] >> 32
        conjunct = pairs[i] & _CONJUNCT
        if pairs[i] & IN_DOUBT and not _holds(conjunct, row, keys, regions, null_regions, has_null, exact):
            continue
        pair = ((offset + row) << 32) | np.int64(rank[owner[conjunct]])
        pairs[count] = pair
        # The conjuncts of a query are adjacent.
        count += pair != last
        last = pair
    return count


@compiled
def _write_pairs(places: Array, grb: Array, unverified: Array, words: int, row: int, pairs: Array, count: int) -> int:
    """Write a pair ``row << 32 | conjunct`` for each 1 in some words of a GRB, from ``count`` on. Return the number of
    pairs.

    A pair has IN_DOUBT if ``unverified`` also has a 1. ``places``: the index of each word in the GRB.

    ``pairs`` has capacity for SPARE_PAIRS more pairs: for each word, the positions of SPARE_PAIRS ones are written,
    whether it has so many or not. The number of ones is nearly random, and a branch misprediction would take longer.
    """
    for i in range(words):
        left = grb[i]
        bits_to_verify = unverified[i]
        number = np.int64(ones(left))  # type: ignore[call-arg]
        base = (row << 32) | (places[i] << 6)
        for j in range(SPARE_PAIRS):
            bit = trailing_zeros(left)
            pairs[count + j] = (
                base + np.int64(bit) + (np.int64((bits_to_verify >> (bit & _SHIFTS)) & _ONE) << _DOUBT_BIT)
            )
            left &= left - _ONE
        j = SPARE_PAIRS
        while left != 0:
            bit = trailing_zeros(left)
            pairs[count + j] = base + np.int64(bit) + (np.int64((bits_to_verify >> bit) & _ONE) << _DOUBT_BIT)
            left &= left - _ONE
            j += 1
        count += number
    return count


@compiled
def sweep(
    regions: Array,
    keys: Array,
    null_regions: Array,
    has_null: bool,
    begin: int,
    end: int,
    offset: int,
    bitmap_rows: Array,
    bitmaps: Array,
    matrix: Array,
    groups: Array,
    span: int,
    slots: Array,
    bases: Array,
    constructs: int,
    mask_places: Array,
    masks: Array,
    verifies: bool,
    exact: Any,
    owner: Array,
    rank: Array,
    grb: Array,
    unverified: Array,
    some: Array,
    offsets: Array,
    pairs: Array,
    count: int,
) -> tuple[int, int, int, int]:
    """Evaluate rows ``begin`` to ``end`` along one macro-sequence until nothing is left
    (:mod:`asc.evaluation.bitmap_and`).

    - ``regions`` uint16[slots + 1, rows]: the last row is all zeros.
    - ``keys`` int64[slots, rows]: read by verification alone, and scratch of one row where nothing is verified.
    - ``has_null``: any value of these rows may be NULL.
    - ``bitmap_rows`` int32[rows]: the row of ``bitmaps`` that each tuple begins with, -1 for none
      (:mod:`asc.evaluation.initial_bitmaps`).
    - ``groups``, ``span``: the groups and their number of words, as :class:`asc.plan.block.Block` has them.
    - ``slots``, ``bases`` int64[4 p]: slot and first row of each of the ``constructs`` in sequence. They are filled up
      with the all-zeros slot and row 0, the block's ``live``, which changes nothing.
    - ``mask_places``, ``masks``: the block's, or none. Without them all conjuncts left over are in doubt, if the block
      ``verifies`` at all.
    - ``exact``: (first, code, low, high, least, greatest) of the block's table, for verification.
    - ``grb`` and ``unverified`` uint64[words + 2 lines], ``some`` int64[words + 2 lines], ``offsets`` int64[2, 4 p]:
      scratch.
    - ``pairs`` int64[n]: receives pairs from ``count`` on. Where fewer places are left than a tuple may need, the sweep
      ends early.

    Returns the next row, the number of pairs, the constructs evaluated, and the rows whose GRB became all zeros.
    """
    # Rows are indexed rather than sliced: a slice would count references, which costs more than the row.
    words = matrix.shape[1]
    evaluated = 0
    dropped = 0
    settled = count
    row = begin
    while row < end and count + (words << 6) + SPARE_PAIRS <= pairs.size:
        start = bitmap_rows[row]
        number = most = 0
        if start >= 0 and words <= NARROW:
            if words < LINE:
                most = and_short(regions, row, slots, bases, bitmaps, start, matrix, grb)
            else:
                most = and_narrow(regions, row, slots, bases, bitmaps, start, matrix, offsets, grb)
            if most > 0:
                number = keep_narrow(
                    regions, row, slots, bases, words, offsets, mask_places, masks, verifies, grb, unverified, some
                )
        elif start >= 0:
            number, most = write_wide(
                regions,
                row,
                slots,
                bases,
                bitmaps,
                start,
                matrix,
                groups,
                span,
                offsets,
                mask_places,
                masks,
                verifies,
                grb,
                unverified,
                some,
            )
        evaluated += min(abs(most), constructs)
        if number > 0:
            count = _write_pairs(some, grb, unverified, number, row, pairs, count)
        else:
            dropped += 1
        row += 1
        if count - settled >= _TOGETHER:
            count = settled = _settle(
                pairs, settled, count, offset, keys, regions, null_regions, has_null, exact, owner, rank
            )
    count = _settle(pairs, settled, count, offset, keys, regions, null_regions, has_null, exact, owner, rank)
    return row, count, evaluated, dropped


@compiled
def walk(
    regions: Array,
    keys: Array,
    null_regions: Array,
    has_null: bool,
    begin: int,
    end: int,
    offset: int,
    bitmap_rows: Array,
    bitmaps: Array,
    matrix: Array,
    slots: Array,
    bases: Array,
    sequence: Array,
    arrows: Array,
    geb: Array,
    mask_places: Array,
    masks: Array,
    verifies: bool,
    exact: Any,
    owner: Array,
    rank: Array,
    grb: Array,
    unverified: Array,
    some: Array,
    pairs: Array,
    count: int,
) -> tuple[int, int, int, int]:
    """Evaluate rows ``begin`` to ``end`` along a hybrid-sequence, one construct at a time (sections 4.3 and 5.1).

    The arguments are those of :func:`sweep`, except that ``slots`` and ``bases`` are in the order of the constructs.
    ``sequence`` int32[c] is the macro-sequence. ``arrows`` int32[rows] is the construct that the micro-arrow of each
    row leads to, or -1. The array is empty if there are no micro-arrows. ``geb`` bool[c] is scratch for the GEB. The
    returned number of constructs evaluated is the exact cost.
    """
    words = matrix.shape[1]
    evaluated = 0
    dropped = 0
    settled = count
    row = begin
    while row < end and count + (words << 6) + SPARE_PAIRS <= pairs.size:
        start = bitmap_rows[row]
        any_left = np.uint64(0)
        for word in range(words if start >= 0 else 0):
            grb[word] = bitmaps[start, word]
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
        number = 0
        for word in range(words if any_left != 0 else 0):
            to_verify = grb[word] if verifies else np.uint64(0)
            if to_verify != 0 and mask_places.size > 0:
                to_verify = np.uint64(0)
                for i in range(slots.size):
                    mask = mask_places[bases[i] + regions[slots[i], row]]
                    if mask >= 0:
                        to_verify |= masks[mask, word]
            grb[number] = grb[word]
            unverified[number] = to_verify
            some[number] = word
            number += grb[word] != 0
        count = _write_pairs(some, grb, unverified, number, row, pairs, count)
        dropped += number == 0
        row += 1
        if count - settled >= _TOGETHER:
            count = settled = _settle(
                pairs, settled, count, offset, keys, regions, null_regions, has_null, exact, owner, rank
            )
    count = _settle(pairs, settled, count, offset, keys, regions, null_regions, has_null, exact, owner, rank)
    return row, count, evaluated, dropped
