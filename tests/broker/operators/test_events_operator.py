"""What is asked of events, and where their matches go in a plan."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from asc.keys.attribute import PAttribute, position
from broker.errors import QueryError
from broker.operators.events_operator import (
    EventsDestination,
    EventsOperator,
    Track,
    is_operated,
    target_of,
    track_of,
)
from operators.feed import EventQuery

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
        {"name": None},
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


def test_a_destination_holds_all_that_events_need_of_a_query() -> None:
    number = PAttribute("n", pa.float64(), ("n",))
    key, time_us = PAttribute("CAST(k AS STRING)", pa.string()), PAttribute("unix_micros(t)", pa.int64())
    place = position((number, number), is_planar=False)
    track = track_of(key, time_us, [number, place, position((number,) * 4, is_planar=False)])
    assert track == Track("CAST(k AS STRING)", "unix_micros(t)", ("CAST((n) AS DOUBLE)",) * 2)
    asked = EventsOperator.of_plain(PLAIN)
    destination = EventsDestination.of("asc.feed.s", "é", "out", asked, track)
    assert destination.query == EventQuery("é", "out", track.name, ("enter", "exit"), 30_000_000, 1_500_000)
    assert EventsDestination.of_text(destination.text()) == destination
    assert destination.text().startswith(target_of("asc.feed.s", track.name))
    assert is_operated(destination.text())
    assert not is_operated("out")
    # Other expressions make another track, whatever they are cut into.
    tracks = (track, track_of(key, time_us, []), Track("a", "b", ("c",)), Track("a", "b,c"))
    assert len({each.name for each in tracks}) == 4
