"""The output of consumed records, as JSON or as a line of text."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from broker.consuming.consume import Delivery
from broker.operators.headers import dead_letter_error
from broker.visible_text import visible


def record_json(delivery: Delivery) -> dict[str, Any]:
    """Return a consumed record as a JSON object.

    It has the queries that accepted the record, the shapes for which joins accepted it, the source, and the identity of
    the delivery.
    """
    error = dead_letter_error(delivery.headers)
    return {
        "topic": delivery.topic,
        "partition": delivery.partition,
        "offset": delivery.offset,
        "timestamp_ms": delivery.timestamp_ms,
        **text_member("key", delivery.key),
        **text_member("value", delivery.value),
        "queries": list(delivery.queries),
        **({"shapes": list(delivery.shapes)} if delivery.shapes else {}),
        "source": delivery.source,
        "source_timestamp_ms": delivery.source_timestamp_ms,
        "identity": delivery.identity,
        **({} if error is None else {"error": error}),
    }


def record_line(delivery: Delivery) -> str:
    """Return a consumed record in one line: the queries (with shapes for joins) or, for a dead letter, the error; then
    the key and the value.
    """
    shown = record_json(delivery)
    key = plain_text(shown, "key")
    shapes = shown.get("shapes", ())
    joins = {shape.partition("/")[0] for shape in shapes}
    accepted_by = sorted([*(query for query in shown["queries"] if query not in joins), *shapes])
    why = f"error: {shown['error']}" if "error" in shown else ", ".join(accepted_by)
    return visible(f"[{why}] {f'{key} ' if key else ''}{plain_text(shown, 'value')}")


def text_member(name: str, value: bytes | None) -> dict[str, str | None]:
    """Return bytes as text in the JSON member ``name``. Return bytes that are not UTF-8 as base64 in the member
    ``NAME_base64``.
    """
    if value is None:
        return {name: None}
    try:
        return {name: value.decode("utf-8")}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(value).decode("ascii")}


def plain_text(shown: Mapping[str, Any], name: str) -> str:
    """Return the value in a result of `text_member` for people: the text, or ``base64`` followed by the encoded bytes.

    >>> plain_text({"value": "late"}, "value"), plain_text({"value_base64": "/w=="}, "value")
    ('late', 'base64 /w==')
    """
    encoded = shown.get(f"{name}_base64")
    return f"base64 {encoded}" if encoded else str(shown.get(name) or "")
