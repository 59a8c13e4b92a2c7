"""Conversion of the values of answers to JSON values, and of instants to texts and back."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from asc.errors import CubeError
from asc.operators.cube.states.memory import Mask, nulls_of, numbers, stored
from asc.operators.times import FIRST_US, LAST_US

_END_US, _END_TEXT = LAST_US + 1, "10000-01-01T00:00:00Z"
"""The end of the year 9999 in microseconds, and its text, which Python's datetime cannot parse."""
_FINER = re.compile(r"[.,][0-9]{6,}[1-9]")
"""A fraction of a second with digits below a microsecond, which Python would drop."""
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
_NAMES = {math.inf: "Infinity", -math.inf: "-Infinity"}


def plain_values(array: pa.Array, *, is_integer: bool = False) -> list[Any]:
    """Return values as JSON values.

    Integers become numbers of any length, and doubles numbers that round-trip. NaN, infinities, decimals, dates and
    timestamps become texts; BINARY becomes Base64. Structs become objects, and lists lists. ``is_integer``: decimals
    without a scale are shown as integers.

    >>> plain_values(pa.array([1.5, float("nan"), float("-inf"), None]))
    [1.5, 'NaN', '-Infinity', None]
    >>> plain_values(pa.array([{"item": b"a", "low": 1.0}, None]))
    [{'item': 'YQ==', 'low': 1.0}, None]
    """
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_struct(array.type):
        return _objects(array)
    if pa.types.is_list(array.type):
        return _lists(array)
    if is_integer and _is_short(array):
        array = stored(pa.int64(), numbers(array, np.int64, 2)[:, 0].copy(), ~_nulls(array))
    convert = int if pa.types.is_decimal(array.type) and is_integer else _conversion(array.type)
    if pa.types.is_timestamp(array.type):
        array = array.cast(pa.int64())
    elif pa.types.is_date(array.type):
        array = array.cast(pa.int32())
    values = array.to_pylist()
    return values if convert is None else [None if value is None else convert(value) for value in values]


def _objects(array: pa.Array) -> list[Any]:
    """Return structs as JSON objects."""
    names = [field.name for field in array.type]
    columns = [plain_values(column) for column in array.flatten()]
    nulls = _nulls(array).tolist()
    rows = zip(*columns, strict=True) if columns else [()] * len(array)
    return [None if null else dict(zip(names, row, strict=True)) for null, row in zip(nulls, rows, strict=True)]


def _lists(array: pa.Array) -> list[Any]:
    """Return lists as JSON lists."""
    values = plain_values(array.flatten())
    ends = np.cumsum(pc.fill_null(pc.list_value_length(array), 0).to_numpy()).tolist()
    bounds = zip([0, *ends[:-1]], ends, _nulls(array).tolist(), strict=True)
    return [None if null else values[start:end] for start, end, null in bounds] if ends else []


def _is_short(array: pa.Array) -> bool:
    """Return whether all decimals, which have no scale, fit into 64-bit integers."""
    halves = numbers(array, np.int64, 2)
    return bool((halves[:, 1] == halves[:, 0] >> 63).all())


def _nulls(array: pa.Array) -> Mask:
    found = nulls_of(array)
    return found if len(found) else np.zeros(len(array), dtype=np.bool_)


def instant_text(time_us: int) -> str:
    """Return a time in microseconds since 1970 as text in UTC, with a fraction only if it is not zero.

    >>> instant_text(1_373_414_400_000_000), instant_text(-1)
    ('2013-07-10T00:00:00Z', '1969-12-31T23:59:59.999999Z')
    """
    return f"{_local_text(time_us)}Z"


def bound_text(time_us: int) -> str:
    """Return a bound of an interval of event time as text. A bound outside the years 1 to 9999 is shown as the begin or
    the end of these years, because no cube counts records outside them.

    >>> bound_text(FIRST_US - 1), bound_text(FIRST_US + 1), bound_text(_END_US + 1)
    ('0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000001Z', '10000-01-01T00:00:00Z')
    """
    return instant_text(min(max(time_us, FIRST_US), _END_US))


def instant_of(name: str, text: object) -> int:
    """Return the time in a text, in microseconds since 1970. The text is a date, or a date and time; a time without a
    zone is in UTC. The end of the year 9999 is accepted as answers show it. Raise CubeError for any other value.
    ``name``: the field of the value, for the error.

    >>> instant_of("from", "2013-07-10"), instant_of("from", "2013-07-10T02:00:00+02:00")
    (1373414400000000, 1373414400000000)
    >>> instant_of("to", "10000-01-01T00:00:00Z")
    253402300800000000
    """
    if text == _END_TEXT:
        return _END_US
    if isinstance(text, str) and _FINER.search(text):
        raise CubeError(name, text, "is finer than a microsecond: write at most six decimals of a second")
    try:
        if not isinstance(text, str):
            raise ValueError
        found = datetime.fromisoformat(f"{text[:-1]}+00:00" if text[-1:] in ("Z", "z") else text)
        zoned = found if found.tzinfo is not None else found.replace(tzinfo=timezone.utc)
        return (zoned - _EPOCH) // _MICROSECOND
    except (ValueError, OverflowError):
        remedy = "is no time: write 2013-07-10 or 2013-07-10T12:00:00Z"
        raise CubeError(name, text, remedy) from None


def _conversion(data_type: pa.DataType) -> Callable[[Any], Any] | None:
    types = pa.types
    if types.is_floating(data_type):
        return _number
    if types.is_decimal(data_type):
        return _decimal
    if types.is_binary(data_type):
        return _base64
    if types.is_date(data_type):
        return _date_text
    if types.is_timestamp(data_type):
        return _local_text if data_type.tz is None else instant_text
    return None


def _number(value: float) -> float | str:
    if math.isnan(value):
        return "NaN"
    return _NAMES.get(value, value)


def _decimal(value: Any) -> str:
    return f"{value:f}"


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _local_text(time_us: int) -> str:
    # Python's datetime has only the years 1 to 9999, NumPy has all.
    text = str(np.datetime64(time_us, "us"))
    return text.removesuffix(".000000")


def _date_text(days: int) -> str:
    return str(np.datetime64(days, "D"))
