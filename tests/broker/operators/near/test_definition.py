"""Definitions of pairs: read, refused, and written."""

from __future__ import annotations

from typing import Any

import pytest

from broker.errors import QueryError
from broker.operators.near.definition import NearDefinition

PLAIN = {"name": "near", "key": "icao24", "distance_m": 9_260, "window_s": 30.0, "every_s": 10}


def test_an_operator_is_what_its_record_says() -> None:
    asked = NearDefinition.parse(PLAIN)
    assert asked == NearDefinition("icao24", 9_260, 30, 10)
    assert asked.plain() == {
        **PLAIN,
        "window_s": 30,
        "time": "_timestamp",
        "position": "ST_Point(longitude, latitude)",
        "on": None,
        "events": ["pair"],
    }
    whole = {**PLAIN, "time": "ts", "position": "ST_Point(x, y)", "on": "a.z < b.z", "events": ["apart", "near"]}
    assert NearDefinition.parse(whole).kinds == ("near", "apart")
    assert NearDefinition.parse(NearDefinition.parse(whole).plain()) == NearDefinition.parse(whole)


@pytest.mark.parametrize(
    "wrong",
    [
        {"key": None},
        {"distance_m": None},
        {"distance_m": -1},
        {"distance_m": 2.1e7},
        {"window_s": 0},
        {"window_s": 86_401},
        {"every_s": True},
        {"window_s": 1_000.1},
        {"position": ""},
        {"on": ""},
        {"events": []},
        {"events": ["pair", "apart"]},
        {"dwell_s": 1},
    ],
    ids=str,
)
def test_what_is_none_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(QueryError):
        NearDefinition.parse({**PLAIN, **wrong})


@pytest.mark.parametrize("every_s", [0.57, 0.29, 0.1, 7])
def test_a_window_is_of_a_hundred_ticks_and_no_more(every_s: float) -> None:
    window_s = round(100 * every_s, 6)
    assert NearDefinition.parse({**PLAIN, "window_s": window_s, "every_s": every_s}).window_s == window_s
    with pytest.raises(QueryError, match="100 times every_s"):
        NearDefinition.parse({**PLAIN, "window_s": window_s + 0.000001, "every_s": every_s})
