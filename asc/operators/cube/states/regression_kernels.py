# ruff: noqa: PLR0917 (compiled functions take their arguments by position)
"""A compiled loop that computes the linear regression of a column on several others, by Cholesky's decomposition of
their correlations.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from asc.compiled import compiled
from asc.operators.cube.states.moment_answer_kernels import central_product, sum_of
from asc.operators.cube.states.moment_kernels import Packed
from asc.operators.cube.states.statistic_kernels import count_of, root_of, scaled

Array = Any

RANK_SHARE = 1e-10
"""The least share of a column's variance that the columns before it must leave unexplained. With a smaller share, the
columns count as linearly dependent.
"""
_SOLVED = 0
"""The row of ``factor`` that receives the solution. Each row after it belongs to a column other than y."""


@compiled
def regressions(
    packed: Packed, columns: int, chosen: Array, work: Array, factor: Array, values: Array, has_value: Array
) -> None:
    """Compute the regression of ``chosen[0]`` on the other chosen columns for each state.

    ``chosen`` int64[m]: numbers of columns. ``work``: see :func:`sum_of`. ``factor`` float64[m, m]: working memory.
    ``values`` float64[states, m + 1] receives the intercept, the m - 1 coefficients and the coefficient of
    determination. ``has_value`` bool[states, 2], initially false, receives whether the regression exists, and whether
    its coefficient of determination exists.
    """
    words, offsets = packed.words, packed.offsets
    for i in range(offsets.size - 1):
        if offsets[i] == offsets[i + 1]:
            continue
        at = np.int64(offsets[i]) >> 2
        if not _correlate(words, at, columns, chosen, work, factor):
            continue
        if not _decompose(factor):
            continue
        share = _solve(factor)
        _write(words, at, columns, chosen, work, factor, values[i])
        values[i, chosen.size] = share
        has_value[i, 0] = True
        # As in Spark's regr_r2, the coefficient of determination is NULL if all values of y are equal.
        spread, _ = central_product(words, at, columns, chosen[0], chosen[0], work)
        has_value[i, 1] = spread != 0.0


@compiled
def _correlate(words: Array, at: Any, columns: Any, chosen: Array, work: Array, factor: Array) -> bool:
    """Write the correlations of the chosen columns to ``factor``: those with y to the first row, and those with the
    preceding columns to the further rows. Return False if a column other than y has equal values.
    """
    for row in range(1, chosen.size):
        square, square_power = central_product(words, at, columns, chosen[row], chosen[row], work)
        if square == 0.0:
            return False
        for column in range(row + 1):
            if column == row:
                factor[row, row] = 1.0
                continue
            other, other_power = central_product(words, at, columns, chosen[column], chosen[column], work)
            both, both_power = central_product(words, at, columns, chosen[row], chosen[column], work)
            root, root_power = root_of(square * other, square_power + other_power)
            # The root is 0 if the column is y and all values of y are equal. The correlation is then 0.
            correlation = scaled(both / root, both_power - root_power) if root != 0.0 else 0.0
            if column:
                factor[row, column] = correlation
            else:
                factor[_SOLVED, row] = correlation
    return True


@compiled
def _decompose(factor: Array) -> bool:
    """Replace the correlations of columns by their Cholesky factor. Return False if the columns are linearly dependent.
    NaN counts as independent.
    """
    for row in range(1, factor.shape[0]):
        for column in range(1, row + 1):
            rest = factor[row, column]
            for before in range(1, column):
                rest -= factor[row, before] * factor[column, before]
            if column < row:
                factor[row, column] = rest / factor[column, column]
            elif rest <= RANK_SHARE:
                return False
            else:
                factor[row, row] = math.sqrt(rest)
    return True


@compiled
def _solve(factor: Array) -> Any:
    """Replace the correlations with y by the standardised coefficients. Return the explained share of the variance."""
    size = factor.shape[0]
    share = 0.0
    for row in range(1, size):
        rest = factor[_SOLVED, row]
        for before in range(1, row):
            rest -= factor[row, before] * factor[_SOLVED, before]
        factor[_SOLVED, row] = rest / factor[row, row]
        share += factor[_SOLVED, row] * factor[_SOLVED, row]
    for row in range(size - 1, 0, -1):
        rest = factor[_SOLVED, row]
        for after in range(row + 1, size):
            rest -= factor[after, row] * factor[_SOLVED, after]
        factor[_SOLVED, row] = rest / factor[row, row]
    return share if math.isnan(share) else min(share, 1.0)


@compiled
def _write(words: Array, at: Any, columns: Any, chosen: Array, work: Array, factor: Array, values: Array) -> None:
    """Write the intercept and the coefficients to ``values``, computed from the standardised coefficients."""
    count = count_of(words, at)
    total, total_power = sum_of(words, at, chosen[0], work)
    intercept = scaled(total / count, total_power)
    own, own_power = central_product(words, at, columns, chosen[0], chosen[0], work)
    for row in range(1, chosen.size):
        other, other_power = central_product(words, at, columns, chosen[row], chosen[row], work)
        root, root_power = root_of(own / other, own_power - other_power)
        coefficient = scaled(factor[_SOLVED, row] * root, root_power)
        total, total_power = sum_of(words, at, chosen[row], work)
        values[row] = coefficient + 0.0
        intercept -= coefficient * scaled(total / count, total_power)
    values[0] = intercept + 0.0
