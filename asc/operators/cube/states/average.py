"""Averages: a sum divided by a count."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np
import pyarrow as pa

from asc.operators.cube.states.exact_sum import ExactSum
from asc.operators.cube.states.float_sum import FloatSum
from asc.operators.cube.states.memory import numbers, stored

_DIGITS = 38
_EXACT = 2**53
"""The magnitude up to which a double represents every integer exactly."""

_QUOTIENT = Context(prec=_DIGITS + 1, rounding=ROUND_HALF_UP)
"""The precision to which Spark divides decimals before it rounds the quotient to the scale of the average."""
_WIDE = Context(prec=100)
"""The precision for sums: more digits than any sum has, so that scaling a sum does not round it."""


def average_type(data_type: pa.DataType) -> pa.DataType:
    """Return the type of an average as in Spark: a decimal gets four more digits, any other type becomes DOUBLE.

    >>> average_type(pa.decimal128(10, 2))
    Decimal128Type(decimal128(14, 6))
    """
    if not pa.types.is_decimal(data_type):
        return pa.float64()
    return pa.decimal128(min(data_type.precision + 4, _DIGITS), min(data_type.scale + 4, _DIGITS))


def averages(data_type: pa.DataType, sums: pa.Array, counts: pa.Array) -> pa.Array:
    """Return the averages of cells, from the states of ``sum(x)`` and of ``count(x)``. An average over no value is
    NULL.

    ``data_type``: the type of x. Integers are divided exactly and rounded once.
    """
    numbers_of = numbers(counts, np.int64)
    has_value = numbers_of > 0
    divisors = np.where(has_value, numbers_of, 1)
    if pa.types.is_floating(data_type):
        return stored(pa.float64(), np.where(has_value, FloatSum.sums(sums) / divisors, 0.0), has_value)
    if pa.types.is_decimal(data_type):
        return _decimal_averages(data_type, ExactSum.integers(sums), numbers_of.tolist())
    limbs = numbers(sums, np.int64, 3)
    low = limbs[:, 0]
    if ((limbs[:, 1] == low >> 63) & (low >= -_EXACT) & (low <= _EXACT)).all():
        quotients = low / divisors
    else:
        pairs = zip(ExactSum.integers(sums), divisors.tolist(), strict=True)
        quotients = np.array([total / count for total, count in pairs])
    return stored(pa.float64(), quotients, has_value)


def _decimal_averages(data_type: pa.DataType, sums: list[int], counts: list[int]) -> pa.Array:
    kind = average_type(data_type)
    bound = Decimal(10) ** (kind.precision - kind.scale)
    unit = Decimal(1).scaleb(-kind.scale)
    decimals: list[Decimal | None] = []
    for total, count in zip(sums, counts, strict=True):
        if not count:
            decimals.append(None)
            continue
        quotient = _QUOTIENT.divide(Decimal(total).scaleb(-data_type.scale, _WIDE), Decimal(count))
        rounded = quotient.quantize(unit, ROUND_HALF_UP, _WIDE)
        decimals.append(rounded if abs(rounded) < bound else None)
    return pa.array(decimals, kind)
