"""Bodies of new queries that stand for several."""

from __future__ import annotations

from typing import Any

import pytest

from broker.errors import QueryError
from broker.http.combinations import combinations_of

OPERATOR = {"name": "dbscan", "attributes": ["x"], "eps": [1, 2], "min_samples": 5, "window_s": 60, "slide_s": 10}
BODY = {"id": "dense", "where": "true", "labels": {"a": "b"}, "operator": OPERATOR}


def test_lists_are_queries_to_one_topic() -> None:
    found = combinations_of(BODY)
    assert [(own["id"], own["topic"], own["operator"]["eps"]) for own in found] == [
        ("dense.1", "asc.dense", 1),
        ("dense.2", "asc.dense", 2),
    ]
    assert all(own["labels"] == {"a": "b"} for own in found)
    assert {own["topic"] for own in combinations_of({**BODY, "topic": "mine"})} == {"mine"}
    # A list of one stands for one query, and leaves its id.
    (alone,) = combinations_of({**BODY, "operator": {**OPERATOR, "eps": [1]}})
    assert (alone["id"], alone["operator"]["eps"], "topic" in alone) == ("dense", 1, False)


@pytest.mark.parametrize(
    "plain",
    [
        None,
        [],
        "text",
        {"id": "q"},
        {"id": 7, "operator": OPERATOR},
        {"id": "q", "operator": "near"},
        {"id": "q", "operator": {"name": ["dbscan"], "eps": [1, 2]}},
        {"id": "q", "operator": {"name": "near", "eps": [1, 2]}},
        {"id": "q", "operator": {"name": "route"}},
    ],
)
def test_every_other_body_is_itself(plain: Any) -> None:
    assert combinations_of(plain) == [plain]


def test_too_many_are_refused_before_they_are_made() -> None:
    with pytest.raises(QueryError, match=r"combinations of eps and min_samples 1000000: are too many"):
        combinations_of({**BODY, "operator": {**OPERATOR, "eps": [1] * 1_000, "min_samples": [5] * 1_000}})
