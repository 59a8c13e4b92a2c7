"""Statistics of one column or of two: variances, covariances, correlation and linear regression."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
import pyarrow as pa

from asc.operators.cube.states.memory import stored
from asc.operators.cube.states.moment_answer_kernels import LINE_WORDS, LINES
from asc.operators.cube.states.moments import Moments
from asc.operators.cube.states.statistic_kernels import (
    BY_COUNT,
    BY_POPULATION,
    BY_SAMPLE,
    CORRELATION,
    DETERMINATION,
    INTERCEPT,
    MEAN,
    PRODUCT,
    ROOT,
    SLOPE,
    Formula,
    statistics,
)

_FORMULAS: Final = MappingProxyType(
    {
        "var_pop": (PRODUCT, BY_POPULATION, "xx"),
        "var_samp": (PRODUCT, BY_SAMPLE, "xx"),
        "variance": (PRODUCT, BY_SAMPLE, "xx"),
        "stddev_pop": (ROOT, BY_POPULATION, "xx"),
        "stddev_samp": (ROOT, BY_SAMPLE, "xx"),
        "stddev": (ROOT, BY_SAMPLE, "xx"),
        "covar_pop": (PRODUCT, BY_POPULATION, "yx"),
        "covar_samp": (PRODUCT, BY_SAMPLE, "yx"),
        "corr": (CORRELATION, BY_COUNT, "yx"),
        "regr_slope": (SLOPE, BY_COUNT, "yx"),
        "regr_intercept": (INTERCEPT, BY_COUNT, "yx"),
        "regr_r2": (DETERMINATION, BY_COUNT, "yx"),
        "regr_sxx": (PRODUCT, BY_COUNT, "xx"),
        "regr_sxy": (PRODUCT, BY_COUNT, "yx"),
        "regr_syy": (PRODUCT, BY_COUNT, "yy"),
        "regr_avgx": (MEAN, BY_COUNT, "xx"),
        "regr_avgy": (MEAN, BY_COUNT, "yy"),
        "mean": (MEAN, BY_COUNT, "xx"),
    }
)
"""The formula of each statistic, its divisor, and the columns in the place of y and x."""
_COUNT = "regr_count"
"""The number of complete rows, which is never NULL."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """A function of the co-moments of columns, with Spark's name.

    ``y`` and ``x``: the numbers, in the state, of the arguments' columns, in Spark's order. They are equal for a
    function of one argument.
    """

    function: str
    y: int
    x: int

    @property
    def type(self) -> pa.DataType:
        """Return the Arrow type of the answers."""
        return pa.int64() if self.function == _COUNT else pa.float64()

    def of(self, moments: Moments, states: pa.Array) -> pa.Array:
        """Return the statistic of each state. It is NULL where Spark's is NULL, and NaN if a value is infinite or NaN.

        Each answer is computed from exact sums with at most four roundings, so that it stays accurate for values that
        are close together.
        """
        if self.function == _COUNT:
            return moments.answer(states)
        formula, divisor, columns = _FORMULAS[self.function]
        y, x = (self.y if column == "y" else self.x for column in columns)
        values, has_value = np.zeros(len(states), dtype=np.float64), np.zeros(len(states), dtype=np.bool_)
        work = np.empty((LINES, LINE_WORDS), dtype=np.int64)
        statistics(moments.packed(states), Formula(formula, divisor, moments.columns, y, x), work, values, has_value)
        return stored(self.type, values, has_value)
