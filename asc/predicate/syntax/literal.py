"""Literals: the Spark types and exact values of constants in a predicate."""

from __future__ import annotations

import datetime as dt
import re
import struct
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

TIMESTAMP = pa.timestamp("us", tz="UTC")
TIMESTAMP_NTZ = pa.timestamp("us")
INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1

_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([01][0-7]{2})|(.))", re.DOTALL)
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})\Z", re.ASCII)
_TIMESTAMP = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?)?\Z", re.ASCII)
_TIME_WORD = re.compile(r"[\s\x00-\x20]*(?:epoch|now|today|tomorrow|yesterday)(?![A-Za-z])", re.IGNORECASE)
# Spark has a year 0, which Python has not.
_BEGINS_WITH_DATE = re.compile(r"(?!0000)(\d{4})-(\d{1,2})-(\d{1,2})(?![0-9])", re.ASCII)
_BEGINS_WITH_YEAR = re.compile(r"[\s\x00-\x20]*[+-]?\d{4,7}(?![0-9])", re.ASCII)
_BEGINS_WITH_HOUR = re.compile(r"[\s\x00-\x20]*(?:T\d|\d{1,2}:)", re.ASCII)
_SAME_RULES_YEAR = 2000

_EPOCH_ORDINAL = dt.date(1970, 1, 1).toordinal()
_SECOND = dt.timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant: its text as Spark reads it, its type (``pa.null()`` for NULL), and its value.

    The value is a bool, int, exact Decimal, float (rounded to float32 for that type), str or bytes. It is the number of
    days for a date, the number of microseconds for a timestamp, and None for NULL. ``known`` is False for a text that
    only Spark can parse.
    """

    sql: str
    type: pa.DataType
    value: Any
    known: bool = True


def number(raw: str) -> Literal:
    """Return the literal of a number, with or without a type suffix. The literal has the type that Spark gives it.

    Raise ValueError if the number is outside the range of its type.

    >>> number("5").type, number("3000000000").type, number("-9223372036854775808").type, number("1e3").type
    (DataType(int32), DataType(int64), DataType(int64), DataType(double))
    >>> number("5.50").type
    Decimal128Type(decimal128(3, 2))
    """
    upper = raw.upper()
    suffix = upper[-1]
    if suffix.isdigit() and upper.lstrip("-").isdigit():
        return _integer(raw, upper)
    if upper.endswith("BD"):
        return _decimal(raw, upper[:-2])
    if suffix in "LSY":
        data_type, bits = {"L": (pa.int64(), 64), "S": (pa.int16(), 16), "Y": (pa.int8(), 8)}[suffix]
        value = _whole(upper[:-1])
        if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
            raise ValueError(f"outside the range of {data_type}")
        return Literal(upper, data_type, value)
    if suffix == "D":
        return _double(raw, upper[:-1], pa.float64())
    if suffix == "F":
        return _double(raw, upper[:-1], pa.float32())
    if "E" in upper:
        return _double(raw, upper, pa.float64())
    return _decimal(raw, upper)


def _integer(raw: str, digits: str) -> Literal:
    value = _whole(digits)
    if -(1 << 31) <= value < 1 << 31:
        return Literal(str(value), pa.int32(), value)
    if INT64_MIN <= value <= INT64_MAX:
        return Literal(str(value), pa.int64(), value)
    return _decimal(raw, digits)


def _whole(digits: str) -> int:
    # Python's ``int`` raises another error for more than 4,300 digits.
    significant = digits.lstrip("-0")
    if len(significant) > 38:
        raise ValueError("more than 38 digits")
    return int(f"{'-' * digits.startswith('-')}{significant or '0'}")


def _double(raw: str, digits: str, data_type: pa.DataType) -> Literal:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"outside the range of {data_type}")
    if data_type == pa.float32():
        if Decimal(digits).copy_abs() > Decimal("3.4028234663852886E+38"):
            raise ValueError(f"outside the range of {data_type}")
        rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
        return Literal(raw.upper(), data_type, rounded, known=not _halfway(value) or Decimal(digits) == Decimal(value))
    return Literal(raw.upper(), data_type, value)


def _halfway(value: float) -> bool:
    """Return whether a double may lie halfway between two floats.

    The result is also True for a double that is too small to decide this. For all other doubles, rounding twice (text
    -> double -> float) gives the same as rounding once, as Java does.
    """
    mantissa = struct.unpack("<Q", struct.pack("<d", value))[0] & ((1 << 29) - 1)
    return mantissa == 1 << 28 or 0 < abs(value) < 2.0**-126


def _decimal(raw: str, digits: str) -> Literal:
    value = Decimal(digits)
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    coefficient = len(value.as_tuple().digits)
    if exponent > 0:
        coefficient, exponent = coefficient + exponent, 0
    scale = -exponent
    precision = max(coefficient, scale)
    if precision > 38:
        raise ValueError("more than 38 digits")
    return Literal(raw.upper(), pa.decimal128(precision, scale), value)


def string(raw: str) -> str:
    r"""Return the value of a quoted string, with escape sequences decoded as Spark decodes them.

    The sequences ``\%`` and ``\_`` keep their backslash.

    >>> string(r"'it\'s \u00e9 \t \%'")
    "it's é \t \\%"
    """
    if raw[0] in "rR":
        return raw[2:-1]
    body = raw[1:-1]
    return _ESCAPE.sub(_unescaped, body) if "\\" in body else body


def _unescaped(match: re.Match[str]) -> str:
    short, long, octal, other = match.groups()
    if short or long:
        return chr(int(short or long, 16))
    if octal:
        return chr(int(octal, 8))
    return _ESCAPES.get(other, other)


def date(text: str) -> int | None:
    """Return a ``yyyy-mm-dd`` text as the number of days since 1970-01-01. Return None for any other text."""
    match = _DATE.match(text)
    if match is None:
        return None
    try:
        return dt.date(*map(int, match.groups())).toordinal() - _EPOCH_ORDINAL
    except ValueError:
        return None


def is_off_calendar(text: str) -> bool:
    """Return whether a text begins with a date that does not exist, so that it cannot be parsed as a date or time.

    >>> is_off_calendar("2023-02-29"), is_off_calendar("2024-02-29 10:00:00"), is_off_calendar("12024-1-1")
    (True, False, False)
    """
    match = _BEGINS_WITH_DATE.match(text)
    if match is None:
        return False
    try:
        dt.date(*map(int, match.groups()))
    except ValueError:
        return True
    return False


def is_never_date(text: str) -> bool:
    """Return whether Spark's cast of a text to a date gives NULL.

    This holds if the text does not begin with a year, or if it begins with a day that does not exist.

    >>> is_never_date("J0"), is_never_date("2026-13-01"), is_never_date(" +2026-1T"), is_never_date("12:30")
    (True, True, False, True)
    """
    return _BEGINS_WITH_YEAR.match(text) is None or is_off_calendar(text)


def is_never_timestamp(text: str) -> bool:
    """Return whether Spark's cast of a text to a timestamp gives NULL.

    This holds if :func:`is_never_date` is True and the text does not begin with an hour.

    >>> is_never_timestamp("foo"), is_never_timestamp("12:30"), is_never_timestamp("2026")
    (True, False, False)
    """
    return is_never_date(text) and (is_off_calendar(text) or _BEGINS_WITH_HOUR.match(text) is None)


def is_time_word(text: str) -> bool:
    """Return whether Spark reads a constant string as a time that depends on the clock, such as ``today``, or as
    ``epoch``.

    >>> is_time_word(" Today UTC"), is_time_word("2020-01-01"), is_time_word("nowhere")
    (True, False, False)
    """
    return _TIME_WORD.match(text) is not None


def timestamp(text: str, time_zone: str | None) -> int | None:
    """Return a local time ``yyyy-mm-dd[ hh:mm:ss[.ffffff]]`` as microseconds since the epoch.

    Return None for any other text, and if :func:`local_micros` returns None. ``time_zone`` is the zone of the local
    time. It is None for a TIMESTAMP_NTZ, which is treated as a time in UTC. In a gap or an overlap of local times, the
    offset from before the change is used, as in Java.
    """
    match = _TIMESTAMP.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    micros = int((match.group(7) or "").ljust(6, "0"))
    try:
        return local_micros(dt.datetime(year, month, day, hour, minute, second, micros), time_zone)
    except ValueError:
        return None


def local_micros(local: dt.datetime, time_zone: str | None) -> int | None:
    """Return a local time in the zone ``time_zone`` as microseconds since the epoch. ``time_zone``: None for UTC.

    Return None before the year 2000 in a zone other than UTC: the time zone tables of Python and Java differ there for
    some zones.
    """
    delta = local - dt.datetime(1970, 1, 1)
    micros = (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds
    if time_zone is None or time_zone == "UTC":
        return micros
    offset = local.replace(tzinfo=ZoneInfo(time_zone), fold=0).utcoffset()
    if offset is None or local.year < _SAME_RULES_YEAR:
        return None
    return micros - round(offset / _SECOND) * 1_000_000


def day_start_micros(days: int, time_zone: str | None) -> int | None:
    """Return the start of a local day as microseconds since the epoch, as Spark casts a DATE to a TIMESTAMP.

    Return None if :func:`local_micros` returns None, and if the clocks skip midnight, so that the day starts later.
    """
    try:
        midnight = dt.datetime.fromordinal(days + _EPOCH_ORDINAL)
    except (ValueError, OverflowError):
        return None
    micros = local_micros(midnight, time_zone)
    if micros is None or time_zone is None or time_zone == "UTC":
        return micros
    back = dt.datetime.fromtimestamp(micros // 1_000_000, ZoneInfo(time_zone)).replace(tzinfo=None)
    return micros if back == midnight else None
