"""Where a constant falls among the values of a p-attribute when Spark (ANSI mode off) compares the two.

The fast path is exact or not taken. A position is returned only in three cases: Spark casts the constant, or casts the
p-attribute without loss, or the loss cannot change the outcome. Everything else is None: Spark computes the comparison
whole.

* An integer beside an integer: in the wider type, exact. Beside a decimal within int64: in a decimal that holds
  both, up to 38 digits. Beside a double or float: in that type. That is exact for 8 and 16 bits, and for 32 bits beside
  a double. Else it is exact where abs(constant) < 2**53 (float: 2**24), since rounding is monotone and does not reach
  the constant.
* A float beside an integer: in float, exact for constants up to 2**24. A double beside an integer: in double, the
  constant rounded as Spark rounds it. Either beside a float or double: in the wider of both, exact. Either beside a
  decimal: in double, the constant rounded as Spark rounds it.
* A decimal beside an integer or decimal: in a decimal that holds both, up to 38 digits. Beside a float or double:
  never.
* A string, binary, boolean, date, timestamp beside a constant of its own type: as they are. A timestamp (with or
  without zone) beside a DATE: at midnight, local to the session where it has a zone. A date beside a timestamp
  without zone, or where the session is in UTC: the day that begins then, or between two days.
"""

from __future__ import annotations

import math
from decimal import Decimal

import pyarrow as pa

from asc.keys.constraint import Constraint, Cut, Interval, Key
from asc.keys.decimals import unscaled_of
from asc.keys.key_space import KeySpace
from asc.predicate.expressions.types import INTEGER_DIGITS
from asc.predicate.syntax.literal import INT64_MAX, INT64_MIN, TIMESTAMP, TIMESTAMP_NTZ, Literal, day_start_micros

_DAY_MICROS = 86_400 * 10**6
_FLOATS = (pa.float32(), pa.float64())

Position = tuple[Cut, Cut]
"""The cuts just below and just above a constant; the same cut twice where it lies between two values."""


def _at(key: Key) -> Position:
    return (key, 0), (key, 1)


def _between(key: Key) -> Position:
    """Return the position just above ``key``, below its successor."""
    return (key, 1), (key, 1)


def position(space: KeySpace, literal: Literal, time_zone: str) -> Position | None:
    """Return where the constant falls among the keys of a p-attribute; None where only Spark can tell. The constant is
    not NULL.
    """
    if not literal.known:
        return None
    data_type, value, literal_type = space.type, literal.value, literal.type
    if data_type in INTEGER_DIGITS:
        return _among_integers(data_type, value, literal_type)
    if data_type in _FLOATS:
        return _among_floats(space, value, literal_type)
    if pa.types.is_decimal(data_type):
        return _among_decimals(space, value, literal_type)
    if data_type == literal_type:
        return _at(space.key(value))
    if data_type in (TIMESTAMP, TIMESTAMP_NTZ) and literal_type == pa.date32():
        micros = day_start_micros(value, time_zone if data_type == TIMESTAMP else None)
        return None if micros is None else _at(micros)
    if data_type == pa.date32() and (
        literal_type == TIMESTAMP_NTZ or (literal_type == TIMESTAMP and time_zone == "UTC")
    ):
        day, rest = divmod(value, _DAY_MICROS)
        return _between(day) if rest else _at(day)
    return None


def _among_integers(data_type: pa.DataType, value: object, literal_type: pa.DataType) -> Position | None:
    if literal_type in INTEGER_DIGITS:
        return _at(value)
    if isinstance(value, Decimal):
        # beyond int64 Spark folds the comparison to TRUE or FALSE even for NULL
        if not INT64_MIN <= value <= INT64_MAX or not _widened(INTEGER_DIGITS[data_type], 0, literal_type):
            return None
        floor = math.floor(value)
        return _at(floor) if floor == value else _between(floor)
    if literal_type in _FLOATS:
        assert isinstance(value, float)
        exact_bits = 53 if literal_type == pa.float64() else 24
        if not math.isfinite(value) or (data_type.bit_width > exact_bits and abs(value) >= 2**exact_bits):
            return None
        floor = math.floor(value)
        return _at(floor) if floor == value else _between(floor)
    return None


def _among_floats(space: KeySpace, value: object, literal_type: pa.DataType) -> Position | None:
    if literal_type in INTEGER_DIGITS:
        assert isinstance(value, int)
        if space.type == pa.float32() and abs(value) > 2**24:
            return None
        return _at(space.key(value))
    if literal_type in _FLOATS or isinstance(value, Decimal):
        return _at(space.key(value))
    return None


def _among_decimals(space: KeySpace, value: object, literal_type: pa.DataType) -> Position | None:
    data_type = space.type
    if literal_type in INTEGER_DIGITS:
        if INTEGER_DIGITS[literal_type] + data_type.scale > 38:
            return None
        assert isinstance(value, int)
        unscaled, exact = value * 10**data_type.scale, True
    elif isinstance(value, Decimal) and _widened(data_type.precision - data_type.scale, data_type.scale, literal_type):
        scaled = unscaled_of(value) * 10**data_type.scale
        unscaled, rest = divmod(scaled, 10**literal_type.scale)
        exact = rest == 0
    else:
        return None
    key = space.key(unscaled)
    return _at(key) if exact else _between(key)


def _widened(integer_digits_of_type: int, scale: int, literal_type: pa.DataType) -> bool:
    """Return whether the decimal that holds both sides has at most 38 digits, so that neither is rounded."""
    literal_digits = literal_type.precision - literal_type.scale
    return bool(max(integer_digits_of_type, literal_digits) + max(scale, literal_type.scale) <= 38)


def satisfying(operator: str, place: Position) -> Constraint:
    """Return the non-NULL values for which ``value operator constant`` is TRUE.

    >>> satisfying(">", ((5, 1), (5, 1)))
    Constraint(intervals=(((5, 1), None),), null=False)
    """
    below, above = place
    interval: Interval
    if operator in ("=", "<=>"):
        if below == above:
            return Constraint(())
        interval = (below, above)
    elif operator == "<":
        interval = (None, below)
    elif operator == "<=":
        interval = (None, above)
    elif operator == ">":
        interval = (above, None)
    else:
        interval = (below, None)
    return Constraint((interval,))


def same_coercion(data_type: pa.DataType, literals: list[Literal]) -> bool:
    """Return whether Spark's common type for an IN list compares each constant as it would alone.

    All constants of one type; or, for an integer or decimal p-attribute, any integers and decimals that one decimal
    holds.
    """
    kinds = {literal.type for literal in literals}
    if len(kinds) == 1:
        return True
    if data_type not in INTEGER_DIGITS and not pa.types.is_decimal(data_type):
        return data_type == pa.float64() and kinds <= set(INTEGER_DIGITS)
    digits = scale = 0
    for kind in (*kinds, data_type):
        if kind in INTEGER_DIGITS:
            digits = max(digits, INTEGER_DIGITS[kind])
        elif pa.types.is_decimal(kind):
            digits, scale = max(digits, kind.precision - kind.scale), max(scale, kind.scale)
        else:
            return False
    return digits + scale <= 38
