"""Statistics of one column or of two: variances, covariances, correlation and linear regression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.operators.cube.states.memory import stored
from asc.operators.cube.states.moment_answer_kernels import LINE_WORDS, LINES, central_products, intercepts, sums
from asc.operators.cube.states.moments import Moments

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]
_Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class _Scaled:
    """Numbers, each a double times a power of two, because they may be outside the range of doubles."""

    fractions: _Floats
    powers: _Ints

    def over(self, divisors: _Floats) -> _Scaled:
        return _Scaled(self.fractions / divisors, self.powers)

    def by(self, other: _Scaled) -> _Scaled:
        return _Scaled(self.fractions / other.fractions, self.powers - other.powers)

    def times(self, other: _Scaled) -> _Scaled:
        return _Scaled(self.fractions * other.fractions, self.powers + other.powers)

    def root(self) -> _Scaled:
        odd = self.powers & 1
        return _Scaled(np.sqrt(np.ldexp(self.fractions, odd)), (self.powers - odd) >> 1)

    def doubles(self) -> _Floats:
        found: _Floats = np.ldexp(self.fractions, self.powers)
        return found

    @property
    def is_zero(self) -> _Mask:
        found: _Mask = self.fractions == 0.0
        return found


class _Read:
    """The central moments of the states of cells. ``y`` and ``x``: the numbers of the columns; equal for one column."""

    def __init__(self, states: pa.Array, moments: Moments, y: int, x: int) -> None:
        self._packed = moments.packed(states)
        self._columns, self._y, self._x = moments.columns, y, x
        self._work = np.empty((LINES, LINE_WORDS), dtype=np.int64)
        self.counts: _Floats = moments.answer(states).to_numpy().astype(np.float64)

    def xx(self) -> _Scaled:
        return self._product(self._x, self._x)

    def yy(self) -> _Scaled:
        return self._product(self._y, self._y)

    def xy(self) -> _Scaled:
        return self._product(self._x, self._y)

    def sum_x(self) -> _Scaled:
        return self._sum(self._x)

    def sum_y(self) -> _Scaled:
        return self._sum(self._y)

    def intercept_numerators(self) -> _Scaled:
        found = self._empty()
        intercepts(self._packed, self._columns, self._y, self._x, self._work, found.fractions, found.powers)
        return found

    def _product(self, column: int, other: int) -> _Scaled:
        found = self._empty()
        central_products(self._packed, self._columns, column, other, self._work, found.fractions, found.powers)
        return found

    def _sum(self, column: int) -> _Scaled:
        found = self._empty()
        sums(self._packed, column, self._work, found.fractions, found.powers)
        return found

    def _empty(self) -> _Scaled:
        count = len(self.counts)
        return _Scaled(np.empty(count, dtype=np.float64), np.empty(count, dtype=np.int64))


_Answer = tuple[_Floats, _Mask]
"""The values of a statistic, and the mask of the values that are not NULL."""


def _population(products: _Scaled, counts: _Floats) -> _Scaled:
    return products.over(counts * counts)


def _sample(products: _Scaled, counts: _Floats) -> _Scaled:
    return products.over(counts * (counts - 1.0))


def _var_pop(read: _Read) -> _Answer:
    return _population(read.xx(), read.counts).doubles(), read.counts > 0


def _var_samp(read: _Read) -> _Answer:
    return _sample(read.xx(), read.counts).doubles(), read.counts > 1


def _stddev_pop(read: _Read) -> _Answer:
    return _population(read.xx(), read.counts).root().doubles(), read.counts > 0


def _stddev_samp(read: _Read) -> _Answer:
    return _sample(read.xx(), read.counts).root().doubles(), read.counts > 1


def _covar_pop(read: _Read) -> _Answer:
    return _population(read.xy(), read.counts).doubles(), read.counts > 0


def _covar_samp(read: _Read) -> _Answer:
    return _sample(read.xy(), read.counts).doubles(), read.counts > 1


def _corr(read: _Read) -> _Answer:
    squares = read.xx().times(read.yy())
    found = read.xy().by(squares.root()).doubles()
    # Rounding may exceed 1, which no correlation does.
    return np.clip(found, -1.0, 1.0), (read.counts > 1) & ~squares.is_zero


def _regr_r2(read: _Read) -> _Answer:
    xx, yy, xy = read.xx(), read.yy(), read.xy()
    found = np.clip(xy.times(xy).by(xx.times(yy)).doubles(), 0.0, 1.0)
    # Spark gives NULL for equal values of y, and then 1 for equal values of x.
    return np.where(xx.is_zero, 1.0, found), ~yy.is_zero


def _regr_slope(read: _Read) -> _Answer:
    xx = read.xx()
    return read.xy().by(xx).doubles(), ~xx.is_zero


def _regr_intercept(read: _Read) -> _Answer:
    xx = read.xx()
    return read.intercept_numerators().by(xx).over(read.counts).doubles(), ~xx.is_zero


def _of_one_count(products: Callable[[_Read], _Scaled]) -> Callable[[_Read], _Answer]:
    """Return the statistic that divides by the count once: a mean, or a sum of squared deviations."""

    def found(read: _Read) -> _Answer:
        return products(read).over(read.counts).doubles(), read.counts > 0

    return found


_OF_ONE: Final = MappingProxyType(
    {
        "var_pop": _var_pop,
        "var_samp": _var_samp,
        "variance": _var_samp,
        "stddev_pop": _stddev_pop,
        "stddev_samp": _stddev_samp,
        "stddev": _stddev_samp,
    }
)
_OF_TWO: Final = MappingProxyType(
    {
        "covar_pop": _covar_pop,
        "covar_samp": _covar_samp,
        "corr": _corr,
        "regr_slope": _regr_slope,
        "regr_intercept": _regr_intercept,
        "regr_r2": _regr_r2,
        "regr_sxx": _of_one_count(_Read.xx),
        "regr_sxy": _of_one_count(_Read.xy),
        "regr_syy": _of_one_count(_Read.yy),
        "regr_avgx": _of_one_count(_Read.sum_x),
        "regr_avgy": _of_one_count(_Read.sum_y),
    }
)
_COUNT = "regr_count"
"""The number of complete rows, which is never NULL."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """A function of the co-moments of columns, with Spark's name.

    ``y`` and ``x``: the numbers of the arguments' columns in the state, in Spark's order; equal for one argument.
    """

    function: str
    y: int
    x: int

    @property
    def type(self) -> pa.DataType:
        """Return the Arrow type of the answers."""
        return pa.int64() if self.function == _COUNT else pa.float64()

    def of(self, moments: Moments, states: pa.Array) -> pa.Array:
        """Return the statistic of each state: NULL where Spark's is NULL, and NaN if a value is infinite or NaN.

        Each answer is exact but for at most four roundings, however close together the values are.
        """
        if self.function == _COUNT:
            return moments.answer(states)
        compute = _OF_ONE.get(self.function) or _OF_TWO[self.function]
        with np.errstate(all="ignore"):
            found, has_value = compute(_Read(states, moments, self.y, self.x))
        # No zero of an answer is negative, and what lies under NULL is zero.
        return stored(self.type, np.where(has_value, found, 0.0) + 0.0, has_value)
