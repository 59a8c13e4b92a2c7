"""Definitions of events: read, refused, and written."""

from __future__ import annotations

from typing import Any

import pytest

from broker.errors import QueryError
from broker.operators.events.definition import EventsDefinition

PLAIN = {
    "name": "events",
    "key": "icao24",
    "time": "ts",
    "events": ["exit", "enter"],
    "dwell_s": 30.0,
    "lost_after_s": 1.5,
}


def test_an_operator_is_what_its_record_says() -> None:
    asked = EventsDefinition.parse(PLAIN)
    assert asked == EventsDefinition("icao24", "ts", ("enter", "exit"), 30, 1.5)
    assert EventsDefinition.parse(asked.plain()) == asked
    assert EventsDefinition.parse({"name": "events", "key": "k"}).plain() == {
        "name": "events",
        "events": ["enter", "exit", "lost"],
        "key": "k",
        "time": "_timestamp",
        "dwell_s": 0,
        "lost_after_s": 3600,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"key": None},
        {"key": " "},
        {"key": "k" * 10_001},
        {"time": 7},
        {"events": "enter"},
        {"events": [["enter"]]},
        {"dwell_s": True},
        {"dwell_s": float("nan")},
        {"lost_after_s": 2_592_001},
        {"more": 1},
    ],
    ids=str,
)
def test_what_is_none_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(QueryError):
        EventsDefinition.parse({**PLAIN, **wrong})
