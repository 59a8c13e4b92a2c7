"""What standing queries that no plan serves would need, and that none is kept for one that cannot be served."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from asc.predicate import Limits
from broker.config.config import parse_config
from broker.formats.record_attributes import attributes_of
from broker.operators.dbscan.definition import StandingDbscan
from broker.operators.near.definition import NearDefinition
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import QuerySet
from broker.queries.unserved_queries import UnservedQueries, UnservedQuery
from broker.stream.analyser import StreamAnalyser

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

NEAR = NearDefinition("s", 500, 30, 10, position="ST_Point(n, n)")
LARGE = StandingDbscan.parse({"attributes": ["n"], "eps": 1, "min_samples": 2, "window_points": 60, "slide_points": 20})


def unserved_queries(spark: SparkSession, **limits: int) -> UnservedQueries:
    stream = {"topic": "t", "format": "json", "schema": "n INT, s STRING"}
    config = parse_config({"streams": {"a": stream}, "limits": limits})
    fields = config.streams["a"].fields()
    decoder = config.streams["a"].decoder(fields, "UTC")
    return UnservedQueries(config, {"a": StreamAnalyser(spark, "t", decoder, attributes_of(fields), Limits())})


def needs(found: UnservedQueries, **fields: Any) -> UnservedQuery:
    query = RegisteredQuery(**{"id": "q", "stream": "a", "where": "n + 1 > 2", "topic": "out", "version": 4, **fields})
    return found.of(QuerySet({"q": query}, 4, {"q": "waits"}))["q"]


def test_it_is_what_a_plan_would_have_of_it(spark: SparkSession) -> None:
    own = needs(unserved_queries(spark))
    assert ({each.sql for each in own.computed}, own.destination) == ({"n + 1"}, None)
    own = needs(unserved_queries(spark), operator=NEAR)
    assert own.destination is not None
    assert (own.destination.name, own.destination.op) == ("q", "near")
    assert "n + 1" in {each.sql for each in own.computed}


@pytest.mark.parametrize(
    ("fields", "limits"),
    [
        ({"paused": True}, {}),
        ({"stream": "gone"}, {}),
        ({"where": "nn > 2"}, {}),
        ({"operator": LARGE}, {"stream_dbscan_points": 50}),
        ({"operator": NEAR}, {"stream_near_queries": 0}),
        ({"operator": NEAR, "stream": "", "unreadable": "its record is damaged"}, {}),
    ],
)
def test_nothing_is_kept_for_one_that_no_start_would_serve(
    spark: SparkSession, fields: dict[str, Any], limits: dict[str, int]
) -> None:
    own = needs(unserved_queries(spark, **limits), **fields)
    assert own == UnservedQuery(4, fields.get("stream", "a"))


def test_one_that_changed_is_looked_at_anew(spark: SparkSession) -> None:
    found = unserved_queries(spark)
    query = RegisteredQuery("q", "a", "n + 1 > 2", "out", version=1)
    first = QuerySet({"q": query}, 1, {"q": "waits"})
    assert found.of(first) is found.of(first)
    again = first.with_unserved({"q": "still"})
    assert found.of(again)["q"] is found.of(first)["q"]
    changed = first.changed([replace(query, where="n + 2 > 2", version=2)], (), 2).with_unserved({"q": "waits"})
    assert {each.sql for each in found.of(changed)["q"].computed} == {"n + 2"}
