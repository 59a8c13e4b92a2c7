# ruff: noqa: PLR0917 (compiled functions take their arguments by position)
"""Compiled loops that unite the sets of values of cells, and look values up in them.

A state consists of words of 64 bits. The first word contains MAGIC in bits 0-15, the form in bits 16-19, and the
logarithm of the bytes of a count in bits 20-23. Its high 32 bits are the stated number of values. The further words
depend on the form.

A sparse state contains the number of different hashes, then the hashes, ascending, and then the count of each hash.

A dense state contains three more words before the blocks of its Bloom filter. They are the number of values, the sum of
the false-positive chances of the blocks in units of CHANCE_UNIT, and the number of set bits of all blocks. The counters
of the CountMin sketch follow the blocks, row by row.

Counts and counters are packed: all of one state have 1, 2, 4 or 8 bytes, as many as the largest needs.

Sources: Putze, Sanders and Singler, Cache-, Hash- and Space-Efficient Bloom Filters (2007); Cormode and Muthukrishnan,
An Improved Data Stream Summary: The Count-Min Sketch (2005).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from asc.compiled import compiled, inlined, ones

Array = Any

SPARSE, DENSE = 1, 2
SPARSE_HEAD, DENSE_HEAD = 2, 4
"""The number of words before the hashes of a sparse state, and before the blocks of a dense state."""
BLOCK_WORDS = 8
"""The words of a block: 64 bytes, one cache line."""
BITS = 7
"""The number of bits that a value sets in its block."""
ROWS = 4
"""The number of rows of counters."""
CHANCE_UNIT = 2.0**-32
MAGIC = 0x5EE1

SOUND, DAMAGED, UNEQUAL = 0, 1, 2
"""The results of :func:`check`."""

_BLOCK_BITS = 512
_GOLDEN = np.uint64(0x9E37_79B9_7F4A_7C15)
_FACTOR_1, _FACTOR_2 = np.uint64(0xBF58_476D_1CE4_E5B9), np.uint64(0x94D0_49BB_1331_11EB)
"""The constants of SplitMix64."""
_ONE, _HALF = np.uint64(1), np.uint64(32)


class Packed(NamedTuple):
    """Stored states. ``words`` uint64: the words of all states. ``starts`` int64[states + 1]: the index of each state's
    first word. A NULL state has no words.
    """

    words: Array
    starts: Array


class Shape(NamedTuple):
    """The sizes of states for a stated number of values.

    ``stated``: this number. ``blocks``: the number of blocks of the Bloom filter. ``columns``: the number of counters
    of a row. ``sparse_most``: the largest number of different hashes of a sparse state.
    """

    stated: int
    blocks: int
    columns: int
    sparse_most: int


class Work(NamedTuple):
    """Working memory for one cell.

    ``hashes`` uint64[2, n] and ``counts`` int64[2, n]: hashes with their counts. The first row contains sorted
    lists, one after the other; the second row is memory for merges. ``ends`` int64: the end of each list. ``counters``
    int64: the counters of a dense cell.
    """

    hashes: Array
    counts: Array
    ends: Array
    counters: Array


@inlined
def _mixed(word: Any) -> Any:
    """Return the output of SplitMix64 for a state, in which each bit depends on all bits of the state."""
    word = (word ^ (word >> np.uint64(30))) * _FACTOR_1
    word = (word ^ (word >> np.uint64(27))) * _FACTOR_2
    return word ^ (word >> np.uint64(31))


@inlined
def _block(hashed: Any, blocks: Any) -> Any:
    """Return the number of the block of a hash, computed from the high half of the hash."""
    return np.int64(((hashed >> _HALF) * np.uint64(blocks)) >> _HALF)


@inlined
def _column(hashed: Any, row: Any, columns: Any) -> Any:
    """Return the column of a hash in a row of counters. ``columns``: the number of counters of a row."""
    mixed = _mixed(hashed + np.uint64(row + 1) * _GOLDEN)
    return np.int64(((mixed >> _HALF) * np.uint64(columns)) >> _HALF)


@inlined
def _words_of(count: Any, width: Any) -> Any:
    """Return the number of words of ``count`` packed counts. ``width``: the binary logarithm of the bytes of each
    count.
    """
    return ((count << width) + 7) >> 3


@inlined
def _width_of(count: Any) -> Any:
    if count < 256:
        return 0
    return 1 if count < 65_536 else 2 if count < 2**32 else 3


@inlined
def _count(words: Array, at: Any, place: Any, width: Any) -> Any:
    """Return the packed count at the index ``place``. ``at``: the index of the first word of the counts."""
    first = place << width
    word = words[at + (first >> 3)] >> (np.uint64(first & 7) << np.uint64(3))
    if width == 3:
        return np.int64(word)
    return np.int64(word & ((_ONE << (np.uint64(8) << np.uint64(width))) - _ONE))


@inlined
def _pack(words: Array, at: Any, place: Any, width: Any, count: Any) -> None:
    """Write a packed count at the index ``place``. The words must be zero there."""
    first = place << width
    words[at + (first >> 3)] |= np.uint64(count) << (np.uint64(first & 7) << np.uint64(3))


@inlined
def _head(form: Any, width: Any, stated: Any) -> Any:
    return (
        np.uint64(MAGIC)
        | (np.uint64(form) << np.uint64(16))
        | (np.uint64(width) << np.uint64(20))
        | (np.uint64(stated) << _HALF)
    )


@inlined
def _form(words: Array, at: Any) -> Any:
    return np.int64((words[at] >> np.uint64(16)) & np.uint64(15))


@inlined
def _width(words: Array, at: Any) -> Any:
    return np.int64((words[at] >> np.uint64(20)) & np.uint64(15))


@compiled
def check(words: Array, offsets: Array, shape: Shape, is_deep: bool, starts: Array) -> int:
    """Write the index of each state's first word to ``starts`` int64[states + 1]. Return SOUND, DAMAGED, or UNEQUAL if
    a state has another stated number.

    ``offsets`` int32[states + 1]: the position in bytes of each state. ``is_deep``: also check that hashes ascend,
    which takes a pass over them.
    """
    starts[0] = np.int64(offsets[0]) >> 3
    for i in range(offsets.size - 1):
        at, end = np.int64(offsets[i]) >> 3, np.int64(offsets[i + 1]) >> 3
        starts[i + 1] = end
        if (offsets[i] | offsets[i + 1]) & 7 or at < 0 or at > end or end > words.size:
            return DAMAGED
        if at == end:
            continue
        if end - at < SPARSE_HEAD + 1 or words[at] & np.uint64(0xFFFF) != np.uint64(MAGIC):
            return DAMAGED
        if np.int64(words[at] >> _HALF) != shape.stated:
            return UNEQUAL
        form, width = _form(words, at), _width(words, at)
        if words[at] & np.uint64(0xFF00_0000) or width > 3 or form not in (SPARSE, DENSE):
            return DAMAGED
        if form == DENSE:
            if end - at != DENSE_HEAD + BLOCK_WORDS * shape.blocks + _words_of(ROWS * shape.columns, width):
                return DAMAGED
            continue
        count = np.int64(words[at + 1])
        if count < 1 or count > shape.sparse_most or end - at != SPARSE_HEAD + count + _words_of(count, width):
            return DAMAGED
        if is_deep:
            for place in range(at + SPARSE_HEAD + 1, at + SPARSE_HEAD + count):
                if words[place - 1] >= words[place]:
                    return DAMAGED
    return SOUND


@compiled
def bound_cells(packed: Packed, order: Array, firsts: Array, shape: Shape, bounds: Array, entries: Array) -> None:
    """Write to ``bounds`` the most words that each cell may need, and to ``entries`` the number of hashes of its sparse
    states.

    ``order`` int64[states]: the indices of the states, sorted by cell. ``firsts`` int64[cells + 1]: the position in
    ``order`` of each cell's first state.
    """
    words, starts = packed.words, packed.starts
    dense = DENSE_HEAD + BLOCK_WORDS * shape.blocks + ROWS * shape.columns
    for cell in range(bounds.size):
        total, is_dense = 0, False
        for place in range(firsts[cell], firsts[cell + 1]):
            at = starts[order[place]]
            if at == starts[order[place] + 1]:
                continue
            if _form(words, at) == DENSE:
                is_dense = True
            else:
                total += np.int64(words[at + 1])
        entries[cell] = total
        if is_dense or total > shape.sparse_most:
            bounds[cell] = max(dense, SPARSE_HEAD + 2 * shape.sparse_most)
        else:
            bounds[cell] = SPARSE_HEAD + 2 * total if total else 0


@inlined
def _insert(words: Array, at: Any, counters: Array, shape: Shape, hashed: Any, count: Any) -> None:
    """Add a hash to the blocks, which begin at the index ``at``, and ``count`` to its counters."""
    block = at + BLOCK_WORDS * _block(hashed, shape.blocks)
    mixed = _mixed(hashed)
    for turn in range(BITS):
        bit = (mixed >> np.uint64(9 * turn)) & np.uint64(_BLOCK_BITS - 1)
        words[block + np.int64(bit >> np.uint64(6))] |= _ONE << (bit & np.uint64(63))
    for row in range(ROWS):
        counters[row * shape.columns + _column(hashed, row, shape.columns)] += count


@compiled
def _merge_lists(work: Work, lists: int) -> Any:
    """Merge the sorted lists in the first row of the working memory into one list. Return its length."""
    hashes, counts, ends = work.hashes, work.counts, work.ends
    source = 0
    while lists > 1:
        target = 1 - source
        to, start, merged = 0, 0, 0
        for number in range(0, lists, 2):
            left, middle = start, ends[number]
            right, end = middle, ends[number + 1] if number + 1 < lists else middle
            while left < middle or right < end:
                if right >= end or (left < middle and hashes[source, left] <= hashes[source, right]):
                    hashed, count = hashes[source, left], counts[source, left]
                    left += 1
                    if right < end and hashes[source, right] == hashed:
                        count += counts[source, right]
                        right += 1
                else:
                    hashed, count = hashes[source, right], counts[source, right]
                    right += 1
                hashes[target, to], counts[target, to] = hashed, count
                to += 1
            start = end
            ends[merged] = to
            merged += 1
        lists, source = merged, target
    if source == 1:
        for place in range(ends[0]):
            hashes[0, place], counts[0, place] = hashes[1, place], counts[1, place]
    return ends[0] if lists else 0


@compiled
def _write_sparse(work: Work, count: int, shape: Shape, words: Array, at: int) -> Any:
    """Write a sparse state from the first row of the working memory. Return the index of the word after it."""
    most = 0
    for place in range(count):
        words[at + SPARSE_HEAD + place] = work.hashes[0, place]
        most = max(most, work.counts[0, place])
    width = _width_of(most)
    words[at], words[at + 1] = _head(SPARSE, width, shape.stated), np.uint64(count)
    for place in range(count):
        _pack(words, at + SPARSE_HEAD + count, place, width, work.counts[0, place])
    return at + SPARSE_HEAD + count + _words_of(count, width)


@compiled
def _write_dense(work: Work, shape: Shape, words: Array, at: int) -> Any:
    """Complete a dense state whose blocks are already written: write its head and counters. Return the index of the
    word after it.
    """
    counters, total, most = work.counters, 0, 0
    for place in range(counters.size):
        most = max(most, counters[place])
    for place in range(shape.columns):
        total += counters[place]
    width = _width_of(most)
    chances, all_ones = np.uint64(0), np.uint64(0)
    for block in range(shape.blocks):
        block_ones = np.uint64(0)
        for word in range(BLOCK_WORDS):
            block_ones += ones(words[at + DENSE_HEAD + BLOCK_WORDS * block + word])  # type: ignore[call-arg]
        all_ones += block_ones
        square = block_ones * block_ones
        # (block_ones / 512) ** 7 in units of 2 ** -32.
        chances += (square * square * square * block_ones) >> np.uint64(31)
    words[at], words[at + 1] = _head(DENSE, width, shape.stated), np.uint64(total)
    words[at + 2], words[at + 3] = chances, all_ones
    start = at + DENSE_HEAD + BLOCK_WORDS * shape.blocks
    for place in range(counters.size):
        if counters[place]:
            _pack(words, start, place, width, counters[place])
    return start + _words_of(counters.size, width)


@compiled
def _add_state(packed: Packed, at: int, shape: Shape, work: Work, words: Array, blocks: int) -> None:
    """Add a state, at the index ``at``, to the blocks and the counters of a dense cell."""
    stored, width = packed.words, _width(packed.words, at)
    if _form(stored, at) == DENSE:
        start = at + DENSE_HEAD
        for place in range(BLOCK_WORDS * shape.blocks):
            words[blocks + place] |= stored[start + place]
        start += BLOCK_WORDS * shape.blocks
        for place in range(work.counters.size):
            work.counters[place] += _count(stored, start, place, width)
        return
    count = np.int64(stored[at + 1])
    for place in range(count):
        hashed = stored[at + SPARSE_HEAD + place]
        _insert(words, blocks, work.counters, shape, hashed, _count(stored, at + SPARSE_HEAD + count, place, width))


@compiled
def _begin_dense(work: Work, used: int, shape: Shape, words: Array, blocks: int) -> None:
    """Start the dense form of a cell: add the ``used`` hashes in the first row of the working memory to its blocks and
    counters.
    """
    for place in range(work.counters.size):
        work.counters[place] = 0
    for place in range(used):
        _insert(words, blocks, work.counters, shape, work.hashes[0, place], work.counts[0, place])


@compiled
def unite(
    packed: Packed, order: Array, firsts: Array, span: Array, shape: Shape, work: Work, words: Array, ends: Array
) -> int:
    """Write the united state of each cell from ``span[0]`` to before ``span[1]``. Return the number of words written.

    ``order`` and ``firsts``: see :func:`bound_cells`. ``words`` uint64: the result, initially zeros. ``ends``
    int64[cells]: receives the index of the word after each state.
    """
    stored, starts = packed.words, packed.starts
    at = 0
    for cell in range(span[0], span[1]):
        is_dense, used, lists = False, 0, 0
        blocks = at + DENSE_HEAD
        for turn in range(firsts[cell], firsts[cell + 1]):
            start = starts[order[turn]]
            if start == starts[order[turn] + 1]:
                continue
            count = np.int64(stored[start + 1])
            if not is_dense:
                if lists and (lists == work.ends.size or used + count > work.hashes.shape[1]):
                    used = _merge_lists(work, lists)
                    lists = 1
                    work.ends[0] = used
                if _form(stored, start) == DENSE or count > shape.sparse_most or used + count > work.hashes.shape[1]:
                    is_dense = True
                    _begin_dense(work, used, shape, words, blocks)
            if is_dense:
                _add_state(packed, start, shape, work, words, blocks)
                continue
            width = _width(stored, start)
            for place in range(count):
                work.hashes[0, used + place] = stored[start + SPARSE_HEAD + place]
                work.counts[0, used + place] = _count(stored, start + SPARSE_HEAD + count, place, width)
            used += count
            work.ends[lists] = used
            lists += 1
        if not is_dense and lists:
            used = _merge_lists(work, lists)
            if used > shape.sparse_most:
                is_dense = True
                _begin_dense(work, used, shape, words, blocks)
        if is_dense:
            at = _write_dense(work, shape, words, at)
        elif used:
            at = _write_sparse(work, used, shape, words, at)
        ends[cell] = at
    return at


@compiled
def write_lists(hashes: Array, counts: Array, firsts: Array, shape: Shape, packed: Packed) -> None:
    """Write the occurrences of each cell as a sparse state with counts of 8 bytes, also if there are more than
    ``sparse_most``.

    ``hashes`` uint64[n], ascending within a cell. ``counts`` int64[n]. ``firsts`` int64[cells + 1]: the index of each
    cell's first hash. ``packed``: has two words for each occurrence, and two for each cell with occurrences.
    """
    words, starts = packed.words, packed.starts
    at = 0
    for cell in range(firsts.size - 1):
        starts[cell] = at
        count = firsts[cell + 1] - firsts[cell]
        if count:
            words[at], words[at + 1] = _head(SPARSE, 3, shape.stated), np.uint64(count)
            for place in range(count):
                words[at + SPARSE_HEAD + place] = hashes[firsts[cell] + place]
                words[at + SPARSE_HEAD + count + place] = np.uint64(counts[firsts[cell] + place])
            at += SPARSE_HEAD + 2 * count
    starts[firsts.size - 1] = at


class Totals(NamedTuple):
    """The numbers of values of states.

    ``values`` int64: the number of values. ``different`` int64: the number of different values; an estimate for a dense
    state. ``chances`` float64: the false-positive chance of the state.
    """

    values: Array
    different: Array
    chances: Array


class Sightings(NamedTuple):
    """The results of the search of one value in each state.

    ``maybe`` bool: false if the value certainly never occurred. ``is_exact`` bool: whether the count is exact; if not,
    it is bounded. ``highs`` int64: the largest possible count. ``lows`` int64: the least possible count; if the count
    is not exact, with a probability of 1 - exp(-ROWS).
    """

    maybe: Array
    is_exact: Array
    lows: Array
    highs: Array


@inlined
def _different(words: Array, at: Any, shape: Any) -> Any:
    """Return the number of different values of a state. For a dense state, estimate it from the set bits."""
    if _form(words, at) == SPARSE:
        return np.int64(words[at + 1])
    bits, total = np.float64(_BLOCK_BITS * shape.blocks), np.float64(words[at + 1])
    share = np.float64(words[at + 3]) / bits
    if share >= 1.0:
        return np.int64(total)
    return np.int64(min(total, math.floor(-bits / BITS * math.log1p(-share) + 0.5)))


@inlined
def _chance(words: Array, at: Any, shape: Any) -> Any:
    """Return the false-positive chance of a state."""
    if _form(words, at) == SPARSE:
        return np.float64(words[at + 1]) * 2.0**-64
    return np.float64(words[at + 2]) * CHANCE_UNIT / shape.blocks


@inlined
def _place_of(words: Array, first: Any, end: Any, hashed: Any) -> Any:
    """Return the index of a hash among ascending hashes, or the index at which it would be inserted."""
    low, high = first, end
    while low < high:
        middle = (low + high) >> 1
        if words[middle] < hashed:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def _is_in_block(words: Array, block: Any, hashed: Any) -> Any:
    """Return whether all bits of a hash are set in its block. ``block``: the first word of the block."""
    mixed, is_in = _mixed(hashed), True
    for turn in range(BITS):
        bit = (mixed >> np.uint64(9 * turn)) & np.uint64(_BLOCK_BITS - 1)
        if not (words[block + np.int64(bit >> np.uint64(6))] >> (bit & np.uint64(63))) & _ONE:
            is_in = False
    return is_in


@compiled
def look_up(packed: Packed, hashed: Any, shape: Shape, sightings: Sightings) -> None:
    """Search a hash in each state, and write the results to ``sightings``."""
    words, starts = packed.words, packed.starts
    for i in range(starts.size - 1):
        at = starts[i]
        sightings.maybe[i], sightings.is_exact[i], sightings.lows[i], sightings.highs[i] = False, True, 0, 0
        if at == starts[i + 1]:
            continue
        width = _width(words, at)
        if _form(words, at) == SPARSE:
            first, end = at + SPARSE_HEAD, at + SPARSE_HEAD + np.int64(words[at + 1])
            place = _place_of(words, first, end, hashed)
            if place < end and words[place] == hashed:
                count = _count(words, end, place - first, width)
                sightings.maybe[i], sightings.lows[i], sightings.highs[i] = True, count, count
            continue
        if not _is_in_block(words, at + DENSE_HEAD + BLOCK_WORDS * _block(hashed, shape.blocks), hashed):
            continue
        counters = at + DENSE_HEAD + BLOCK_WORDS * shape.blocks
        least = np.int64(words[at + 1])
        for row in range(ROWS):
            place = row * shape.columns + _column(hashed, row, shape.columns)
            least = min(least, _count(words, counters, place, width))
        # An error of e * values / columns is exceeded in each row with a probability of 1 / e.
        error = np.int64(math.ceil(np.float64(words[at + 1]) * math.e / shape.columns))
        sightings.maybe[i], sightings.is_exact[i] = True, False
        sightings.lows[i], sightings.highs[i] = max(0, least - error), least


@compiled
def sum_up(packed: Packed, shape: Shape, has_values: bool, totals: Totals) -> None:
    """Write the numbers of values of each state to ``totals``. Without ``has_values``, the number of values of sparse
    states is 0, because it takes a pass over their counts.
    """
    words, starts = packed.words, packed.starts
    for i in range(starts.size - 1):
        at = starts[i]
        totals.values[i], totals.different[i], totals.chances[i] = 0, 0, 0.0
        if at == starts[i + 1]:
            continue
        totals.different[i], totals.chances[i] = _different(words, at, shape), _chance(words, at, shape)
        if _form(words, at) == DENSE:
            totals.values[i] = np.int64(words[at + 1])
        elif has_values:
            count, width = np.int64(words[at + 1]), _width(words, at)
            for place in range(count):
                totals.values[i] += _count(words, at + SPARSE_HEAD + count, place, width)
