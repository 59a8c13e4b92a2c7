"""Records as JSON: text where it is text, and the first part of what is long."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from broker.http.record_json import shown_record


def shown(key: bytes | None, value: bytes | None) -> dict[str, Any]:
    found = shown_record(SimpleNamespace(partition=1, offset=7, timestamp=5, key=key, value=value))
    assert (found.pop("partition"), found.pop("offset"), found.pop("timestamp_ms")) == (1, 7, 5)
    return found


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        (None, b"", {"key": None, "value": "", "truncated": False}),
        ("ü".encode(), b"\xff\x00", {"key": "ü", "value_base64": "/wA=", "truncated": False}),
        (b"k", b"x" * 16_385, {"key": "k", "value": "x" * 16_384, "truncated": True}),
        (b"k", b"x" + "ü".encode() * 16_384, {"key": "k", "value": "x" + "ü" * 8_191, "truncated": True}),
    ],
    ids=["none", "bytes", "long", "cut-in-a-character"],
)
def test_keys_and_values(key: bytes | None, value: bytes | None, wanted: dict[str, Any]) -> None:
    assert shown(key, value) == wanted


def test_long_bytes_are_cut() -> None:
    found = shown(b"k", b"\xff" * 20_000)
    assert (len(found["value_base64"]), found["truncated"]) == ((16_384 + 2) // 3 * 4, True)
