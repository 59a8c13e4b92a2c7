"""Times in files, rewritten in the patterns and the time zone with which a stream reads them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from broker.errors import InputError
from broker.files.spellings import DATE, TIME
from broker.formats.record_format import DATE_PATTERNS
from broker.formats.spelling import respelling, spelled
from broker.formats.time_pattern import TimePattern

if TYPE_CHECKING:
    import pyarrow as pa

    from asc.schema import Schema

Row = Mapping[str, Any]
_ISO = re.compile(f"{DATE}(?:{TIME}(?:Z|[+-][0-9]{{2}}:[0-9]{{2}})?)?", re.ASCII)
Rewrite = Callable[[Any], Any]
"""A function that converts a value (not None) to the form that the stream reads."""


def time_rewrites(
    schema: Schema, options: Mapping[str, str], time_zone: str, columns: Sequence[str], *, texts: bool
) -> Mapping[str, Rewrite]:
    """Return, by field, the functions that write times in the stream's patterns, for fields that are among the columns.

    A stream without patterns reads ISO 8601, in which times are written by default. ``texts``: whether the values are
    texts of CSV. If so, a text in ISO 8601 is rewritten unless it matches the pattern already; any other text is sent
    unchanged. Raise InputError for a pattern that cannot be written.
    """
    if not DATE_PATTERNS.keys() & options.keys():
        return {}
    zone = _zone(options.get("timeZone", time_zone))
    present = spelled(columns, schema)
    return {
        field.name: rewrite
        for field in schema.arrow
        if field.name in present and (rewrite := _rewrite(field.type, options, zone, texts=texts)) is not None
    }


def times_rewritten(schema: Schema, rewrites: Mapping[str, Rewrite]) -> Callable[[Row], Row]:
    """Return a function that rewrites the times of a row with the functions that :func:`time_rewrites` returns."""
    if not rewrites:
        return lambda row: row
    respelled = respelling(schema)

    def rewritten(row: Row) -> Row:
        own = respelled(row)
        for name, rewrite in rewrites.items():
            if own.get(name) is not None:
                own[name] = rewrite(own[name])
        return own

    return rewritten


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        remedy = "times cannot be written in it here: name a region, as Europe/Oslo or Etc/GMT-1"
        raise InputError("time zone of the stream", name, remedy) from None


def _rewrite(data_type: pa.DataType, options: Mapping[str, str], zone: ZoneInfo, *, texts: bool) -> Rewrite | None:
    """Return the function that rewrites values of a type. Return None if the values stay unchanged."""
    import pyarrow as pa

    types = pa.types
    if types.is_struct(data_type) and not texts:
        inner = {
            field.name: rewrite
            for field in (data_type.field(place) for place in range(data_type.num_fields))
            if (rewrite := _rewrite(field.type, options, zone, texts=texts)) is not None
        }
        return (lambda value: _in_struct(value, inner)) if inner else None
    if types.is_list(data_type) and not texts:
        each = _rewrite(data_type.value_type, options, zone, texts=texts)
        return None if each is None else lambda values: [value if value is None else each(value) for value in values]
    if types.is_date(data_type):
        option = "dateFormat"
    elif types.is_timestamp(data_type):
        option = "timestampFormat" if data_type.tz else "timestampNTZFormat"
    else:
        return None
    if option not in options:
        return None
    written = _written_by(option, options, zone)
    return written if not texts else _of_text(written, options[option], options)


def _in_struct(value: Any, inner: Mapping[str, Rewrite]) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {name: inner[name](item) if name in inner and item is not None else item for name, item in value.items()}


def _written_by(option: str, options: Mapping[str, str], zone: ZoneInfo) -> Rewrite:
    pattern = _pattern(option, options)

    def written(value: Any) -> Any:
        if not isinstance(value, date):
            return value
        moment = value if isinstance(value, datetime) else datetime.combine(value, time())
        if moment.tzinfo is not None:
            moment = moment.astimezone(zone)
        elif pattern.has_zone:
            moment = moment.replace(tzinfo=zone)
        try:
            return pattern.written(moment)
        except ValueError as error:
            raise InputError(f"{option} of the stream", pattern.text, f"cannot write {value}: {error}") from None

    return written


def _of_text(written: Rewrite, pattern_text: str, options: Mapping[str, str]) -> Rewrite:
    pattern = TimePattern.of(pattern_text, options.get("locale", "en-US"))

    def rewritten(text: str) -> Any:
        if pattern.is_shape_of(text) or not _ISO.fullmatch(text):
            return text
        try:
            return written(datetime.fromisoformat(_python_iso(text)))
        except ValueError:
            return text

    return rewritten


def _python_iso(text: str) -> str:
    """Return an ISO 8601 text in the form that Python before 3.11 reads: without Z, and with fractions of six
    digits.
    """
    text = re.sub("Z$", "+00:00", text)
    return re.sub(r"\.([0-9]+)", lambda found: "." + found[1].ljust(6, "0"), text)


def _pattern(option: str, options: Mapping[str, str]) -> TimePattern:
    try:
        return TimePattern.of(options[option], options.get("locale", "en-US"))
    except ValueError as error:
        remedy = f"'{error}' in it cannot be written here: publish NDJSON whose texts are as the stream reads them"
        raise InputError(f"{option} of the stream", options[option], remedy) from None
