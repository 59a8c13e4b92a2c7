"""Messages of a feed, from their text and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from asc.errors import FeedFormError
from asc.operators.events.event_query import EventQuery
from asc.operators.feed import Message, Observation, QuerySettings, Settings, Watermarks, parse
from asc.operators.near.near_query import TICKS_MAX, NearQuery
from asc.operators.times import SPAN_US

OP = "near"
MESSAGES: list[Message] = [
    Settings(
        OP,
        "flights",
        True,
        7,
        (
            QuerySettings("close", "t", "5f", "e1", ("a41c",), {"distance_m": 5.5, "on": "a.x < b.\u00e9"}),
            QuerySettings("b", "u", "5f", "e1", (), {}),
        ),
    ),
    Watermarks({"e1": -7, "e2": 8}),
    Watermarks({"e1": -(2**63) - 10_000_000}),
    Observation(OP, "1f", "4b1812", 1_000, (7.5, None), 3, 9, ("a41c/CHE", "a41c/FRA"), carried='{"z":1}'),
    Observation(OP, "1f", None, None, (), 0, 1, (), is_future=True),
    Observation(OP, "1f", "\u00e9", -(2**63), (), 2**31 - 1, 2**63 - 1),
]


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_is_what_its_text_says(message: Message) -> None:
    assert parse(message.text(), OP, id) == (message,)


def test_fields_that_are_null_may_be_missing_as_spark_writes_it() -> None:
    assert parse('{"v":2,"op":"near","t":"1f","p":0,"o":5,"s":[]}', OP, id) == (
        Observation(OP, "1f", None, None, (), 0, 5),
    )


def test_a_message_does_not_grow_with_the_queries_of_a_selection() -> None:
    seen = Observation(OP, "5f1d0c6a9b21", "4067f2", 1527866408000000, (8.213, 47.031), 0, 1742, ("a41c9e0273d15b88",))
    assert len(seen.text()) <= 200


_SEEN = {"v": 2, "op": OP, "t": "n1", "k": "k", "e": 1_000_000, "x": [8.0, 47.0], "p": 0, "o": 1, "s": ["a41c"]}


@pytest.mark.parametrize(
    "wrong",
    [
        {"op": "events"},
        {"op": None},
        {"v": "2"},
        {"v": True},
        {"v": 0},
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
        {"s": 5},
        {"s": [5]},
        {"s": [None]},
        {"c": 5},
        {"c": "\ud800"},
    ],
)
def test_a_value_that_no_record_has_makes_no_message(wrong: dict[str, Any]) -> None:
    assert isinstance(parse(json.dumps(_SEEN), OP, id)[0], Observation)
    with pytest.raises((ValueError, KeyError, TypeError, AttributeError)):
        parse(json.dumps({**_SEEN, **wrong}), OP, id)


@pytest.mark.parametrize("watermarks", [5, [1], {"n1": "x"}, {"n1": 1.5}, {"n1": 10**30}])
def test_a_value_that_no_time_has_makes_no_message(watermarks: object) -> None:
    with pytest.raises((ValueError, TypeError, AttributeError)):
        parse(json.dumps({"v": 2, "time": watermarks}), OP, id)


def test_a_message_of_a_later_form_stops_its_reader() -> None:
    with pytest.raises(FeedFormError, match="form of a feed message 3: a later version wrote it"):
        parse(json.dumps({**_SEEN, "v": 3}), OP, id)


def test_settings_without_the_fields_of_their_kind_are_no_message() -> None:
    def of(definition: Any) -> str:
        query = {"id": "q", "topic": "t", "track": "5f", "time": "e1", "selections": [], "definition": definition}
        settings = {"source": "s", "planar": False, "limit": 1, "queries": [query]}
        return json.dumps({"v": 2, "op": OP, "settings": settings})

    near = {"distance_m": 5, "window_us": 30, "every_us": 10, "on": None, "events": ["pair"]}
    assert isinstance(parse(of(near), OP, NearQuery.of)[0], Settings)
    for wrong in ({}, None, {**near, "every_us": 0}, {**near, "window_us": "30"}, {**near, "distance_m": None}):
        with pytest.raises((ValueError, KeyError, TypeError, AttributeError)):
            parse(of(wrong), OP, NearQuery.of)


def test_a_message_of_another_kind_is_none_whatever_its_form() -> None:
    with pytest.raises(ValueError, match="cube is another tag than near"):
        parse(json.dumps({"v": 3, "op": "cube"}), OP, id)


@pytest.mark.parametrize(
    ("of_query", "wrong"),
    [
        *((True, {name: value}) for name in ("id", "topic", "track", "time") for value in (["q"], None, 5)),
        *((True, {"selections": value}) for value in ("s", {"s": 1}, [["s"]], [None])),
        *((False, {name: value}) for name, value in [("source", ["s"]), ("planar", 1), ("limit", {}), ("limit", 0.5)]),
        *((False, {name: value}) for name, value in [("limit", -1), ("lateness_us", -1), ("lateness_us", SPAN_US + 1)]),
    ],
    ids=str,
)
def test_a_value_that_no_settings_have_makes_no_message(of_query: bool, wrong: dict[str, Any]) -> None:
    """As a message it would end its reader where it is compared, or is the name of something."""
    query = {"id": "q", "topic": "t", "track": "5f", "time": "e1", "selections": ["s"], "definition": {}}
    settings = {"source": "s", "planar": False, "limit": 1, "queries": [{**query, **wrong} if of_query else query]}
    text = json.dumps({"v": 2, "op": OP, "settings": settings if of_query else {**settings, **wrong}})
    with pytest.raises((ValueError, KeyError, TypeError, AttributeError)):
        parse(text, OP, id)


@pytest.mark.parametrize(
    "wrong",
    [
        {"events": 5},
        {"events": [["pair"]]},
        {"distance_m": float("nan")},
        {"distance_m": 10**400},
        {"distance_m": -1},
        {"on": ["x"]},
        {"window_us": 0},
        {"window_us": 10 * TICKS_MAX + 1},
        {"every_us": -1},
        {"every_us": SPAN_US + 1},
    ],
    ids=str,
)
def test_a_value_that_no_near_query_has_makes_no_message(wrong: dict[str, Any]) -> None:
    near = {"distance_m": 5, "window_us": 30, "every_us": 10, "on": None, "events": ["pair"]}

    def of(definition: dict[str, Any]) -> NearQuery:
        return NearQuery.of(QuerySettings("q", "t", "5f", "e1", ("s",), definition))

    assert of({**near, "window_us": 10 * TICKS_MAX}).window_us == 10 * TICKS_MAX
    with pytest.raises((ValueError, TypeError, AttributeError)):
        of({**near, **wrong})


@pytest.mark.parametrize(
    ("wrong", "query_id"),
    [
        ({"events": 5}, "q"),
        ({"dwell_us": -1}, "q"),
        ({"dwell_us": SPAN_US + 1}, "q"),
        ({"lost_after_us": 0}, "q"),
        ({"lost_after_us": True}, "q"),
        ({}, "q/shape"),
    ],
    ids=str,
)
def test_a_value_that_no_event_query_has_makes_no_message(wrong: dict[str, Any], query_id: str) -> None:
    events = {"events": ["enter"], "dwell_us": 0, "lost_after_us": 1}

    def of(definition: dict[str, Any], query_id: str) -> EventQuery:
        return EventQuery.of(QuerySettings(query_id, "t", "5f", "e1", ("s",), definition))

    assert of(events, "q").lost_after_us == 1
    with pytest.raises((ValueError, TypeError, AttributeError)):
        of({**events, **wrong}, query_id)
