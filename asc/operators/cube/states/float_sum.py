"""Sums of doubles."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.operators.cube.states.kernels import IN_UNITS, UNIT, sum_floats, sum_pairs
from asc.operators.cube.states.memory import nulls_of, numbers, stored
from asc.operators.cube.states.state import Places, Rows, State, Values, merged_values

_NUMBERS = 3


class FloatSum(State):
    """A sum of floats or doubles in three doubles: a TwoSum pair and a number that gives its unit.

    The pair is the sum of the finite values and its rounding error. The third number is normally 0. It is IN_UNITS if
    the pair is in units of 2**128, so that intermediate sums do not overflow. If there are infinities or NaN, the third
    number is their sum, and the pair is 0.

    The answer is within 1 ulp of ``math.fsum`` if the sum of the magnitudes is at most 1e12 times the magnitude of the
    sum. The reason: one addition loses at most the square of the rounding unit, relative to the sum of the magnitudes.
    """

    storage = pa.binary(8 * _NUMBERS)
    type = pa.float64()

    def values(self, column: pa.Array) -> Values:
        """Return the values as doubles."""
        return Values(numbers(column.cast(pa.float64()), np.float64), nulls_of(column))

    def fold(self, values: Values | None, rows: Rows, cells: Places, count: int) -> pa.Array:
        """Return the sums of values by cell."""
        assert values is not None
        sums, has_value = np.zeros((count, _NUMBERS)), np.zeros(count, dtype=np.bool_)
        sum_floats(values.numbers, values.nulls, rows, cells, sums, np.zeros(count), has_value)
        return stored(self.storage, sums, has_value)

    def merge(self, states: pa.Array, cells: Places, count: int) -> pa.Array:
        """Return the sums of partial sums by cell."""
        sums, nulls = np.zeros((count, _NUMBERS)), nulls_of(states)
        sum_pairs(numbers(states, np.float64, _NUMBERS), nulls, cells, sums, np.zeros(count))
        return stored(self.storage, sums, merged_values(nulls, cells, count))

    def answer(self, states: pa.Array) -> pa.Array:
        """Return the sums as doubles. A sum beyond the range of doubles is infinite."""
        sums = self.sums(states)
        has_value = np.ones(len(sums), dtype=np.bool_) if states.null_count == 0 else ~nulls_of(states)
        return stored(self.type, sums, has_value)

    @staticmethod
    def sums(states: pa.Array) -> npt.NDArray[np.float64]:
        """Return the sums. The sum over no value is 0."""
        parts = numbers(states, np.float64, _NUMBERS)
        sums = parts[:, 0] + parts[:, 1]
        extra = parts[:, 2]
        with np.errstate(over="ignore"):
            sums = np.where(extra == IN_UNITS, sums * UNIT, sums)
        found: npt.NDArray[np.float64] = np.where((extra == 0.0) | (extra == IN_UNITS), sums, extra)
        return found
