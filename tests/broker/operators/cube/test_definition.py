"""Definitions of cubes as queries have them."""

from __future__ import annotations

from typing import Any

import pytest

from broker.errors import QueryError
from broker.operators.cube.definition import StandingCube
from broker.operators.expression import Expression

PLAIN = {
    "name": "cube",
    "dimensions": [["origin", "dest"], ["carrier"]],
    "measures": ["count(*) AS `flights`", "sum(delay) AS `total`", "max(delay) FILTER (WHERE late) AS `worst`"],
    "time": "time_hour",
    "grain_s": 3600,
}


def test_it_is_read_back_as_it_was_written() -> None:
    found = StandingCube.parse(PLAIN)
    assert found.plain() == PLAIN
    assert StandingCube.parse(found.plain()) == found
    assert hash(StandingCube.parse(found.plain())) == hash(found)
    assert found.summary() == "flights, total, worst by origin > dest, carrier, every 3600 s"
    least = StandingCube.parse({"name": "cube", "measures": ["count(*)"], "grain_s": 60})
    assert (least.plain()["time"], least.plain()["dimensions"]) == ("_timestamp", [])


def test_its_expressions_are_the_time_and_each_value_once() -> None:
    plain = {**PLAIN, "dimensions": [["origin", "time_hour"], ["delay"]]}
    assert StandingCube.parse(plain).expressions() == (
        Expression("time", "time_hour", "time"),
        Expression("dimension", "delay", "value"),
        Expression("measure", "CASE WHEN (late) THEN delay END", "value"),
        Expression("dimension", "origin", "value"),
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"window_s": 60}, "field operator 'window_s': is not offered yet: leave it out"),
        ({"from": "earliest"}, "field operator 'from': is not offered yet: leave it out"),
        ({"keep": ["1h:30d"]}, "field operator 'keep': is not offered yet: leave it out"),
        ({"dimension": []}, "field operator 'dimension': is not known: known are name, dimensions"),
        ({"time": None}, "operator.time: give an expression over the record"),
        ({"grain_s": 7}, "operator.grain_s '7': give seconds that divide an hour"),
        ({"measures": []}, "operator.measures"),
        ({"measures": ["median(x)"]}, "operator.measure 'median(x)': has the function 'median'"),
        ({"dimensions": [["a"], ["A"]]}, "operator."),
    ],
)
def test_a_refusal_is_one_line(change: dict[str, Any], said: str) -> None:
    with pytest.raises(QueryError) as refused:
        StandingCube.parse({**PLAIN, **change})
    assert str(refused.value).replace('"', "'").startswith(said), refused.value
    assert "\n" not in str(refused.value)
