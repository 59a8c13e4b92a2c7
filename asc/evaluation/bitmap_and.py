# ruff: noqa: PLR0917 (compiled functions take their arguments by position)
"""The AND of a tuple's bitmap rows: all constructs of a macro-sequence, several at a time, until no conjunct is left.

The results go to the caller's scratch (:class:`asc.evaluation.chunk_arrays.Scratch`). The arguments are those of
:func:`asc.evaluation.block_kernels.sweep`.

Functions that run for every tuple have one return, and no arrays that only one branch uses. So numba's compiler can
omit the reference counts of arrays. With few queries, the counting would take as long as the rest of the evaluation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from asc.compiled import inlined, trailing_zeros
from asc.evaluation.cacheline_and import and_lines, or_lines
from asc.evaluation.chunk_arrays import ChunkArrays, Scratch
from asc.plan.block import LINE
from asc.plan.block_arrays import BlockArrays, SequenceArrays

Array = npt.NDArray[Any]

NARROW = 4 * LINE
"""The most words of a row of the block's matrix for which all lines (of eight words) are ANDed, without first excluding
groups of lines. In such rows, excluding groups would take longer than reading all lines. In rows of eight lines
(measured with the workload of alerts), excluding groups first is far faster.
"""
_AT_ONCE = 8
"""The number of constructs that are ANDed for a line before the result is tested for zero, in rows of more than NARROW
words.
"""

_ONE = np.uint64(1)
_FOUR = np.uint64(4)


@inlined
def and_short(
    chunk: ChunkArrays,
    row: int,
    sequence: SequenceArrays,
    bitmaps: Array,
    start: int,
    block: BlockArrays,
    scratch: Scratch,
) -> int:
    """Write the AND of a tuple's bitmap rows to ``scratch.grb``, four constructs at a time. The rows are shorter than a
    line.

    ``start``: the row of ``bitmaps`` with the tuple's initial bitmap. Return the number of constructs that were ANDed,
    negated if no conjunct is left.
    """
    regions, slots, bases = chunk.regions, sequence.slots, sequence.bases
    matrix, grb = block.matrix, scratch.grb
    words = matrix.shape[1]
    # The indices are unsigned, because numba would test each signed index for being negative.
    at, first = np.uint64(row), np.uint64(start)
    i = 0
    left = _ONE
    while i < slots.size and left != 0:
        a = np.uint64(bases[i] + regions[slots[i], at])
        b = np.uint64(bases[i + 1] + regions[slots[i + 1], at])
        c = np.uint64(bases[i + 2] + regions[slots[i + 2], at])
        d = np.uint64(bases[i + 3] + regions[slots[i + 3], at])
        left = np.uint64(0)
        for word in range(words):
            kept = bitmaps[first, word] if i == 0 else grb[word]
            kept &= matrix[a, word] & matrix[b, word] & matrix[c, word] & matrix[d, word]
            grb[word] = kept
            left |= kept
        i += 4
    return i if left != 0 else -i


@inlined
def and_narrow(
    chunk: ChunkArrays,
    row: int,
    sequence: SequenceArrays,
    bitmaps: Array,
    start: int,
    block: BlockArrays,
    scratch: Scratch,
) -> int:
    """Write the AND of a tuple's bitmap rows to ``scratch.grb``, for rows of one to four lines (at most NARROW words).
    Also write the byte offsets of the rows to ``scratch.offsets[0]``. The result is that of :func:`and_short`.
    """
    regions, slots, bases = chunk.regions, sequence.slots, sequence.bases
    matrix, grb, offsets = block.matrix, scratch.grb, scratch.offsets
    words = matrix.shape[1]
    size = words * 8
    for word in range(words):
        grb[word] = bitmaps[start, word]
    grb_at, matrix_at = np.uint64(grb.ctypes.data), np.uint64(matrix.ctypes.data)
    rows_at = np.uint64(offsets.ctypes.data)
    lines = (words + LINE - 1) // LINE
    left = np.int64((1 << lines) - 1)
    i = 0
    while i < slots.size and left != 0:
        offsets[0, i] = (bases[i] + regions[slots[i], row]) * size
        offsets[0, i + 1] = (bases[i + 1] + regions[slots[i + 1], row]) * size
        offsets[0, i + 2] = (bases[i + 2] + regions[slots[i + 2], row]) * size
        offsets[0, i + 3] = (bases[i + 3] + regions[slots[i + 3], row]) * size
        these = rows_at + np.uint64(i * 8)
        for line in range(lines):
            if left >> line & 1:
                # If the length of a row is no multiple of a line, its last line overlaps the line before it. byte =
                # np.uint64(min(line
                byte = np.uint64(min(line * LINE, words - LINE) * 8)
                line_at = grb_at + byte
                union: Any = and_lines(line_at, line_at, matrix_at + byte, these, _FOUR)  # type: ignore[call-arg]
                left ^= np.int64(union == 0) << line
        i += 4
    return i if left != 0 else -i


@inlined
def keep_narrow(chunk: ChunkArrays, row: int, sequence: SequenceArrays, block: BlockArrays, scratch: Scratch) -> int:
    """Move the non-zero words of ``scratch.grb``, a row of at most NARROW words, to the front, and determine their bits
    that need verification. Return the number of these words.
    """
    masks, offsets, unverified = block.masks, scratch.offsets, scratch.unverified
    words = block.matrix.shape[1]
    mask_count = _write_mask_offsets(chunk, row, sequence, block, 1, offsets)
    for word in range(words if mask_count > 0 else 0):
        to_verify = np.uint64(0)
        for j in range(mask_count):
            to_verify |= masks[offsets[1, j], word]
        unverified[word] = to_verify
    all_unverified = block.verifies and block.mask_places.size == 0
    return _keep(0, 0, words, 0, mask_count > 0, all_unverified, scratch)


@inlined
def write_wide(
    chunk: ChunkArrays,
    row: int,
    sequence: SequenceArrays,
    bitmaps: Array,
    start: int,
    block: BlockArrays,
    scratch: Scratch,
) -> tuple[int, int]:
    """Write the non-zero words of the AND of a tuple's bitmap rows to ``scratch.grb``, for rows of more than NARROW
    words. Return the number of these words, and the number of constructs after which all other words were known to be
    zero.

    First the function finds the groups of words (:class:`asc.plan.block.Block`) that may be non-zero. Then it ANDs each
    line of these groups, _AT_ONCE constructs at a time.
    """
    constructs, span, offsets = sequence.slots.size, block.group_words, scratch.offsets
    words = block.matrix.shape[1]
    size = words * 8
    left, most = _and_groups(chunk, row, sequence, block, size, offsets)
    grb_at, unverified_at = np.uint64(scratch.grb.ctypes.data), np.uint64(scratch.unverified.ctypes.data)
    start_at = np.uint64(bitmaps.ctypes.data) + np.uint64(start * size)
    matrix_at, masks_at = np.uint64(block.matrix.ctypes.data), np.uint64(block.masks.ctypes.data)
    rows_at = np.uint64(offsets.ctypes.data)
    mask_offsets_at = rows_at + np.uint64(offsets.shape[1] * 8)
    all_unverified = block.verifies and block.mask_places.size == 0
    mask_count = -1
    number = 0
    while left != 0:
        group = np.int64(trailing_zeros(left))  # type: ignore[call-arg]
        left &= left - _ONE
        for first in range(group * span, min((group + 1) * span, words), LINE):
            # If a row is no whole number of lines, its last line overlaps the line before it.
            at = min(first, words - LINE)
            byte, kept_bytes = np.uint64(at * 8), np.uint64(number * 8)
            so_far = start_at + byte
            union = _ONE
            i = 0
            while i < constructs and union != 0:
                count = min(_AT_ONCE, constructs - i)
                these = rows_at + np.uint64(i * 8)
                union = and_lines(grb_at + kept_bytes, so_far, matrix_at + byte, these, np.uint64(count))
                so_far = grb_at + kept_bytes
                i += count
            most = max(most, i)
            if union == 0:
                continue
            if mask_count < 0:
                mask_count = _write_mask_offsets(chunk, row, sequence, block, size, offsets)
            if mask_count > 0:
                masks_from = masks_at + byte
                first_mask = masks_from + np.uint64(offsets[1, 0])
                or_lines(unverified_at + kept_bytes, first_mask, masks_from, mask_offsets_at, np.uint64(mask_count))
            number = _keep(at, first, LINE, number, mask_count > 0, all_unverified, scratch)
    return number, most


@inlined
def _and_groups(
    chunk: ChunkArrays, row: int, sequence: SequenceArrays, block: BlockArrays, size: int, offsets: Array
) -> tuple[Any, int]:
    """Find the groups of words that may be non-zero in the AND of a tuple's rows, four constructs at a time.

    Return these groups, and the number of constructs after which all other groups were known to be zero. Write the byte
    offsets of the rows to ``offsets[0]``.
    """
    regions, slots, bases, groups = chunk.regions, sequence.slots, sequence.bases, block.groups
    left = groups[0]
    most = 0
    i = 0
    while i < slots.size and left != 0:
        before = left
        a = bases[i] + regions[slots[i], row]
        b = bases[i + 1] + regions[slots[i + 1], row]
        c = bases[i + 2] + regions[slots[i + 2], row]
        d = bases[i + 3] + regions[slots[i + 3], row]
        left &= groups[a] & groups[b] & groups[c] & groups[d]
        offsets[0, i] = a * size
        offsets[0, i + 1] = b * size
        offsets[0, i + 2] = c * size
        offsets[0, i + 3] = d * size
        i += 4
        most = i if left != before else most
    return left, most


@inlined
def _write_mask_offsets(
    chunk: ChunkArrays, row: int, sequence: SequenceArrays, block: BlockArrays, size: int, offsets: Array
) -> int:
    """Write the offsets of the verification masks of the regions that a tuple visits to ``offsets[1]``. ``size``: the
    number of bytes of a mask; with 1, an offset is the index of the mask. Return the number of regions with a mask.
    """
    regions, slots, bases, mask_places = chunk.regions, sequence.slots, sequence.bases, block.mask_places
    mask_count = 0
    for i in range(slots.size if mask_places.size > 0 else 0):
        mask = np.int64(mask_places[bases[i] + regions[slots[i], row]])
        offsets[1, mask_count] = mask * size
        mask_count += mask >= 0
    return mask_count


@inlined
def _keep(at: int, first: int, count: int, number: int, any_mask: bool, all_unverified: bool, scratch: Scratch) -> int:
    """Move the non-zero words among ``grb[number:number + count]`` together, so that they follow the ``number`` words
    retained before. Return the number of words retained so far.

    Word ``grb[number]`` is word ``at`` of the tuple's GRB. Words of the GRB before word ``first`` have been handled
    before, and are omitted.
    """
    grb, unverified, places = scratch.grb, scratch.unverified, scratch.places
    base = number
    for j in range(count):
        word = grb[base + j]
        to_verify = unverified[base + j] if any_mask else np.uint64(0)
        if all_unverified:
            to_verify = word
        grb[number] = word
        unverified[number] = to_verify
        places[number] = at + j
        number += (word != 0) & (at + j >= first)
    return number
