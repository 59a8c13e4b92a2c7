"""Consumed records as the commands show them."""

from __future__ import annotations

import base64
from typing import Any

from broker.operators.headers import dead_letter_error, delivered_by


def record_json(message: Any) -> dict[str, Any]:
    """A consumed record as a JSON object, with the queries that accepted it and the source it came from."""
    headers = message.headers or ()
    queries, source = delivered_by(headers)
    error = dead_letter_error(headers)
    return {
        "topic": message.topic,
        "partition": message.partition,
        "offset": message.offset,
        "timestamp_ms": message.timestamp,
        **_text_member("key", message.key),
        **_text_member("value", message.value),
        "queries": queries,
        "source": source,
        **({} if error is None else {"error": error}),
    }


def record_line(message: Any) -> str:
    """A consumed record in one line: the queries or, of a dead letter, the error, then the key, the value."""
    shown = record_json(message)
    key = shown.get("key") or shown.get("key_base64")
    value = shown.get("value") or shown.get("value_base64") or ""
    why = f"error: {shown['error']}" if "error" in shown else ", ".join(shown["queries"])
    return f"[{why}] {f'{key} ' if key else ''}{value}"


def _text_member(name: str, value: bytes | None) -> dict[str, str | None]:
    """Bytes as text, or in base64 under another name where they are not UTF-8."""
    if value is None:
        return {name: None}
    try:
        return {name: value.decode("utf-8")}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(value).decode("ascii")}
