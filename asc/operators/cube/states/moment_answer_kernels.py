# ruff: noqa: PLR0917 (compiled functions take their arguments by position)
"""Compiled functions that compute central moments from the exact sums of states, with exact integers.

A sum is a big integer in words of 32 bits. A result is a fraction in (-1, 1) and a power of two, because it may be
outside the range of doubles. Each result is rounded once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from asc.compiled import compiled, inlined
from asc.operators.cube.states.moment_kernels import MASK, MINUS, PLUS, WORDS_MAX

Array = Any

UNIT_BITS = 1_074
"""A sum of doubles is in units of 2**-UNIT_BITS, and a sum of products in units of 2**(-2 * UNIT_BITS)."""
LINE_WORDS = 4 * WORDS_MAX
"""The number of words of one line of working memory. A line stores one big integer, and a product of three
sums fits.
"""
_FIRST, _SECOND, _THIRD, _MADE, _OTHER = range(5)
LINES = 5
"""The number of lines of working memory: three sums, and two results."""


@compiled
def _section(words: Array, at: Any, number: Any) -> Any:
    """Return the index of the header of a sum in ``words``. ``at``: the index of the state. ``number``: the number of
    the sum in the state.
    """
    at += 2
    for _ in range(number):
        at += 1 + (np.int64(words[at]) & 0xFFFF)
    return at


@inlined
def _number_of(columns: Any, column: Any, other: Any) -> Any:
    """Return the number, in a state, of the sum of products of two columns. ``columns``: the number of columns of the
    state.
    """
    low, high = min(column, other), max(column, other)
    return columns + low * columns - low * (low - 1) // 2 + high - low


@compiled
def _load(words: Array, at: Any, line: Array) -> Any:
    """Write the magnitude of a sum to a line of working memory. Return its number of words, and its sign."""
    header = np.int64(words[at])
    first, count = header >> 16, header & 0xFFFF
    if not count:
        return 0, 1
    for place in range(first):
        line[place] = 0
    is_negative = words[at + count] >= 2**31
    over = 1
    for word in range(count):
        value = np.int64(words[at + 1 + word])
        if is_negative:
            value = (value ^ MASK) + over
            over = value >> 32
            value &= MASK
        line[first + word] = value
    size = first + count
    # The highest word may be 0: a state stores such a word if it is needed for the sign.
    while size and line[size - 1] == 0:
        size -= 1
    return size, -1 if is_negative else 1


@compiled
def _add_product(line: Array, first: Array, first_size: Any, second: Array, second_size: Any, sign: Any) -> None:
    """Add the product of two magnitudes, with a sign, to the words of a line, without carries."""
    for place in range(first_size):
        digit = np.uint64(first[place])
        if digit == 0:
            continue
        for other in range(second_size):
            product = digit * np.uint64(second[other])
            line[place + other] += sign * np.int64(product & np.uint64(MASK))
            line[place + other + 1] += sign * np.int64(product >> np.uint64(32))


@compiled
def _settle(line: Array, size: Any) -> Any:
    """Carry between the words of a line, so that the line becomes a magnitude. Return its number of words, and its
    sign.
    """
    over = 0
    for place in range(size):
        total = line[place] + over
        line[place] = total & MASK
        over = total >> 32
    sign = 1
    if over < 0:
        sign, over = -1, 1
        for place in range(size):
            value = (line[place] ^ MASK) + over
            line[place] = value & MASK
            over = value >> 32
    while size and line[size - 1] == 0:
        size -= 1
    return size, sign


@compiled
def _rounded(line: Array, size: Any, sign: Any) -> Any:
    """Return the number in a line as a fraction and a power of two, rounded once."""
    if not size:
        return 0.0, 0
    top = size - 1
    high = np.uint64(line[top])
    middle = np.uint64(line[top - 1]) if top > 0 else np.uint64(0)
    low = np.uint64(line[top - 2]) if top > 1 else np.uint64(0)
    zeros = 0
    while not (high >> np.uint64(31 - zeros)) & np.uint64(1):
        zeros += 1
    by, half = np.uint64(zeros), np.uint64(32)
    bits = (((high << half) | middle) << by) | (low >> (half - by))
    is_inexact = ((low << by) & np.uint64(MASK)) != 0
    for place in range(top - 2):
        is_inexact |= line[place] != 0
    if is_inexact:
        bits |= np.uint64(1)
    return sign * (np.float64(bits) * 2.0**-64), 32 * (top - 1) - zeros + 64


@compiled
def _central(words: Array, at: Any, columns: Any, column: Any, other: Any, work: Array, into: Any) -> Any:
    """Write count * sum of products - product of sums, of two columns, to the line ``into``. Return its number of
    words, and its sign.
    """
    line = work[into]
    product, product_sign = _load(words, _section(words, at, _number_of(columns, column, other)), work[_THIRD])
    first, first_sign = _load(words, _section(words, at, column), work[_FIRST])
    second, second_sign = _load(words, _section(words, at, other), work[_SECOND])
    size = max(product + 2, first + second) + 2
    for place in range(size):
        line[place] = 0
    _add_product(line, work[_FIRST], first, work[_SECOND], second, -first_sign * second_sign)
    work[_FIRST, 0], work[_FIRST, 1] = words[at], words[at + 1]
    _add_product(line, work[_FIRST], 2, work[_THIRD], product, product_sign)
    return _settle(line, size)


@inlined
def _code(words: Array, at: Any, column: Any) -> Any:
    """Return the code of the infinities or NaN of a column; 0 for a column of finite values."""
    header = np.int64(words[_section(words, at, column)])
    return 0 if header & 0xFFFF else header >> 16


@compiled
def sum_of(words: Array, at: Any, column: Any, work: Array) -> Any:
    """Return the sum of a column, as a fraction and a power of two. ``at``: the index of the state in ``words``.
    ``work`` int64[LINES, LINE_WORDS]: working memory.

    For a column with infinities or NaN, the fraction is their sum, and the power is 0.
    """
    code = _code(words, at, column)
    fraction, power = np.inf if code == PLUS else -np.inf if code == MINUS else np.nan, 0
    if not code:
        size, sign = _load(words, _section(words, at, column), work[_FIRST])
        fraction, power = _rounded(work[_FIRST], size, sign)
        power -= UNIT_BITS
    return fraction, power


@compiled
def central_product(words: Array, at: Any, columns: Any, column: Any, other: Any, work: Array) -> Any:
    """Return n * sum(x * y) - sum(x) * sum(y) as a fraction and a power of two: n**2 times the covariance of two
    columns. ``columns``: the number of columns of the state. The other arguments are those of :func:`sum_of`.
    """
    fraction, power = np.nan, 0
    if not _code(words, at, column) and not _code(words, at, other):
        size, sign = _central(words, at, columns, column, other, work, _MADE)
        fraction, power = _rounded(work[_MADE], size, sign)
        power -= 2 * UNIT_BITS
    return fraction, power


@compiled
def intercept_numerator(words: Array, at: Any, columns: Any, y: Any, x: Any, work: Array) -> Any:
    """Return sum(y) * D(x, x) - sum(x) * D(x, y) as a fraction and a power of two, where D is :func:`central_product`.
    The result is n * D(x, x) times the intercept of the regression of y on x.
    """
    fraction, power = np.nan, 0
    if not _code(words, at, x) and not _code(words, at, y):
        square, square_sign = _central(words, at, columns, x, x, work, _MADE)
        product, product_sign = _central(words, at, columns, x, y, work, _OTHER)
        first, first_sign = _load(words, _section(words, at, y), work[_FIRST])
        second, second_sign = _load(words, _section(words, at, x), work[_SECOND])
        line = work[_THIRD]
        size = max(first + square, second + product) + 2
        for place in range(size):
            line[place] = 0
        _add_product(line, work[_FIRST], first, work[_MADE], square, first_sign * square_sign)
        _add_product(line, work[_SECOND], second, work[_OTHER], product, -second_sign * product_sign)
        size, sign = _settle(line, size)
        fraction, power = _rounded(line, size, sign)
        power -= 3 * UNIT_BITS
    return fraction, power
