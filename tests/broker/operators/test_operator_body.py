"""The union of operators: its member is the one of the name, and each reads what answers say of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from broker.operators.kinds import OPERATORS, ROUTE, definition_of, described, settable
from broker.operators.operator_body import OperatorBody, operators_of

WINDOWS = {"window_points": 100, "slide_points": 10}
ANSWERS: dict[str, dict[str, Any]] = {
    "route": {"name": "route"},
    "events": {"name": "events", "key": "icao24", "dwell_s": 0.5, "events": ["exit"]},
    "near": {"name": "near", "key": "k", "distance_m": 10, "window_s": 30, "every_s": 10, "on": "a.x < b.x"},
    "dbscan": {"name": "dbscan", "position": "ST_Point(x, y)", "eps": 10, "min_samples": 2, **WINDOWS, "sample": 0},
    "cube": {"name": "cube", "dimensions": [["origin", "dest"]], "measures": ["sum(delay) AS `d`"], "grain_s": 60},
}


def test_every_operator_is_tried_here() -> None:
    assert tuple(ANSWERS) == (ROUTE, *OPERATORS)


@pytest.mark.parametrize("name", ANSWERS)
def test_what_is_answered_of_an_operator_can_be_sent_back(name: str) -> None:
    body = TypeAdapter(OperatorBody).validate_python(ANSWERS[name])
    assert body.name == name
    operator = definition_of(settable(body.model_dump()))
    answer = described(operator)
    if answer is not None:
        again = TypeAdapter(OperatorBody).validate_python(answer)
        # As text, for 10 == 10.0.
        assert again.model_dump_json() == json.dumps(again.model_dump(), separators=(",", ":"))
        assert sorted(again.model_dump().items(), key=str) == sorted(answer.items(), key=str)
        assert '"distance_m":10,' in again.model_dump_json() or name != "near"
        assert definition_of(settable(answer)) == operator


@pytest.mark.parametrize("plain", [{"name": "cube"}, {}, {"name": None}, "near", {"name": "near", "dwell_s": 3}])
def test_another_name_and_a_field_of_another_operator_are_refused(plain: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(OperatorBody).validate_python(plain)


def test_lists_stand_for_operators_where_the_kind_has_such() -> None:
    own = {**ANSWERS["dbscan"], "min_samples": [2, 3]}
    assert [each["min_samples"] for each in operators_of(own)] == [2, 3]
    for other in (ANSWERS["near"], {"name": "near", "eps": [1, 2]}, {"name": ["dbscan"]}, {}):
        assert operators_of(other) == [other]
