"""A plan on its way: what Spark refuses of it by name, and the session as it was before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asc.plan.compiler import compile_plan
from asc.plan.plan import Plan, Query
from asc.predicate import normalise
from broker.errors import MatchError
from broker.matching.dataframe import schema_of
from broker.matching.shipped_plan import ShippedPlan, ansi_off

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

ANSI = "spark.sql.ansi.enabled"


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    return spark.sql("SELECT id, CAST(id AS INT) AS i32, id AS i64, CAST(id AS STRING) AS s FROM range(3)")


def _queries(df: DataFrame, queries: dict[str, str]) -> list[Query]:
    schema = schema_of(df)
    return [Query(name, normalise(text, schema), "t") for name, text in queries.items()]


def _plan(df: DataFrame, queries: dict[str, str]) -> Plan:
    return compile_plan(_queries(df, queries))


def test_expressions_are_analysed_against_this_frame(rows: DataFrame, spark: SparkSession) -> None:
    """A plan for other columns: Spark's refusal in one line."""
    with pytest.raises(MatchError, match="is refused by Spark") as raised:
        ShippedPlan.of(rows.drop("s"), _plan(rows, {"a": "length(s) > 1"}))
    assert "\n" not in str(raised.value)
    with pytest.raises(MatchError, match="int64 in Spark, not int32"):
        ShippedPlan.of(rows.withColumn("i32", rows.i64), _plan(rows, {"a": "i32 > 1"}))


@pytest.mark.parametrize(
    ("using", "named"),
    [
        ([], "expression 'length"),
        (["b"], "expression of 'b' "),
        (["c", "a", "b"], "expression of 'a', 'b', 'c' "),
        (["d", "c", "a", "b"], "expression of 'a', 'b', 'c', ... "),
    ],
)
def test_those_who_use_a_refused_expression_are_named(rows: DataFrame, using: list[str], named: str) -> None:
    queries = _queries(rows, {**dict.fromkeys(using, "i32 > 0 AND length(s) > 1"), "other": "i32 > 0"})
    plan = _plan(rows, {"q": "length(s) > 1 AND i32 > 0"})
    with pytest.raises(MatchError) as caught:
        ShippedPlan.of(rows.drop("s"), plan, queries)
    assert str(caught.value).startswith(named)
    assert "\n" not in str(caught.value)


def test_the_workers_are_handed_the_plan(rows: DataFrame) -> None:
    plan = _plan(rows, {"a": "i32 >= 0", "b": "1 / i32 > 1 AND s = 'x'"})
    shipped = ShippedPlan.of(rows, plan)
    assert shipped.parts.plan.query_ids == plan.query_ids
    assert len(shipped.transport.carriers) == len(plan.p_attributes)
    assert shipped.transport.error_words == ()
    counting = ShippedPlan.of(rows, plan, counts_errors=True).transport
    (slot,) = counting.fallible
    assert plan.p_attributes[slot].sql == "1 / i32"
    assert len(counting.error_words) == 1
    shipped.release()


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    return spark.newSession()


@pytest.mark.parametrize("mode", ["true", "false"])
def test_within_the_analysis_ansi_mode_is_off_and_afterwards_what_it_was(session: SparkSession, mode: str) -> None:
    session.conf.set(ANSI, mode)
    with ansi_off(session):
        assert session.conf.get(ANSI) == "false"
        analysed = session.sql("SELECT 1 / 0 AS x")
    assert session.conf.get(ANSI) == mode
    assert analysed.collect() == [(None,)]
    with pytest.raises(KeyError), ansi_off(session):
        raise KeyError("x")
    assert session.conf.get(ANSI) == mode
