"""Definitions of DBSCAN queries that stand: what the computation refuses is a refusal of the query."""

from __future__ import annotations

from typing import Any

import pytest

from broker.errors import QueryError
from broker.operators.dbscan.definition import StandingDbscan

TIMED = {"name": "dbscan", "attributes": ["x"], "eps": 0.5, "min_samples": 5, "window_s": 60, "slide_s": 10}


def test_defaults_are_filled_in_and_what_is_replaced_is_null() -> None:
    found = StandingDbscan.parse(TIMED).plain()
    assert (found["time"], found["members"], found["sample"]) == ("_timestamp", "none", 200)
    assert found["position"] is found["window_points"] is found["slide_points"] is found["key"] is None


def test_its_expressions_have_roles_in_order() -> None:
    own = {**TIMED, "attributes": ["x", "y * 2"], "key": "k", "time": "t"}
    roles = [(one.name, one.sql, one.role) for one in StandingDbscan.parse(own).expressions()]
    assert roles == [
        ("time", "t", "time"),
        ("attributes", "x", "number"),
        ("attributes", "y * 2", "number"),
        ("key", "k", "key"),
    ]
    own = {**TIMED, "attributes": None, "position": "ST_Point(x, y)"}
    assert [one.role for one in StandingDbscan.parse(own).expressions()] == ["time", "position"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"eps": [1, 2]}, "operator.eps '[1, 2]': is a list, which 'asc dbscan add' or a POST of one query divides"),
        ({"min_samples": []}, "operator.min_samples '[]': is a list"),
        ({"time": None}, "operator.time: give an expression over the record, or leave it out"),
        ({"eps": 0}, "operator.eps 0: give a radius above 0 whose square is neither 0 nor infinite"),
        ({"slide_s": 61}, "operator.slide_s 61: is longer than the window"),
        ({"nope": 1}, "field operator 'nope': is not known"),
        ({"attributes": ["'\ud800'"]}, "half of a surrogate pair"),
    ],
)
def test_what_is_none_is_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(QueryError) as refused:
        StandingDbscan.parse({**TIMED, **changed})
    assert said in str(refused.value)
    str(refused.value).encode()
