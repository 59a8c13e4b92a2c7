"""The body of events has the defaults and the bounds of its definition."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from broker.errors import QueryError
from broker.operators.events.body import EventsBody
from broker.operators.events.definition import EventsDefinition
from broker.operators.kinds import definition_of


def test_the_defaults_are_those_of_the_definition() -> None:
    plain = EventsBody.model_validate({"name": "events", "key": "icao24"}).model_dump()
    assert plain.pop("summary") is None
    assert plain == EventsDefinition("icao24").plain()


@pytest.mark.parametrize(
    ("wrong", "is_wrong"),
    [
        ({"dwell_s": 0, "lost_after_s": 0.001}, False),
        ({"dwell_s": 2_592_000, "lost_after_s": 2_592_000}, False),
        ({"dwell_s": -0.001}, True),
        ({"lost_after_s": 0}, True),
        ({"dwell_s": 2_592_001}, True),
        ({"dwell_s": float("nan")}, True),
        ({"dwell_s": True}, True),
        ({"dwell_s": "30s"}, True),
        ({"events": []}, True),
        ({"events": ["enter", "pair"]}, True),
        ({"key": None}, True),
        ({"distance_m": 3}, True),
    ],
    ids=str,
)
def test_body_and_definition_refuse_the_same(wrong: dict[str, Any], is_wrong: bool) -> None:
    plain = {"name": "events", "key": "icao24", **wrong}
    for parse, error in ((EventsBody.model_validate, ValidationError), (definition_of, QueryError)):
        try:
            parse(plain)
        except error:
            assert is_wrong
        else:
            assert not is_wrong
