"""What is asked of events, and where their matches go."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from asc.keys.attribute import PAttribute, position
from asc.operators.feed import EventQuery
from asc.predicate.normal_form import Predicate
from broker.errors import QueryError
from broker.operators.events.definition import EventsOperator
from broker.operators.fed_destination import FedDestination, Track

PLAIN = {
    "name": "events",
    "key": "icao24",
    "time": "ts",
    "events": ["exit", "enter"],
    "dwell_s": 30.0,
    "lost_after_s": 1.5,
}


def test_an_operator_is_what_its_record_says() -> None:
    asked = EventsOperator.of_plain(PLAIN)
    assert asked == EventsOperator("icao24", "ts", ("enter", "exit"), 30, 1.5)
    assert EventsOperator.of_plain(asked.plain()) == asked
    assert EventsOperator.of_plain({"name": "events", "key": "k"}).plain() == {
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
        EventsOperator.of_plain({**PLAIN, **wrong})


def test_the_first_position_of_the_predicate_is_that_of_events() -> None:
    number = PAttribute("n", pa.float64(), ("n",))
    key, time_us = PAttribute("CAST(k AS STRING)", pa.string()), PAttribute("unix_micros(t)", pa.int64())
    place, box = (position((number,) * count, is_planar=False) for count in (2, 4))
    asked = EventsOperator.of_plain(PLAIN)

    def destination(*read: PAttribute) -> FedDestination:
        predicate = Predicate("", (tuple((attribute, None) for attribute in read),))  # type: ignore[misc]
        return asked.destination("asc.feed.s", "q", "out", own=[key, time_us], predicate=predicate)

    found = destination(number, place, box)
    assert found.track == Track("CAST(k AS STRING)", "unix_micros(t)", ("CAST((n) AS DOUBLE)",) * 2)
    assert found.query == EventQuery("q", "out", found.track.name, ("enter", "exit"), 30_000_000, 1_500_000)
    assert destination(number).track.position == ()
