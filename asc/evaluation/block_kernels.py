# ruff: noqa: PLR0917 (compiled functions take their arguments by position)
"""Compiled loops that evaluate tuples.

The loops allocate no memory for a tuple and do not know Arrow. Callers guarantee the shapes and dtypes of the arrays,
which :mod:`asc.plan.block_arrays` and :mod:`asc.evaluation.chunk_arrays` name.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from asc.compiled import compiled, inlined, ones, trailing_zeros
from asc.evaluation.bitmap_and import NARROW, and_narrow, and_short, keep_narrow, write_wide
from asc.evaluation.chunk_arrays import ChunkArrays, Scratch
from asc.plan.block import LINE
from asc.plan.block_arrays import BlockArrays, HybridArrays, SequenceArrays
from asc.plan.conjuncts import HIGH_OPEN, INEXACT, LOW_OPEN, SLOT_MASK, TableArrays

Array = npt.NDArray[Any]

_ONE = np.uint64(1)
SPARE_PAIRS = 4
"""The number of entries of the buffer ``pairs`` that a kernel may overwrite after the last pair of a row."""
_TOGETHER = 16_384
"""The number of pairs of row and conjunct that are verified together, so small that all of them stay in the processor's
cache.
"""

_DOUBT_BIT = 31
IN_DOUBT = 1 << _DOUBT_BIT
_CONJUNCT = IN_DOUBT - 1
_SHIFTS = np.uint64(63)
_LOW_OPEN_BIT, _HIGH_OPEN_BIT = LOW_OPEN.bit_length() - 1, HIGH_OPEN.bit_length() - 1


@inlined
def _holds(conjunct: int, row: int, chunk: ChunkArrays, table: TableArrays) -> bool:
    """Return True if the inexact constraints of a conjunct admit the values of a row. NULL counts as admitted, because
    the NULL region has already decided about it.
    """
    first, code, low, high = table.first, table.code, table.low, table.high
    keys, regions, null_regions = chunk.keys, chunk.regions, chunk.null_regions
    i = first[conjunct]
    end = first[conjunct + 1]
    bits = np.int64(code[i]) if i < end else 0
    inside = False
    while bits & INEXACT:
        slot = bits & SLOT_MASK
        # A key outside of the table's integer type is less, or greater, than all constants of the table. The same is
        # true of the least, or greatest, number of the type, which replaces the key.
        key = min(max(keys[slot, row], table.least), table.greatest)
        start = np.int64(low[i]) + ((bits >> _LOW_OPEN_BIT) & 1)
        stop = np.int64(high[i]) - ((bits >> _HIGH_OPEN_BIT) & 1)
        inside |= (start <= key) & (key <= stop)
        if chunk.has_null:
            inside |= regions[slot, row] == null_regions[slot]
        i += 1
        # The code of the next interval shows both whether this constraint ends, and whether the last inexact constraint
        # ends. This is twice as fast as a nested loop.
        bits = np.int64(code[i]) if i < end else 0
        if bits & (INEXACT | SLOT_MASK) != INEXACT | slot:
            if not inside:
                return False
            inside = False
    return True


@compiled
def _settle(pairs: Array, begin: int, end: int, chunk: ChunkArrays, table: TableArrays, ranks: Array) -> int:
    """Convert the pairs ``row << 32 | conjunct`` of ``pairs[begin:end]`` to pairs ``row of the batch << 32 | ordinal``.
    Return the index after the last converted pair.

    A pair with the bit IN_DOUBT is verified, and removed if the row does not satisfy the conjunct. Each query occurs
    once for a row, even if the row satisfies several of its conjuncts. The function converts the pairs of many rows at
    once. So the processor loads the constraints of one conjunct while another is verified, and bitmaps do not evict the
    constraints from the cache in between.
    """
    offset, owner = chunk.offset, table.owner
    count = begin
    last = np.int64(-1)
    for i in range(begin, end):
        row = pairs[i] >> 32
        conjunct = pairs[i] & _CONJUNCT
        if pairs[i] & IN_DOUBT and not _holds(conjunct, row, chunk, table):
            continue
        pair = ((offset + row) << 32) | np.int64(ranks[owner[conjunct]])
        pairs[count] = pair
        # The conjuncts of a query are adjacent.
        count += pair != last
        last = pair
    return count


@compiled
def _write_pairs(places: Array, grb: Array, unverified: Array, words: int, row: int, pairs: Array, count: int) -> int:
    """Write a pair ``row << 32 | conjunct`` for each 1 in some words of a GRB. ``count``: the number of pairs written
    before. Return the number of pairs so far.

    A pair has the bit IN_DOUBT if ``unverified`` also has a 1 at its place. ``places``: the index of each word in the
    GRB.

    ``pairs`` has capacity for SPARE_PAIRS more pairs: for each word, the positions of SPARE_PAIRS ones are written,
    whether it has so many or not. The number of ones is nearly random, and a branch misprediction would take longer.
    """
    for i in range(words):
        bits = grb[i]
        bits_to_verify = unverified[i]
        number = np.int64(ones(bits))  # type: ignore[call-arg]
        base = (row << 32) | (places[i] << 6)
        for j in range(SPARE_PAIRS):
            bit = trailing_zeros(bits)
            pairs[count + j] = (
                base + np.int64(bit) + (np.int64((bits_to_verify >> (bit & _SHIFTS)) & _ONE) << _DOUBT_BIT)
            )
            bits &= bits - _ONE
        j = SPARE_PAIRS
        while bits != 0:
            bit = trailing_zeros(bits)
            pairs[count + j] = base + np.int64(bit) + (np.int64((bits_to_verify >> bit) & _ONE) << _DOUBT_BIT)
            bits &= bits - _ONE
            j += 1
        count += number
    return count


@compiled
def sweep(
    chunk: ChunkArrays,
    bitmap_rows: Array,
    bitmaps: Array,
    begin: int,
    end: int,
    block: BlockArrays,
    sequence: SequenceArrays,
    ranks: Array,
    scratch: Scratch,
    pairs: Array,
    count: int,
) -> tuple[int, int, int, int]:
    """Evaluate rows ``begin`` to ``end`` of a chunk along one macro-sequence (:mod:`asc.evaluation.bitmap_and`). The
    evaluation of a row ends when no conjunct is left.

    ``bitmap_rows`` int32[rows]: the row of ``bitmaps`` uint64[n, words] that each tuple begins with, -1 for none
    (:mod:`asc.evaluation.initial_bitmaps`). ``ranks`` int32[handles]: the ordinal of each query. ``pairs`` int64[n]:
    receives pairs from index ``count`` on. The sweep ends early if ``pairs`` has fewer free entries than a tuple may
    need.

    Return the next row, the number of pairs so far, the number of constructs evaluated, and the number of rows whose
    GRB became all zeros.
    """
    # Rows are indexed rather than sliced: numba would count the references to a slice, which takes longer than the
    # evaluation of a row.
    words = block.matrix.shape[1]
    evaluated = 0
    dropped = 0
    settled = count
    row = begin
    while row < end and count + (words << 6) + SPARE_PAIRS <= pairs.size:
        start = bitmap_rows[row]
        number = most = 0
        if start >= 0 and words <= NARROW:
            if words < LINE:
                most = and_short(chunk, row, sequence, bitmaps, start, block, scratch)
            else:
                most = and_narrow(chunk, row, sequence, bitmaps, start, block, scratch)
            if most > 0:
                number = keep_narrow(chunk, row, sequence, block, scratch)
        elif start >= 0:
            number, most = write_wide(chunk, row, sequence, bitmaps, start, block, scratch)
        evaluated += min(abs(most), sequence.constructs)
        if number > 0:
            count = _write_pairs(scratch.places, scratch.grb, scratch.unverified, number, row, pairs, count)
        else:
            dropped += 1
        row += 1
        if count - settled >= _TOGETHER:
            count = settled = _settle(pairs, settled, count, chunk, block.table, ranks)
    count = _settle(pairs, settled, count, chunk, block.table, ranks)
    return row, count, evaluated, dropped


@compiled
def walk(
    chunk: ChunkArrays,
    bitmap_rows: Array,
    bitmaps: Array,
    begin: int,
    end: int,
    block: BlockArrays,
    order: HybridArrays,
    ranks: Array,
    scratch: Scratch,
    pairs: Array,
    count: int,
) -> tuple[int, int, int, int]:
    """Evaluate rows ``begin`` to ``end`` of a chunk along a hybrid-sequence, one construct at a time (sections 4.3 and
    5.1 of the paper).

    The other arguments and the result are those of :func:`sweep`. The number of constructs evaluated is exact, as the
    paper defines the cost.
    """
    regions, matrix = chunk.regions, block.matrix
    slots, bases, sequence, arrows = order.slots, order.bases, order.sequence, order.arrows
    mask_places, masks, geb = block.mask_places, block.masks, scratch.geb
    grb, unverified, places = scratch.grb, scratch.unverified, scratch.places
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
        for construct in range(slots.size):
            geb[construct] = False
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
            to_verify = grb[word] if block.verifies else np.uint64(0)
            if to_verify != 0 and mask_places.size > 0:
                to_verify = np.uint64(0)
                for i in range(slots.size):
                    mask = mask_places[bases[i] + regions[slots[i], row]]
                    if mask >= 0:
                        to_verify |= masks[mask, word]
            grb[number] = grb[word]
            unverified[number] = to_verify
            places[number] = word
            number += grb[word] != 0
        count = _write_pairs(places, grb, unverified, number, row, pairs, count)
        dropped += number == 0
        row += 1
        if count - settled >= _TOGETHER:
            count = settled = _settle(pairs, settled, count, chunk, block.table, ranks)
    count = _settle(pairs, settled, count, chunk, block.table, ranks)
    return row, count, evaluated, dropped
