"""The body of a DBSCAN query: its bounds in OpenAPI, and the queries that lists stand for."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from broker.errors import QueryError
from broker.operators.dbscan.body import DbscanBody

LEAST: dict[str, Any] = {"name": "dbscan", "attributes": ["x"], "eps": 1, "min_samples": 5}
WINDOWS = {"window_s": 60, "slide_s": 10}


def test_lists_are_the_queries_of_all_combinations() -> None:
    found = DbscanBody.combinations("dense", {**LEAST, "eps": [1, 2], "min_samples": [3]})
    assert [(own, plain["eps"], plain["min_samples"]) for own, plain in found] == [("dense.1", 1, 3), ("dense.2", 2, 3)]
    with pytest.raises(QueryError, match=r"operator.eps '\[\]': has no number"):
        DbscanBody.combinations("dense", {**LEAST, "eps": []})


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"window_s": 60},
        {"window_s": 60, "slide_s": 61},
        {**WINDOWS, "window_points": 5},
        {**WINDOWS, "position": "ST_Point(x, y)"},
        {**WINDOWS, "attributes": None},
        {**WINDOWS, "eps": 1e300},
    ],
)
def test_fields_that_do_not_go_together_are_refused(more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        DbscanBody.model_validate({**LEAST, **more})
    assert DbscanBody.model_validate({**LEAST, **WINDOWS}).eps == 1


def test_each_query_of_lists_is_judged() -> None:
    lists = {**LEAST, **WINDOWS, "eps": [1, 2]}
    assert DbscanBody.model_validate(lists).model_dump()["eps"] == [1, 2]
    with pytest.raises(ValidationError, match="eps"):
        DbscanBody.model_validate({**lists, "eps": [1, 1e300]})


def test_openapi_has_types_and_bounds() -> None:
    schema = DbscanBody.model_json_schema()["properties"]
    assert schema["sample"]["maximum"] == 1_000
    assert schema["members"]["enum"] == ["none", "changes", "all"]
    assert {own.get("exclusiveMinimum") for own in schema["eps"]["anyOf"]} == {0, None}
    assert all(own["description"] for name, own in schema.items() if name != "name")
