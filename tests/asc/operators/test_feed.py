"""Messages of a feed, from their text and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from asc.operators.feed import EventQuery, Message, Observation, Settings, Watermarks, parse

MESSAGES: list[Message] = [
    Settings(
        "flights",
        True,
        7,
        (EventQuery("over", "t", "1f", ("enter", "lost"), 0, 5), EventQuery("b", "u", "1f", (), 1, 2)),
    ),
    Watermarks({"1f": -7, "2e": 8}),
    Watermarks({"1f": -(2**63) - 10_000_000}),
    Observation("1f", "4b1812", 1_000, (7.5, None), 3, 9, ("over/CHE", "over/FRA"), is_ahead=False),
    Observation("1f", None, None, (), 0, 1, (), is_ahead=True),
    Observation("1f", "é", -(2**63), (), 2**31 - 1, 2**63 - 1),
]


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_is_what_its_text_says(message: Message) -> None:
    assert parse(message.text()) == message


def test_what_is_null_may_be_missing_as_spark_writes_it() -> None:
    assert parse('{"t":"1f","a":false,"p":0,"o":5,"q":""}') == Observation("1f", None, None, (), 0, 5)


_SEEN = {"t": "n1", "k": "k", "e": 1_000_000, "x": [8.0, 47.0], "p": 0, "o": 1, "q": "close"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"t": ["n1"]},
        {"k": 5},
        {"k": "\ud800"},
        {"e": 1.5},
        {"e": 2**63},
        {"x": 5},
        {"p": 2**31},
        {"o": None},
        {"o": 10**30},
        {"o": True},
        {"q": 5},
        {"v": 5},
        {"v": "\ud800"},
    ],
)
def test_what_no_record_has_is_no_message(wrong: dict[str, Any]) -> None:
    assert isinstance(parse(json.dumps(_SEEN)), Observation)
    with pytest.raises((ValueError, KeyError, TypeError, AttributeError)):
        parse(json.dumps({**_SEEN, **wrong}))


@pytest.mark.parametrize("watermarks", [5, [1], {"n1": "x"}, {"n1": 1.5}, {"n1": 10**30}])
def test_what_no_time_has_is_no_message(watermarks: object) -> None:
    with pytest.raises((ValueError, TypeError, AttributeError)):
        parse(json.dumps({"watermarks": watermarks}))
