"""Scalars as text, as every format and every key writes them."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any


def plain_text(value: Any) -> str:
    """A scalar as text: what a key or a CSV field of it holds.

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
        from broker.formats.json import json_text

        return json_text(value)
    return str(value)
