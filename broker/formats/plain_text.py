"""The text of values: scalars in all formats and keys, and values in JSON."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from datetime import date, datetime, timezone
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any


def plain_text(value: Any) -> str:
    """Return the text of a scalar, as in a key or a CSV field.

    >>> plain_text(datetime(2013, 1, 1, 10, tzinfo=timezone.utc)), plain_text(True), plain_text(float("-inf"))
    ('2013-01-01T10:00:00Z', 'true', '-Infinity')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        return ("-Infinity" if value < 0 else "Infinity") if math.isinf(value) else repr(value)
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime):
        if value.tzinfo is None:
            return value.isoformat()
        return value.astimezone(timezone.utc).replace(tzinfo=None).isoformat() + "Z"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, (Mapping, list, tuple)):
        return json_text(value)
    return str(value)


def json_text(value: Any) -> str:
    """Return a value of Python or Arrow as JSON that Spark reads: decimals with all digits, times in ISO 8601, bytes in
    base64.

    >>> json_text({"price": Decimal("1.10"), "at": date(2013, 1, 31), "raw": b"abc", "bad": float("nan"), "none": None})
    '{"price":1.10,"at":"2013-01-31","raw":"YWJj","bad":"NaN","none":null}'
    """
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{quoted(str(name))}:{json_text(item)}' for name, item in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(json_text, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return quoted(plain_text(value))
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(value)
    if isinstance(value, Decimal):
        return plain_text(value)
    return quoted(plain_text(value))


def quoted(text: str) -> str:
    """Return a text as a JSON string."""
    # Equal to json.dumps(text, ensure_ascii=False), but without a new encoder for each field of each row.
    return encode_basestring(text)
