"""Predicates by id in their normal form."""

from __future__ import annotations

import pytest

from asc.errors import AscError, PredicateError
from asc.predicate import Limits
from asc.schema import Schema
from broker.matching.named_queries import normalised_queries

SCHEMA = Schema.from_ddl("delay INT, dest STRING")


def test_each_query_comes_in_its_order() -> None:
    queries = {"late": "delay > 60", "bay": "dest = 'SFO'"}
    assert [query.id for query in normalised_queries(queries, SCHEMA, Limits(), "UTC")] == ["late", "bay"]


def test_a_refusal_names_the_query_and_keeps_its_caret() -> None:
    with pytest.raises(PredicateError, match=r"query 'late'.*dely") as caught:
        list(normalised_queries({"late": "dely > 60"}, SCHEMA, Limits(), "UTC"))
    assert caught.value.caret() == "dely > 60\n^^^^"


@pytest.mark.parametrize("query_id", ["", "a\nb", "a\x1fb", 7])
def test_an_illegal_id(query_id: str) -> None:
    with pytest.raises(AscError, match="query id"):
        list(normalised_queries({query_id: "delay > 1"}, SCHEMA, Limits(), "UTC"))
