"""The conversion of Kafka records to JSON objects of the API."""

from __future__ import annotations

import base64
from typing import Any

_SHOWN_BYTES = 16_384
"""The most bytes of a key or a value that the JSON contains."""


def shown_record(record: Any) -> dict[str, Any]:
    """Return a record of Kafka's client as JSON: its partition, offset and time, and its key and value as text.

    A key or value that is not UTF-8 is shown in base64, in the field ``key_base64`` or ``value_base64``. If a key or
    value is longer than 16 KiB, only its beginning is shown, and ``truncated`` is true.
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
        # The limit divides a character of valid UTF-8: show the text before this character.
        if len(content) > _SHOWN_BYTES and error.start > _SHOWN_BYTES - 4:
            return {name: part[: error.start].decode("utf-8")}
        return {f"{name}_base64": base64.b64encode(part).decode("ascii")}
