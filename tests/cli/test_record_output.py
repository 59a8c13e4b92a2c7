"""Consumed records as the commands show them."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from broker.consuming.consume import delivery_of
from cli.record_output import record_json, record_line

Header = tuple[str, "bytes | None"]
FIRST_HOP: list[Header] = [("asc-query", b"a"), ("asc-query", b"b"), ("asc-source", b"flights-0-7")]


class Message(NamedTuple):
    """What a consumer gives of a record."""

    key: bytes | None
    value: bytes | None
    headers: list[Header] | None
    topic: str = "asc.late"
    partition: int = 0
    offset: int = 3
    timestamp: int = 1


DEAD: list[Header] = [*FIRST_HOP, ("asc-error", b"value is empty"), ("asc-source", b"asc.a-0-3")]


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (Message(None, b"{}", FIRST_HOP), "[a, b] {}"),
        (Message(b"SFO", "Zürich".encode(), FIRST_HOP), "[a, b] SFO Zürich"),
        (Message(b"\xff", b"\xfe", None), "[] base64 /w== base64 /g=="),
        (Message(None, b"/w==", None), "[] /w=="),
        (Message(b"k", None, FIRST_HOP), "[a, b] k "),
        (Message(b"\x1b]0;x\x07", b"two\nlines \x1b[2J", FIRST_HOP), "[a, b] ·]0;x· two·lines ·[2J"),
        (Message(b"", b"", DEAD), "[error: value is empty] "),
    ],
)
def test_a_record_in_a_line(message: Message, line: str) -> None:
    assert record_line(delivery_of(message)) == line


def test_a_record_as_json_tells_text_from_bytes_and_nothing_from_empty() -> None:
    found = record_json(delivery_of(Message(b"\xff", None, FIRST_HOP)))
    assert (found["key_base64"], found["value"], found["queries"]) == ("/w==", None, ["a", "b"])
    assert "key" not in found
    assert "error" not in found
    found = record_json(delivery_of(Message(None, b"", DEAD)))
    assert (found["key"], found["value"], found["error"]) == (None, "", "value is empty")
    assert (found["queries"], found["source"]) == ([], "asc.a-0-3")
    event = [("asc-event", b"a:enter:s-0-7"), ("asc-query", b"a"), ("asc-source", b"s-0-7")]
    found = record_json(delivery_of(Message(b"k", b"{}", event)))
    assert (found["source"], found["identity"]) == ("s-0-7", "a:enter:s-0-7")
