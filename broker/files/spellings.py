"""Spellings of values that Arrow and Spark's parsers read as the same value."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_LEAP = "(?:[12][0-9](?:0[48]|[2468][048]|[13579][26])|(?:1[26]|2[048])00)"
_DAY = "(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31"
DATE = f"(?:[12][0-9]{{3}}-(?:{_DAY})|{_LEAP}-02-29)"
"""A pattern of valid calendar dates."""

TIME = r"[T ](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?"
INTEGER = "-?(?:0|[1-9][0-9]{0,18})"
DOUBLE = r"-?(?:0|[1-9][0-9]{0,16})(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,2})?"


def spelling_of(data_type: pa.DataType, *, is_utc: bool) -> str | None:
    """Return the regular expression of the spellings that Arrow and Spark read as the same value of a type. Return None
    if this module has no expression for the type.

    ``is_utc``: whether a time without a zone is in UTC.

    >>> import pyarrow as pa, re
    >>> re.fullmatch(spelling_of(pa.timestamp("us", tz="UTC"), is_utc=True), "2013-01-31T10:00:00Z") is not None
    True
    """
    import pyarrow as pa

    types = pa.types
    if types.is_boolean(data_type):
        return "true|false"
    if types.is_integer(data_type):
        return INTEGER
    if types.is_floating(data_type):
        return DOUBLE
    if types.is_decimal(data_type):
        digits = data_type.precision - data_type.scale
        whole = f"-?[0-9]{{1,{digits}}}" if digits else "-?0"
        return whole + (rf"(?:\.[0-9]{{1,{data_type.scale}}})?" if data_type.scale else "")
    if types.is_date(data_type):
        return DATE
    if types.is_timestamp(data_type) and data_type.tz is None:
        return DATE + TIME
    if types.is_timestamp(data_type):
        return DATE + TIME + ("Z?" if is_utc else "Z")
    return ".*" if types.is_string(data_type) else None
