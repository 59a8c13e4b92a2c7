"""Kafka records in the form of the API's JSON."""

from __future__ import annotations

import base64
from typing import Any

_SHOWN_BYTES = 16_384
"""The most bytes of a key or a value that are shown."""


def shown_record(record: Any) -> dict[str, Any]:
    """Return a record of Kafka's client as JSON: its partition, offset and time, and its key and value as text.

    Bytes that are not UTF-8 are in base64, under another name. Only the first part of a long key or value is shown;
    then ``truncated`` is true.
    """
    is_cut = any(len(each or b"") > _SHOWN_BYTES for each in (record.key, record.value))
    return {
        "partition": record.partition,
        "offset": record.offset,
        "timestamp_ms": record.timestamp,
        **_text("key", record.key),
        **_text("value", record.value),
        "truncated": is_cut,
    }


def _text(name: str, content: bytes | None) -> dict[str, str | None]:
    if content is None:
        return {name: None}
    part = content[:_SHOWN_BYTES]
    try:
        return {name: part.decode("utf-8")}
    except UnicodeDecodeError as error:
        # Cut within a character.
        if len(content) > _SHOWN_BYTES and error.start > _SHOWN_BYTES - 4:
            return {name: part[: error.start].decode("utf-8")}
        return {f"{name}_base64": base64.b64encode(part).decode("ascii")}
