"""The common type to which Spark casts several values if an expression chooses one of them, or makes an array of them.

Spark uses the narrowest type that holds all of the values. The common type is a string if one of the types is a string.
The common type of arrays is an array of the common type of their elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import pyarrow as pa

from asc.predicate.expressions import types

_MAX_PRECISION = 38
_FLOATS = (pa.float32(), pa.float64())


def wider(candidates: Sequence[types.Type]) -> types.Type:
    """Return the common type of values of these types; None if it cannot be determined.

    >>> wider([pa.int32(), pa.string()]), wider([pa.list_(pa.int32()), pa.list_(pa.int64())])
    (DataType(string), ListType(list<item: int64>))
    >>> wider([pa.int32(), pa.decimal128(5, 2)])
    Decimal128Type(decimal128(12, 2))
    """
    plain = types.common(list(candidates))
    if plain is not None:
        return plain
    kinds = list(dict.fromkeys(kind for kind in candidates if kind != pa.null()))
    known = [kind for kind in kinds if kind is not None]
    if not known or len(known) < len(kinds):
        return None
    if all(pa.types.is_list(kind) for kind in known):
        held = held_together([kind.value_type for kind in known])
        return None if held is None else pa.list_(held)
    if pa.string() in known:
        return pa.string() if types.unifiable(known, "numbers and instants") else None
    return reduce(_wider_number, known) if all(map(types.is_number, known)) else None


def held_together(candidates: Sequence[types.Type]) -> types.Type:
    """Return the element type of an array that is made of values of these types.

    Return the Arrow type null if all values are NULL. Return None if the type cannot be determined.
    """
    return pa.null() if all(kind == pa.null() for kind in candidates) else wider(candidates)


def _wider_number(left: types.Type, right: types.Type) -> types.Type:
    if left is None or right is None:
        return None
    plain = types.common([left, right])
    if plain is not None:
        return plain
    if left in _FLOATS or right in _FLOATS:
        return pa.float64()
    (p1, s1), (p2, s2) = _digits(left), _digits(right)
    scale = max(s1, s2)
    precision = max(p1 - s1, p2 - s2) + scale
    return pa.decimal128(precision, scale) if precision <= _MAX_PRECISION else None


def _digits(kind: pa.DataType) -> tuple[int, int]:
    """Return the precision and scale of a decimal type, or of the decimal type to which an integer type is cast."""
    return (types.INTEGER_DIGITS[kind], 0) if kind in types.INTEGER_DIGITS else (kind.precision, kind.scale)
