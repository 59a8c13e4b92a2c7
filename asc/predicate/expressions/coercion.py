"""The position of a constant among the values of a p-attribute, by Spark's rules for comparisons (ANSI mode off).

The engine evaluates a comparison by position only if the result is exactly Spark's. There are three cases: Spark casts
the constant; Spark casts the p-attribute without loss; or the loss cannot change the result. In every other case there
is no position (None), and Spark evaluates the comparison.

The following rules give the type in which Spark compares a p-attribute with a constant, by the type of the constant.

* An integer p-attribute. Integer constant: in the wider type, exact. Decimal constant within int64: in a decimal that
  holds both, up to 38 digits. Double or float constant: in the constant's type. That is exact for 8 and 16 bits, and
  for 32 bits with a double. Otherwise it is exact if abs(constant) < 2**53 (float: 2**24), since rounding is monotone
  and does not reach the constant.
* A float p-attribute with an integer constant: in float, exact for constants up to 2**24. A double p-attribute with an
  integer constant: in double; the constant is rounded as Spark rounds it. A float or double p-attribute with a float or
  double constant: in the wider type of the two, exact. A float or double p-attribute with a decimal constant: in
  double; the constant is rounded as Spark rounds it.
* A decimal p-attribute. Integer or decimal constant: in a decimal that holds both, up to 38 digits. Float or double
  constant: no position.
* A string, binary, boolean, date or timestamp p-attribute with a constant of the same type: without a cast. A timestamp
  (with or without zone) with a DATE: at midnight, in the session's time zone if the timestamp has a zone. A date with a
  timestamp (with a zone only if the session is in UTC): at the day that begins at the timestamp, or between two days.
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
"""The position of a constant among the keys of a p-attribute: the cut just below the constant, and the cut just above
it. A cut (key, 0) is just below a key, and (key, 1) just above it.

The two cuts are equal if the constant lies between two values.
"""


def _at(key: Key) -> Position:
    return (key, 0), (key, 1)


def _between(key: Key) -> Position:
    """Return the position between ``key`` and the next greater key."""
    return (key, 1), (key, 1)


def position(space: KeySpace, literal: Literal, time_zone: str) -> Position | None:
    """Return the position of a constant among the keys of a p-attribute.

    The caller ensures that the constant is not NULL. Return None if only Spark can evaluate a comparison with the
    constant.
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
    """Return whether a decimal of at most 38 digits holds both a decimal p-attribute and a decimal constant without
    rounding. The p-attribute has ``integer_digits_of_type`` digits before the point and ``scale`` digits after it.
    """
    literal_digits = literal_type.precision - literal_type.scale
    return bool(max(integer_digits_of_type, literal_digits) + max(scale, literal_type.scale) <= 38)


def satisfying(operator: str, place: Position) -> Constraint:
    """Return the constraint that admits the non-NULL values for which ``value operator constant`` is TRUE.

    ``place``: the position of the constant.

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
    """Return whether Spark's casts in ``x IN (a, b)`` are the same as in ``x = a`` and in ``x = b``.

    ``data_type``: the type of ``x``. ``literals``: the constants. The casts are the same if all constants have the same
    type. For a double ``x`` they are also the same if all constants are integers; for an integer or decimal ``x``, if
    one decimal type holds ``x`` and all constants.
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
