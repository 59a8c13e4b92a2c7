"""A compiled loop that computes one statistic of the co-moments of each cell."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from asc.compiled import compiled, inlined
from asc.operators.cube.states.moment_answer_kernels import central_product, intercept_numerator, sum_of
from asc.operators.cube.states.moment_kernels import Packed

Array = Any

MEAN, PRODUCT, ROOT, CORRELATION, SLOPE, INTERCEPT, DETERMINATION = range(7)
"""The formulas. The first three are the mean of y, the central product of y and x over a divisor, and its root. The
others are the correlation, and the slope, intercept and coefficient of determination of the regression of y on x.
"""
BY_COUNT, BY_POPULATION, BY_SAMPLE = range(3)
"""The divisors of a central product, which is n**2 times a covariance: n, n**2 and n * (n - 1)."""


class Formula(NamedTuple):
    """A statistic of some columns. ``y`` and ``x``: the numbers of the columns in a state of ``columns`` columns."""

    formula: int
    divisor: int
    columns: int
    y: int
    x: int


@inlined
def count_of(words: Array, at: Any) -> Any:
    """Return the number of complete rows of a state. ``at``: the index of the state in ``words``."""
    return np.float64(np.int64(words[at]) | (np.int64(words[at + 1]) << 32))


@inlined
def scaled(fraction: Any, power: Any) -> Any:
    """Return a fraction times a power of two as a double, rounded once."""
    return math.ldexp(fraction, np.int32(power))


@compiled
def root_of(fraction: Any, power: Any) -> Any:
    """Return the square root of a fraction times a power of two, as a fraction and a power of two."""
    odd = power & 1
    return math.sqrt(math.ldexp(fraction, np.int32(odd))), (power - odd) >> 1


@compiled
def statistics(packed: Packed, wanted: Formula, work: Array, values: Array, has_value: Array) -> None:
    """Compute the statistic ``wanted`` of each state. ``values`` float64[states] and ``has_value`` bool[states],
    initially 0 and false, receive the results. A statistic without a value is NULL.
    """
    words, offsets = packed.words, packed.offsets
    for i in range(offsets.size - 1):
        if offsets[i] == offsets[i + 1]:
            continue
        at = np.int64(offsets[i]) >> 2
        value, has_value[i] = _statistic(words, at, wanted, work)
        # Adding 0.0 changes -0.0 to 0.0, so that equal answers have equal bytes.
        values[i] = value + 0.0 if has_value[i] else 0.0


@compiled
def _statistic(words: Array, at: Any, wanted: Formula, work: Array) -> Any:
    """Return a statistic of one state, and whether it has a value."""
    count, columns, y, x = count_of(words, at), wanted.columns, wanted.y, wanted.x
    if wanted.formula == MEAN:
        fraction, power = sum_of(words, at, y, work)
        return scaled(fraction / count, power), True
    if wanted.formula in (PRODUCT, ROOT):
        if wanted.divisor == BY_SAMPLE and count < 2.0:
            return 0.0, False
        fraction, power = central_product(words, at, columns, y, x, work)
        if wanted.divisor == BY_COUNT:
            fraction /= count
        else:
            fraction /= count * (count - (1.0 if wanted.divisor == BY_SAMPLE else 0.0))
        if wanted.formula == ROOT:
            fraction, power = root_of(fraction, power)
        return scaled(fraction, power), True
    return _of_two(words, at, wanted, work)


@compiled
def _of_two(words: Array, at: Any, wanted: Formula, work: Array) -> Any:
    """Return a statistic of the regression of y on x, and whether it has a value."""
    count, columns, y, x = count_of(words, at), wanted.columns, wanted.y, wanted.x
    xx, xx_power = central_product(words, at, columns, x, x, work)
    if wanted.formula in (SLOPE, INTERCEPT):
        if xx == 0.0:
            return 0.0, False
        if wanted.formula == INTERCEPT:
            over, power = intercept_numerator(words, at, columns, y, x, work)
            over /= count
        else:
            over, power = central_product(words, at, columns, y, x, work)
        return scaled(over / xx, power - xx_power), True
    yy, yy_power = central_product(words, at, columns, y, y, work)
    xy, xy_power = central_product(words, at, columns, y, x, work)
    square, square_power = xx * yy, xx_power + yy_power
    if wanted.formula == CORRELATION:
        if count < 2.0 or square == 0.0:
            return 0.0, False
        root, root_power = root_of(square, square_power)
        # Rounding may give a correlation slightly above 1 or below -1.
        value = scaled(xy / root, xy_power - root_power)
        return value if math.isnan(value) else min(max(value, -1.0), 1.0), True
    # Spark gives NULL for equal values of y, and then 1 for equal values of x.
    if yy == 0.0:
        return 0.0, False
    if xx == 0.0:
        return 1.0, True
    value = scaled(xy * xy / square, 2 * xy_power - square_power)
    return value if math.isnan(value) else min(value, 1.0), True
