"""Messages of a feed, from their text and back."""

from __future__ import annotations

import pytest

from operators.feed import EventQuery, Message, Observation, Settings, Watermarks, parse

MESSAGES: list[Message] = [
    Settings(
        "flights",
        True,
        7,
        (EventQuery("over", "t", "1f", ("enter", "lost"), 0, 5), EventQuery("b", "u", "1f", (), 1, 2)),
    ),
    Watermarks({"1f": -7, "2e": 8}),
    Observation("1f", "4b1812", 1_000, (7.5, None), 3, 9, ("over/CHE", "over/FRA"), is_ahead=False),
    Observation("1f", None, None, (), 0, 1, (), is_ahead=True),
]


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_is_what_its_text_says(message: Message) -> None:
    assert parse(message.text()) == message


def test_what_is_null_may_be_missing_as_spark_writes_it() -> None:
    assert parse('{"t":"1f","a":false,"p":0,"o":5,"q":""}') == Observation("1f", None, None, (), 0, 5)
