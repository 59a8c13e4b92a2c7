"""Properties of GeoJSON Features as typed values, which predicates of joins can name."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from decimal import Context, Decimal
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from asc.errors import ShapeError

_TIMESTAMP, _TIMESTAMP_NTZ = pa.timestamp("us", tz="UTC"), pa.timestamp("us")
_BITS = {pa.int8(): 8, pa.int16(): 16, pa.int32(): 32, pa.int64(): 64}
_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_SHOWN_CHARS = 80
_DIGITS_MAX = 20
"""The most digits of a 64-bit integer."""


@dataclass(frozen=True)
class Properties:
    """The properties of a layer's Features that predicates may name, each with its type.

    Values have the types of the engine: bool, int, float (rounded to float32 for that type), Decimal, str. A date is in
    days, a timestamp in microseconds. The value is None if a Feature lacks the property, or if the property is null.
    Invariant: every type is one that :func:`is_property_type` accepts. Cost: for each property, a look-up and a check
    of the value.

    >>> zones = Properties({"name": pa.string(), "ceiling": pa.int32()})
    >>> zones.values({"name": "old town", "ceiling": 4500.0, "more": []}), zones.values({})
    ({'name': 'old town', 'ceiling': 4500}, {'name': None, 'ceiling': None})
    """

    types: Mapping[str, pa.DataType] = field(default_factory=lambda: MappingProxyType({}))

    def values(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of the properties, from a Feature's properties in JSON.

        A text that spells a value of another type is read as that value, as in CSV files; an empty text is read as
        NULL. Raise ShapeError if a value does not fit its type.
        """
        return {name: self._value(name, kind, properties.get(name)) for name, kind in self.types.items()}

    @staticmethod
    def _value(name: str, kind: pa.DataType, value: Any) -> Any:
        if value is None or (value == "" and kind != pa.string()):
            return None
        try:
            return _reader_of(kind)(value)
        except (ValueError, ArithmeticError):
            shown = value if isinstance(value, (str, int, float)) else type(value).__name__
            needs = " (give its offset, as Z)" if kind == _TIMESTAMP else ""
            remedy = f"is none of its type, {kind}{needs}, which the configuration of the layer has (properties)"
            raise ShapeError(f"property {name[:_SHOWN_CHARS]}", str(shown)[:_SHOWN_CHARS], remedy) from None


NO_PROPERTIES = Properties()


def is_property_type(kind: pa.DataType) -> bool:
    """Return True if a property may have a type. It may have any scalar type except binary, which JSON does not
    have.
    """
    return kind in _READERS or kind in _BITS or pa.types.is_decimal128(kind)


def _reader_of(kind: pa.DataType) -> Callable[[Any], Any]:
    """Return the function that reads a value of a type from JSON. The function raises an exception for an invalid
    value.
    """
    if kind in _BITS:
        return lambda given: _integer(given, _BITS[kind])
    if pa.types.is_decimal128(kind):
        return lambda given: _decimal(given, kind.precision, kind.scale)
    return _READERS[kind]


def _number(value: Any) -> int | float | Decimal:
    if isinstance(value, bool):
        raise ValueError
    if isinstance(value, str):
        # Python reads digits of other scripts, and underscores, as well.
        if not value.isascii() or "_" in value:
            raise ValueError
        return Decimal(value.strip())
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError
    return value


def _integer(value: Any, bits: int) -> int:
    number = _number(value)
    if isinstance(number, Decimal) and number.adjusted() > _DIGITS_MAX:
        # The conversion to int would compute all digits of a number with a large exponent.
        raise ValueError
    integer = int(number)
    if integer != number or not -(1 << (bits - 1)) <= integer < 1 << (bits - 1):
        raise ValueError
    return integer


def _double(value: Any) -> float:
    found = float(_number(value))
    if not math.isfinite(found):
        raise ValueError
    return found


def _single(value: Any) -> float:
    # A value beyond the range of float32 raises OverflowError here.
    return float(struct.unpack("<f", struct.pack("<f", _double(value)))[0])


def _decimal(value: Any, precision: int, scale: int) -> Decimal:
    number = _number(value)
    # For up to fifteen digits, the shortest text of a double equals the text in the JSON.
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    # Arithmetic with a large exponent overflows.
    if not exact.is_finite() or (exact and exact.adjusted() >= precision - scale):
        raise ValueError
    found = exact.quantize(Decimal(1).scaleb(-scale), context=Context(prec=2 * precision))
    if found != exact:
        raise ValueError
    return found


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise ValueError
    # JSON can spell half of a surrogate pair, which no value of a record equals: UnicodeEncodeError is a ValueError.
    given.encode()
    return given


def _boolean(given: Any) -> bool:
    if given not in (True, False, "true", "false") or isinstance(given, (int, float)) is not isinstance(given, bool):
        raise ValueError
    return given in (True, "true")


def _days(given: Any) -> int:
    return date.fromisoformat(_text(given)).toordinal() - _EPOCH.toordinal()


def _micros(given: Any) -> int:
    at = datetime.fromisoformat(_iso(given))
    if at.tzinfo is None:
        raise ValueError
    return (at.astimezone(timezone.utc).replace(tzinfo=None) - _EPOCH) // _MICROSECOND


def _local_micros(given: Any) -> int:
    at = datetime.fromisoformat(_iso(given))
    if at.tzinfo is not None:
        raise ValueError
    return (at - _EPOCH) // _MICROSECOND


def _iso(given: Any) -> str:
    text = _text(given)
    # Python 3.10 does not parse ``Z``.
    return text[:-1] + "+00:00" if text.endswith(("Z", "z")) else text


_READERS: Mapping[pa.DataType, Callable[[Any], Any]] = MappingProxyType(
    {
        pa.bool_(): _boolean,
        pa.float32(): _single,
        pa.float64(): _double,
        pa.string(): _text,
        pa.date32(): _days,
        _TIMESTAMP: _micros,
        _TIMESTAMP_NTZ: _local_micros,
    }
)
