"""Predicates for groups: predicates over dimensions that accept exactly one group of an answer."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

from asc.operators.cube.json_values import instant_of
from asc.operators.cube.layout import Layout
from asc.predicate.syntax.literal import timestamp

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_ESCAPED = str.maketrans({"\\": "\\\\", "'": "\\'", "\0": "\\0"})
_LEAST_DOUBLE = "-1.7976931348623157E308D"


def slice_text(layout: Layout, group: Mapping[str, Any]) -> str | None:
    """Return a predicate over dimensions that accepts exactly one group of an answer. The predicate for the group of
    all records is TRUE.

    ``group``: the values of the group as answers show them, by the expressions of the dimensions. Return None if a
    value cannot be compared with a constant: NaN, infinity, or a local time that occurs twice in the stream's time
    zone.
    """
    types = {operand.sql: operand.type for operand in layout.dimensions}
    terms = []
    for name, value in group.items():
        test = _test(value, types[name], layout.time_zone)
        if test is None:
            return None
        terms.append(f"{_name(name)} {test}")
    return " AND ".join(terms) or "TRUE"


def _name(name: str) -> str:
    # A plain name is read as a column here, as in the definition of the cube.
    escaped = name.replace("`", "``")
    return name if _PLAIN_NAME.fullmatch(name) else f"`{escaped}`"


def _test(value: Any, kind: pa.DataType, time_zone: str) -> str | None:
    if value is None:
        return "IS NULL"
    if value == "-Infinity" and pa.types.is_floating(kind):
        return f"< {_LEAST_DOUBLE}"
    literal = _literal(value, kind, time_zone)
    return None if literal is None else f"= {literal}"


def _literal(value: Any, kind: pa.DataType, time_zone: str) -> str | None:
    types = pa.types
    if types.is_boolean(kind):
        return "true" if value else "false"
    if types.is_string(kind):
        return _quoted(value)
    if types.is_binary(kind):
        return f"X'{base64.b64decode(value).hex()}'"
    if types.is_date(kind):
        return f"DATE {_quoted(value)}"
    if types.is_timestamp(kind):
        return _instant(value, None if kind.tz is None else time_zone)
    if types.is_floating(kind):
        return None if isinstance(value, str) else f"{value!r}D"
    if types.is_decimal(kind):
        return f"{value}BD"
    return str(value)


def _instant(text: str, time_zone: str | None) -> str | None:
    """Return the literal of a timestamp as local time in ``time_zone``, which is None for a timestamp without a zone.
    Return None if no literal represents exactly this instant.
    """
    if time_zone is None:
        return f"TIMESTAMP_NTZ {_quoted(text)}"
    try:
        micros = instant_of("timestamp", text)
        at = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=micros)
        local = at.astimezone(ZoneInfo(time_zone)).replace(tzinfo=None).isoformat(" ")
    except (ValueError, OverflowError):
        return None
    return f"TIMESTAMP '{local}'" if timestamp(local, time_zone) == micros else None


def _quoted(text: str) -> str:
    return f"'{text.translate(_ESCAPED)}'"
