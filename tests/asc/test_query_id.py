"""Ids of queries, and sets of them."""

from __future__ import annotations

import pytest

from asc.errors import AscError, PlanError
from asc.query_id import checked_id, checked_queries


@pytest.mark.parametrize("query_id", ["a", "7", "late.arrivals_of-2013", "x" * 200])
def test_a_legal_id_is_returned(query_id: str) -> None:
    assert checked_id(query_id, AscError) is query_id


@pytest.mark.parametrize("query_id", ["", "a b", ".a", "-a", "a/b", "é", "a\n", "x" * 201, "a\ud800"])
def test_another_text_is_refused_with_the_error_of_the_caller(query_id: str) -> None:
    with pytest.raises(PlanError, match=r"query id '.*': use 1 to 200 of A-Z a-z 0-9 . _ -, a letter or digit first"):
        checked_id(query_id, PlanError)


@pytest.mark.parametrize("query_id", [None, 7, b"late", ["late"]])
def test_what_is_no_text_is_refused_by_its_type(query_id: object) -> None:
    with pytest.raises(AscError, match=f"query id of type '{type(query_id).__name__}': use"):
        checked_id(query_id, AscError)


def test_a_mapping_is_returned_and_anything_else_refused() -> None:
    queries = {"late": "delay > 60"}
    assert checked_queries(queries, AscError) is queries
    for other in (["late"], "late", None, [("late", "delay > 60")]):
        with pytest.raises(AscError, match=f"queries of type '{type(other).__name__}': give a mapping"):
            checked_queries(other, AscError)
