# ruff: noqa: PLR0917 (compiled functions take their arrays one by one, by position)
"""Compiled loops over the values of cells: counts, exact sums, TwoSum pairs, extremes.

Arguments of the loops. ``rows`` int64[n]: the indices of the values to process, in order. ``cells`` int32[n]: the cell
of each of these values. The loops that merge states have no ``rows``: they process all states in order. ``nulls``
bool[values]: whether each value is NULL; the array is empty if no value is NULL.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from asc.compiled import compiled, inlined

Array = Any

LARGE = 2.0**1000
"""The magnitude from which a pair is stored in units of UNIT, because a further addition might overflow."""
UNIT = 2.0**128
IN_UNITS = 1.0
"""The third number of a float sum whose pair is in units of UNIT. The third number is 0 if the pair is in
units of 1.
"""


@compiled
def count_rows(cells: Array, counts: Array) -> None:
    """Add to ``counts`` the number of rows of each cell."""
    for i in range(cells.size):
        counts[cells[i]] += 1


@compiled
def count_values(rows: Array, cells: Array, nulls: Array, counts: Array) -> None:
    """Add to ``counts`` the number of values of each cell that are not NULL."""
    for i in range(cells.size):
        if not nulls[rows[i]]:
            counts[cells[i]] += 1


@compiled
def add_counts(added: Array, cells: Array, counts: Array) -> None:
    """Add partial counts to the counts of their cells."""
    for i in range(cells.size):
        counts[cells[i]] += added[i]


@compiled
def sum_short(values: Array, nulls: Array, rows: Array, cells: Array, limbs: Array, has_value: Array) -> None:
    """Add int64 values to the sums of their cells, faster than :func:`sum_integers` and with the same result. No sum
    may exceed 64 bits. The arguments are those of :func:`sum_integers`.
    """
    if nulls.size:
        for i in range(cells.size):
            if not nulls[rows[i]]:
                limbs[cells[i], 0] += np.uint64(values[rows[i]])
                has_value[cells[i]] = True
    else:
        for i in range(cells.size):
            limbs[cells[i], 0] += np.uint64(values[rows[i]])
            has_value[cells[i]] = True
    for cell in range(has_value.size):
        sign = np.uint64(np.int64(limbs[cell, 0]) >> 63)
        limbs[cell, 1] = sign
        limbs[cell, 2] = sign


@compiled
def sum_integers(values: Array, nulls: Array, rows: Array, cells: Array, limbs: Array, has_value: Array) -> None:
    """Add int64 values to the sums of their cells. ``limbs`` uint64[cells, 3]: the sums in two's complement, lowest
    limb first.

    The loop adds to the first two limbs, 128 bits, into which 2**63 values of 64 bits fit. The third limb is written at
    the end, as the extension of the sign.
    """
    for i in range(cells.size):
        row = rows[i]
        if nulls.size and nulls[row]:
            continue
        cell = cells[i]
        low = np.uint64(values[row])
        total = limbs[cell, 0] + low
        carry = np.uint64(total < low)
        limbs[cell, 0] = total
        limbs[cell, 1] += np.uint64(values[row] >> 63) + carry
        has_value[cell] = True
    for cell in range(has_value.size):
        limbs[cell, 2] = np.uint64(np.int64(limbs[cell, 1]) >> 63)


@inlined
def _add_limbs(limbs: Array, cell: Any, low: Any, middle: Any, high: Any) -> None:
    first = limbs[cell, 0] + low
    carry = np.uint64(first < low)
    second = limbs[cell, 1] + middle
    over = np.uint64(second < middle)
    third = second + carry
    over += np.uint64(third < carry)
    limbs[cell, 0] = first
    limbs[cell, 1] = third
    limbs[cell, 2] += high + over


@compiled
def sum_decimals(values: Array, nulls: Array, rows: Array, cells: Array, limbs: Array, has_value: Array) -> None:
    """Add integers of 128 bits, uint64[values, 2], to the sums of their cells."""
    for i in range(cells.size):
        row = rows[i]
        if nulls.size and nulls[row]:
            continue
        high = np.uint64(np.int64(values[row, 1]) >> 63)
        _add_limbs(limbs, cells[i], values[row, 0], values[row, 1], high)
        has_value[cells[i]] = True


@compiled
def sum_limbs(added: Array, nulls: Array, cells: Array, limbs: Array) -> None:
    """Add partial sums, uint64[n, 3], to the sums of their cells."""
    if nulls.size:
        for i in range(cells.size):
            if not nulls[i]:
                _add_limbs(limbs, cells[i], added[i, 0], added[i, 1], added[i, 2])
    else:
        for i in range(cells.size):
            _add_limbs(limbs, cells[i], added[i, 0], added[i, 1], added[i, 2])


@compiled
def mark_values(nulls: Array, cells: Array, has_value: Array) -> None:
    """Mark in ``has_value`` each cell that has at least one state that is not NULL."""
    for i in range(cells.size):
        if not nulls[i]:
            has_value[cells[i]] = True


@inlined
def _two_sum(first: Any, second: Any) -> Any:
    """Return the rounded sum of two doubles and its rounding error, which add up to their exact sum."""
    total = first + second
    part = total - first
    return total, (first - (total - part)) + (second - part)


@inlined
def _add_pair(sums: Array, rests: Array, cell: Any, first: Any, second: Any, kind: Any) -> None:
    """Add a pair to the pair of a cell. ``kind``: 0 for a pair in units of 1, IN_UNITS, or the sum of infinite and NaN
    values.

    ``rests`` float64[cells] sums up the rounding errors of the second number of each pair. Without it, n additions
    would lose up to n**2 times the square of the rounding unit.
    """
    cell_kind = sums[cell, 2]
    if cell_kind == 0.0 and kind == 0.0:
        total, error = _two_sum(sums[cell, 0], first)
        if abs(total) < LARGE:
            low, rest = _two_sum(sums[cell, 1], error)
            low, last = _two_sum(low, second)
            sums[cell, 0] = total
            sums[cell, 1] = low
            rests[cell] += rest + last
            return
    if not (abs(cell_kind) <= IN_UNITS and abs(kind) <= IN_UNITS):
        # If any value is infinite or NaN, the sum of the infinite and NaN values replaces the pair. Their sum does not
        # depend on their order.
        left = 0.0 if abs(cell_kind) <= IN_UNITS else cell_kind
        right = 0.0 if abs(kind) <= IN_UNITS else kind
        sums[cell, 0] = 0.0
        sums[cell, 1] = 0.0
        rests[cell] = 0.0
        sums[cell, 2] = np.nan if left + right != left + right else left + right
        return
    if cell_kind == 0.0:
        sums[cell, 0] /= UNIT
        sums[cell, 1] /= UNIT
        rests[cell] /= UNIT
        sums[cell, 2] = IN_UNITS
    if kind == 0.0:
        first /= UNIT
        second /= UNIT
    total, error = _two_sum(sums[cell, 0], first)
    low, rest = _two_sum(sums[cell, 1], error)
    low, last = _two_sum(low, second)
    sums[cell, 0] = total
    sums[cell, 1] = low
    rests[cell] += rest + last


@compiled
def sum_floats(
    values: Array, nulls: Array, rows: Array, cells: Array, sums: Array, rests: Array, has_value: Array
) -> None:
    """Add float64 values to the sums of their cells. ``sums`` float64[cells, 3]: a pair, and the third number of
    :class:`FloatSum`.

    ``rests`` float64[cells] is working memory of zeros.
    """
    has_nulls = nulls.size > 0
    for i in range(cells.size):
        row = rows[i]
        if has_nulls and nulls[row]:
            continue
        value = values[row]
        has_value[cells[i]] = True
        if abs(value) < np.inf:
            _add_pair(sums, rests, cells[i], value, 0.0, 0.0)
        else:
            _add_pair(sums, rests, cells[i], 0.0, 0.0, value)
    _normalise(sums, rests)


@compiled
def sum_pairs(added: Array, nulls: Array, cells: Array, sums: Array, rests: Array) -> None:
    """Add partial sums, float64[n, 3], to the sums of their cells, as :func:`sum_floats` adds values."""
    if nulls.size:
        for i in range(cells.size):
            if not nulls[i]:
                _add_pair(sums, rests, cells[i], added[i, 0], added[i, 1], added[i, 2])
    else:
        for i in range(cells.size):
            _add_pair(sums, rests, cells[i], added[i, 0], added[i, 1], added[i, 2])
    _normalise(sums, rests)


@inlined
def _normalise(sums: Array, rests: Array) -> None:
    """Normalise each pair: the first number becomes the rounded sum, and the second number the rounding error. -0.0
    becomes 0.0.
    """
    for cell in range(sums.shape[0]):
        total, error = _two_sum(sums[cell, 0], sums[cell, 1])
        total, error = _two_sum(total, error + rests[cell])
        sums[cell, 0] = total + 0.0
        sums[cell, 1] = error + 0.0


@compiled
def least(keys: Array, nulls: Array, rows: Array, cells: Array, least_keys: Array, has_value: Array) -> None:
    """Find the least int64 key of each cell. ``least_keys`` int64[cells]: initially the greatest int64."""
    if nulls.size:
        for i in range(cells.size):
            if not nulls[rows[i]]:
                least_keys[cells[i]] = min(least_keys[cells[i]], keys[rows[i]])
                has_value[cells[i]] = True
    else:
        for i in range(cells.size):
            least_keys[cells[i]] = min(least_keys[cells[i]], keys[rows[i]])
            has_value[cells[i]] = True


@compiled
def greatest(keys: Array, nulls: Array, rows: Array, cells: Array, greatest_keys: Array, has_value: Array) -> None:
    """Find the greatest int64 key of each cell. ``greatest_keys`` int64[cells]: initially the least int64."""
    if nulls.size:
        for i in range(cells.size):
            if not nulls[rows[i]]:
                greatest_keys[cells[i]] = max(greatest_keys[cells[i]], keys[rows[i]])
                has_value[cells[i]] = True
    else:
        for i in range(cells.size):
            greatest_keys[cells[i]] = max(greatest_keys[cells[i]], keys[rows[i]])
            has_value[cells[i]] = True


@compiled
def merge_least(keys: Array, nulls: Array, cells: Array, least_keys: Array) -> None:
    """Find the least of the partial minimums of each cell. ``keys``: the partial minimum in each state."""
    if nulls.size:
        for i in range(cells.size):
            if not nulls[i]:
                least_keys[cells[i]] = min(least_keys[cells[i]], np.int64(keys[i]))
    else:
        for i in range(cells.size):
            least_keys[cells[i]] = min(least_keys[cells[i]], np.int64(keys[i]))


@compiled
def merge_greatest(keys: Array, nulls: Array, cells: Array, greatest_keys: Array) -> None:
    """Find the greatest of the partial maximums of each cell. ``keys``: the partial maximum in each state."""
    if nulls.size:
        for i in range(cells.size):
            if not nulls[i]:
                greatest_keys[cells[i]] = max(greatest_keys[cells[i]], np.int64(keys[i]))
    else:
        for i in range(cells.size):
            greatest_keys[cells[i]] = max(greatest_keys[cells[i]], np.int64(keys[i]))
