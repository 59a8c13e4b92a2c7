"""Conversion of numbers of any type to doubles, each rounded once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from asc.frozen import frozen
from asc.operators.cube.states.memory import numbers

_EXACT = 2**53
"""The magnitude up to which a double represents every integer exactly."""
_EXACT_SCALE = 22
"""The largest power of ten that a double represents exactly."""


def doubles(column: pa.Array) -> npt.NDArray[np.float64]:
    """Return numbers as the nearest doubles. The doubles for NULL are arbitrary."""
    kind = column.type
    if pa.types.is_decimal(kind):
        return _of_decimals(column)
    if pa.types.is_float64(kind):
        return numbers(column, np.float64)
    return frozen(numbers(column, kind.to_pandas_dtype()).astype(np.float64))


def _of_decimals(column: pa.Array) -> npt.NDArray[np.float64]:
    """Return decimals as the nearest doubles. Large decimals are converted through their texts, because Arrow's
    conversion rounds more than once.
    """
    kind = column.type
    halves = numbers(column, np.int64, 2)
    low = halves[:, 0]
    if kind.scale <= _EXACT_SCALE and bool(((halves[:, 1] == low >> 63) & (low >= -_EXACT) & (low <= _EXACT)).all()):
        return frozen(low.astype(np.float64) / 10.0**kind.scale)
    texts = pc.cast(pc.fill_null(column, pa.scalar(0, kind)), pa.string())
    return numbers(pc.cast(texts, pa.float64()), np.float64)
