"""A standing query that Spark refuses when the daemon starts: it alone is not served, with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from broker.analysis import StreamAnalyser
from broker.config import StreamConfig, parse_config
from broker.planning import Planning
from broker.query import RegisteredQuery

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_what_spark_refuses_at_the_start_keeps_nothing_else_from_running(spark: SparkSession) -> None:
    """The analyser's schema lacks a column, as a Spark would that reads the schema otherwise than the engine does."""
    stream = {"topic": "t", "format": "json", "schema": "n INT, s STRING"}
    config = parse_config({"kafka": {"bootstrap_servers": "127.0.0.1:9"}, "streams": {"flights": stream}})
    lacking = StreamConfig.model_validate({**stream, "schema": "n INT"})
    planning = Planning(config, {"flights": StreamAnalyser(spark, lacking, "UTC")})
    queries = [
        RegisteredQuery("plain", "flights", "n > 1", "out"),
        RegisteredQuery("computed", "flights", "n + 1 > 2", "out"),
        RegisteredQuery("refused", "flights", "n > 1 AND length(s) > 2", "out"),
        RegisteredQuery("asleep", "flights", "length(s) > 2", "out", paused=True),
    ]
    plans, unserved = planning.plans(queries, 7)
    plan = plans["flights"]
    assert set(unserved) == {"refused"}
    assert unserved["refused"].startswith("expression 'length(s)': is refused by Spark: ")
    assert (len(plan), plan.version) == (2, 7)
    assert [attribute.sql for attribute in plan.p_attributes] == ["n", "n + 1"]
