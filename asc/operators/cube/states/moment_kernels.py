# ruff: noqa: PLR0917 (compiled functions take their arguments by position)
"""Compiled loops that fold and merge exact sums of doubles and of their products.

A sum is an integer in units of 2**-1074, and a sum of products in units of 2**-2148. Every finite double, and every
product of two, is a whole number of these units. An integer is stored in words of 32 bits, lowest first, in two's
complement.

A state consists of words. The first two are the count of complete rows. Each sum follows, with a header and its words.
The high 16 bits of a header are the number of omitted words, which are zero and below the first stored word. The low 16
bits are the number of stored words. For a sum of 0, the header is 0. For a column that has infinities or NaN, the high
bits of its header are the code of their sum.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from asc.compiled import compiled, inlined

Array = Any

MASK = 0xFFFF_FFFF
WORDS_MAX = 160
"""An upper bound of the number of words of any sum, omitted words included: 2**63 products of the largest doubles need
137.
"""
PLUS, MINUS, NOT_A_NUMBER = 1, 2, 3
"""The codes of a column with infinities or NaN: the sum of its values is infinity, minus infinity or NaN."""

_EXPONENT_MAX = 0x7FF
_FRACTION_BITS = 52
_FRACTION = 2**_FRACTION_BITS - 1
_SUM_BITS, _PRODUCT_BITS = 53 + 31, 106 + 31
"""The number of bits that a sum of 2**31 values, or of 2**31 products, may have above the lowest bit of the largest
summand.
"""


class Packed(NamedTuple):
    """Stored states. ``words`` uint32: the words of all states. ``offsets`` int32[states + 1]: the position in bytes of
    each state. A NULL state has no bytes.
    """

    words: Array
    offsets: Array


class Sums(NamedTuple):
    """The states of cells while rows or other states are added to them.

    ``counts`` int64[cells]: the number of complete rows. ``codes`` uint8[cells, columns]: a code such as :data:`PLUS`;
    0 if all values are finite. ``firsts`` int32[cells, sums]: the number of omitted words of each sum. ``starts``
    int64[cells * sums + 1]: the index in ``digits`` of each sum's first word. ``digits`` int64: the words of all sums,
    each with a sign and without carries.
    """

    counts: Array
    codes: Array
    firsts: Array
    starts: Array
    digits: Array


@inlined
def _united(code: Any, other: Any) -> Any:
    """Return the code of the sum of two columns' infinities and NaN, from their codes. 0 means that all values are
    finite.
    """
    if code in (0, other):
        return other
    return code if other == 0 else NOT_A_NUMBER


@compiled
def find_spans(
    bits: Array, nulls: Array, rows: Array, cells: Array, counts: Array, lows: Array, highs: Array, codes: Array
) -> None:
    """Count the complete rows of each cell, and find the span of the exponents of each column in the cell.

    ``bits`` int64[values, columns]: the bits of doubles. ``lows`` and ``highs`` int16[cells, columns]: the least and
    the greatest position of a value's lowest bit, in units of 2**-1074, initially 2**15 - 1 and -1. ``codes``
    uint8[cells, columns]: see :data:`PLUS`.
    """
    columns = bits.shape[1]
    for i in range(cells.size):
        row = rows[i]
        if nulls.size and nulls[row]:
            continue
        cell = cells[i]
        counts[cell] += 1
        for column in range(columns):
            value = bits[row, column]
            exponent = (value >> _FRACTION_BITS) & _EXPONENT_MAX
            if exponent == _EXPONENT_MAX:
                code = NOT_A_NUMBER if value & _FRACTION else MINUS if value < 0 else PLUS
                codes[cell, column] = _united(codes[cell, column], code)
                continue
            if exponent == 0:
                if not value & _FRACTION:
                    continue
                exponent = 1
            lows[cell, column] = min(lows[cell, column], exponent - 1)
            highs[cell, column] = max(highs[cell, column], exponent - 1)


@compiled
def plan_fold(lows: Array, highs: Array, codes: Array, firsts: Array, starts: Array) -> None:
    """Reserve for each sum of each cell the words that it may need, from the spans of :func:`find_spans`.

    ``firsts`` int32[cells, sums] receives the number of omitted words of each sum. ``starts`` int64[cells * sums + 1]
    receives the index of its first word among the words of all sums.
    """
    columns = lows.shape[1]
    place, at = 0, 0
    for cell in range(lows.shape[0]):
        number = 0
        for column in range(columns):
            starts[at] = place
            if highs[cell, column] >= 0 and not codes[cell, column]:
                first = np.int64(lows[cell, column]) >> 5
                firsts[cell, number] = first
                place += ((np.int64(highs[cell, column]) + _SUM_BITS) >> 5) - first + 1
            number += 1
            at += 1
        for column in range(columns):
            for other in range(column, columns):
                starts[at] = place
                is_empty = highs[cell, column] < 0 or highs[cell, other] < 0
                if not is_empty and not codes[cell, column] and not codes[cell, other]:
                    first = (np.int64(lows[cell, column]) + np.int64(lows[cell, other])) >> 5
                    firsts[cell, number] = first
                    high = np.int64(highs[cell, column]) + np.int64(highs[cell, other])
                    place += ((high + _PRODUCT_BITS) >> 5) - first + 1
                number += 1
                at += 1
    starts[at] = place


@inlined
def _add_value(digits: Array, place: Any, mantissa: Any, shift: Any, sign: Any) -> None:
    """Add a mantissa of 53 bits, shifted by less than 32 bits, to the digits from the index ``place`` on."""
    bits, by = np.uint64(mantissa), np.uint64(shift)
    mask, single_bit = np.uint64(MASK), np.uint64(1)
    digits[place] += sign * np.int64((bits << by) & mask)
    digits[place + 1] += sign * np.int64((bits >> (np.uint64(32) - by)) & mask)
    digits[place + 2] += sign * np.int64((bits >> (np.uint64(63) - by)) >> single_bit)


@inlined
def _add_product(digits: Array, place: Any, mantissa: Any, other: Any, shift: Any, sign: Any) -> None:
    """Add the product of two mantissas of 53 bits, shifted by less than 32 bits, to the digits from the index ``place``
    on.
    """
    mask, half, by, single_bit = np.uint64(MASK), np.uint64(32), np.uint64(shift), np.uint64(1)
    first, second = np.uint64(mantissa), np.uint64(other)
    first_low, first_high = first & mask, first >> half
    second_low, second_high = second & mask, second >> half
    lowest = first_low * second_low
    middle = first_low * second_high + first_high * second_low
    carried = (lowest >> half) + (middle & mask)
    low = (lowest & mask) | (carried << half)
    high = (carried >> half) + (middle >> half) + first_high * second_high
    digits[place] += sign * np.int64((low << by) & mask)
    digits[place + 1] += sign * np.int64((low >> (half - by)) & mask)
    digits[place + 2] += sign * np.int64((((low >> (np.uint64(63) - by)) >> single_bit) | (high << by)) & mask)
    digits[place + 3] += sign * np.int64((high >> (half - by)) & mask)
    digits[place + 4] += sign * np.int64((high >> (np.uint64(63) - by)) >> single_bit)


@compiled
def add_rows(bits: Array, nulls: Array, rows: Array, cells: Array, first: int, states: Sums, scratch: Array) -> None:
    """Add the values of complete rows, and their products, to the digits of their sums. Rows of cells that are not in
    ``states`` are skipped. ``first``: the number of the first cell of ``states``. ``scratch`` int64[3, columns]:
    working memory.
    """
    firsts, starts, digits = states.firsts, states.starts, states.digits
    columns = bits.shape[1]
    sums = firsts.shape[1]
    for i in range(cells.size):
        row = rows[i]
        if nulls.size and nulls[row]:
            continue
        cell = np.int64(cells[i]) - first
        if cell < 0 or cell >= states.counts.size:
            continue
        first_sum = cell * sums
        for column in range(columns):
            value = bits[row, column]
            exponent = (value >> _FRACTION_BITS) & _EXPONENT_MAX
            mantissa = value & _FRACTION
            if exponent:
                mantissa |= 1 << _FRACTION_BITS
                exponent -= 1
            sign = -1 if value < 0 else 1
            scratch[0, column], scratch[1, column], scratch[2, column] = mantissa, exponent, sign
            start = starts[first_sum + column]
            if mantissa and start < starts[first_sum + column + 1]:
                place = start + (exponent >> 5) - firsts[cell, column]
                _add_value(digits, place, mantissa, exponent & 31, sign)
        number = columns
        for column in range(columns):
            for other in range(column, columns):
                start = starts[first_sum + number]
                if scratch[0, column] and scratch[0, other] and start < starts[first_sum + number + 1]:
                    shift = scratch[1, column] + scratch[1, other]
                    place = start + (shift >> 5) - firsts[cell, number]
                    sign = scratch[2, column] * scratch[2, other]
                    _add_product(digits, place, scratch[0, column], scratch[0, other], shift & 31, sign)
                number += 1


@compiled
def are_sound(packed: Packed, sums: int) -> bool:
    """Return whether each state contains a count and ``sums`` sums of a possible size."""
    words, offsets = packed.words, packed.offsets
    for i in range(offsets.size - 1):
        at, end = np.int64(offsets[i]), np.int64(offsets[i + 1])
        if at == end:
            continue
        if at & 3 or end & 3 or at > end or end > 4 * words.size:
            return False
        at, end = (at >> 2) + 2, end >> 2
        for _ in range(sums):
            if at >= end:
                return False
            header = np.int64(words[at])
            at += 1 + (header & 0xFFFF)
            if (header & 0xFFFF) and (header >> 16) + (header & 0xFFFF) > WORDS_MAX:
                return False
        if at != end:
            return False
    return True


@compiled
def find_windows(packed: Packed, cells: Array, counts: Array, codes: Array, firsts: Array, lasts: Array) -> None:
    """Add the counts of states to the counts of their cells, and find the range of words of each sum of a cell.

    ``firsts`` and ``lasts`` int32[cells, sums]: the number of the first word and of the word after the last one,
    initially 2**31 - 1 and 0.
    """
    words, offsets = packed.words, packed.offsets
    columns, sums = codes.shape[1], firsts.shape[1]
    for i in range(cells.size):
        at = np.int64(offsets[i]) >> 2
        if offsets[i] == offsets[i + 1]:
            continue
        cell = cells[i]
        counts[cell] += np.int64(words[at]) | (np.int64(words[at + 1]) << 32)
        at += 2
        for number in range(sums):
            header = np.int64(words[at])
            first, count = header >> 16, header & 0xFFFF
            if count:
                firsts[cell, number] = min(np.int64(firsts[cell, number]), first)
                lasts[cell, number] = max(np.int64(lasts[cell, number]), first + count)
            elif number < columns:
                codes[cell, number] = _united(np.int64(codes[cell, number]), first)
            at += 1 + count


@compiled
def plan_merge(codes: Array, firsts: Array, lasts: Array, starts: Array) -> None:
    """Reserve for each sum of each cell the words that it may need, as :func:`plan_fold` does. They are
    the range of words of the merged sums, and one word more for the carry.
    """
    columns, sums = codes.shape[1], firsts.shape[1]
    place, at = 0, 0
    for cell in range(firsts.shape[0]):
        number, column, other = 0, 0, 0
        for number in range(sums):
            starts[at] = place
            at += 1
            is_finite = True
            if number < columns:
                is_finite = codes[cell, number] == 0
            else:
                is_finite = codes[cell, column] == 0 and codes[cell, other] == 0
                other += 1
                if other == columns:
                    column += 1
                    other = column
            if is_finite and lasts[cell, number] > 0:
                place += lasts[cell, number] - firsts[cell, number] + 1
    starts[at] = place


@compiled
def add_states(packed: Packed, cells: Array, first: int, states: Sums) -> None:
    """Add the sums of states to the digits of the sums of their cells. States of cells that are not in ``states`` are
    skipped. ``first``: the number of the first cell of ``states``.
    """
    words, offsets = packed.words, packed.offsets
    firsts, starts, digits = states.firsts, states.starts, states.digits
    sums = firsts.shape[1]
    for i in range(cells.size):
        if offsets[i] == offsets[i + 1]:
            continue
        at = (np.int64(offsets[i]) >> 2) + 2
        cell = np.int64(cells[i]) - first
        if cell < 0 or cell >= states.counts.size:
            continue
        for number in range(sums):
            header = np.int64(words[at])
            count = header & 0xFFFF
            start = starts[cell * sums + number]
            if count and start < starts[cell * sums + number + 1]:
                place = start + (header >> 16) - firsts[cell, number]
                for word in range(count - 1):
                    digits[place + word] += np.int64(words[at + 1 + word])
                # The highest word has the sign.
                digits[place + count - 1] += np.int64(np.int32(words[at + count]))
            at += 1 + count


@inlined
def _last_needed(digits: Array, start: Any, end: Any) -> Any:
    """Return the end of the words of a sum without the highest words that only repeat the sign; ``start`` for a sum of
    0.
    """
    while end > start:
        top = digits[end - 1]
        below = digits[end - 2] if end - 1 > start else 0
        if (top == 0 and below < 2**31) or (top == MASK and end - 1 > start and below >= 2**31):
            end -= 1
        else:
            break
    return end


@compiled
def carry(states: Sums, sizes: Array) -> None:
    """Carry between the digits of each sum, so that each digit is a word of 32 bits. Write to ``sizes`` int64[cells]
    the number of words of each state; 0 for a cell without a complete row.
    """
    counts, starts, digits = states.counts, states.starts, states.digits
    sums = states.firsts.shape[1]
    for cell in range(counts.size):
        sizes[cell] = 0
        if not counts[cell]:
            continue
        size = 2 + sums
        for number in range(sums):
            start, end = starts[cell * sums + number], starts[cell * sums + number + 1]
            over = 0
            for place in range(start, end):
                total = digits[place] + over
                digits[place] = total & MASK
                over = total >> 32
            end = _last_needed(digits, start, end)
            while start < end and digits[start] == 0:
                start += 1
            size += end - start
        sizes[cell] = size


@compiled
def write_states(states: Sums, packed: Packed) -> None:
    """Write the states of cells to the words of ``packed``, at its offsets."""
    counts, codes, firsts, starts, digits = states.counts, states.codes, states.firsts, states.starts, states.digits
    words, offsets = packed.words, packed.offsets
    columns, sums = codes.shape[1], firsts.shape[1]
    for cell in range(counts.size):
        if not counts[cell]:
            continue
        at = np.int64(offsets[cell]) >> 2
        words[at] = counts[cell] & MASK
        words[at + 1] = counts[cell] >> 32
        at += 2
        for number in range(sums):
            start, end = starts[cell * sums + number], starts[cell * sums + number + 1]
            first = np.int64(firsts[cell, number]) - start
            end = _last_needed(digits, start, end)
            while start < end and digits[start] == 0:
                start += 1
            header = ((first + start) << 16) | (end - start)
            if start == end:
                header = np.int64(codes[cell, number]) << 16 if number < columns else 0
            words[at] = header
            at += 1
            for place in range(start, end):
                words[at] = digits[place]
                at += 1
