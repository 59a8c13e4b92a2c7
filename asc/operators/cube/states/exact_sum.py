"""Exact sums of integers and decimals."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.frozen import frozen
from asc.operators.cube.states.kernels import sum_decimals, sum_integers, sum_limbs, sum_short
from asc.operators.cube.states.memory import nulls_of, numbers, stored
from asc.operators.cube.states.state import Places, Rows, State, Values, merged_values

_LIMBS = 3
_SHORT_DIGITS = 18
_HALF = 2**63
"""The least integer that does not fit into 64 bits with a sign."""
_BOUND = 10**38
"""The least integer with more digits than a DECIMAL can have."""


class ExactSum(State):
    """A sum of integers or decimals: 192 bits in two's complement, lowest byte first. A decimal is summed as its
    unscaled integer.

    The sum cannot overflow: 2**64 values of 38 digits fit.
    """

    storage = pa.binary(8 * _LIMBS)

    def __init__(self, data_type: pa.DataType) -> None:
        self._is_decimal = pa.types.is_decimal(data_type)
        self.scale = data_type.scale if self._is_decimal else 0
        self._is_wide = self._is_decimal and data_type.precision > _SHORT_DIGITS
        self.type = pa.decimal128(38, self.scale)

    def values(self, column: pa.Array) -> Values:
        """Return the values as int64. If the type has more than 18 digits, return each value as two words of 64 bits,
        lower word first.
        """
        if not self._is_decimal:
            return _short_values(numbers(column.cast(pa.int64()), np.int64), column)
        halves = numbers(column, np.uint64, 2)
        if self._is_wide:
            return Values(halves, nulls_of(column))
        low = np.ascontiguousarray(halves[:, 0]).view(np.int64)
        return _short_values(frozen(low), column)

    def fold(self, values: Values | None, rows: Rows, cells: Places, count: int) -> pa.Array:
        """Return the sums of values by cell."""
        assert values is not None
        limbs, has_value = np.zeros((count, _LIMBS), dtype=np.uint64), np.zeros(count, dtype=np.bool_)
        is_short = values.magnitude * len(rows) < _HALF
        add = sum_decimals if self._is_wide else sum_short if is_short else sum_integers
        add(values.numbers, values.nulls, rows, cells, limbs, has_value)
        return stored(self.storage, limbs, has_value)

    def merge(self, states: pa.Array, cells: Places, count: int) -> pa.Array:
        """Return the sums of partial sums by cell."""
        limbs, nulls = np.zeros((count, _LIMBS), dtype=np.uint64), nulls_of(states)
        sum_limbs(numbers(states, np.uint64, _LIMBS), nulls, cells, limbs)
        return stored(self.storage, limbs, merged_values(nulls, cells, count))

    def answer(self, states: pa.Array) -> pa.Array:
        """Return the sums as DECIMAL(38, scale). A sum is NULL if the cell has no value, or if the sum has over 38
        digits.
        """
        limbs = numbers(states, np.uint64, _LIMBS)
        fits = _fits(limbs)
        has_value = fits if states.null_count == 0 else fits & ~nulls_of(states)
        halves = limbs[:, :2].copy()
        halves[~has_value] = 0
        return stored(self.type, halves, has_value)

    def overflows(self, states: pa.Array) -> int:
        """Return the number of sums that have more digits than a DECIMAL."""
        return int(np.count_nonzero(~_fits(numbers(states, np.uint64, _LIMBS))))

    @staticmethod
    def integers(states: pa.Array) -> list[int]:
        """Return the sums as unscaled integers. The sum over no value is 0."""
        data = numbers(states, np.uint64, _LIMBS).tobytes()
        width = 8 * _LIMBS
        return [
            int.from_bytes(data[place : place + width], "little", signed=True) for place in range(0, len(data), width)
        ]


def _short_values(found: npt.NDArray[np.int64], column: pa.Array) -> Values:
    """Return int64 values with an upper bound of their magnitude. The numbers in place of NULL also count for the
    bound.
    """
    magnitude = max(-int(found.min()), int(found.max()), 0) if len(found) else 0
    return Values(found, nulls_of(column), magnitude=magnitude)


def _fits(limbs: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """Return whether each sum has at most 38 digits."""
    low, middle = limbs[:, 0], limbs[:, 1].view(np.int64) if limbs.flags.c_contiguous else limbs[:, 1].astype(np.int64)
    extended = limbs[:, 2] == (middle >> 63).astype(np.uint64)
    above, below = _halves(_BOUND), _halves(-_BOUND)
    is_less = (middle < above[0]) | ((middle == above[0]) & (low < above[1]))
    is_greater = (middle > below[0]) | ((middle == below[0]) & (low > below[1]))
    found: npt.NDArray[np.bool_] = extended & is_less & is_greater
    return found


def _halves(number: int) -> tuple[np.int64, np.uint64]:
    return np.int64(number >> 64), np.uint64(number & (2**64 - 1))
