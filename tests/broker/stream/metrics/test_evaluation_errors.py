"""Failed evaluations are counted by query, from the workers to what the API shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.accumulators import Accumulator

from asc.evaluation.executor import match
from asc.plan.compiler import compile_plan
from asc.plan.plan import Plan, Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.matching.dataframe import match_plan
from broker.matching.shipped_plan import ShippedPlan
from broker.matching.tally import Tally, Tallying, TallyParam, TaskTally, tally_accumulator
from broker.queries.query import RegisteredQuery
from broker.stream.metrics.evaluation_errors import EvaluationErrors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = Schema.from_ddl("n INT, m INT, s STRING")


def compiled(predicates: dict[str, str]) -> Plan:
    return compile_plan([Query(query_id, normalise(where, SCHEMA)) for query_id, where in predicates.items()])


def counted(spark: SparkSession, frame: DataFrame, plan: Plan) -> dict[str, int]:
    accumulator = tally_accumulator(spark.sparkContext, 0)
    shipped = ShippedPlan.of(frame, plan, counts_errors=True)
    matched = match_plan(frame, shipped, tallying=Tallying(accumulator, 1, None))
    matched.write.format("noop").mode("overwrite").save()
    assert accumulator.value is not None
    errors = accumulator.value.errors
    return {query_id: errors.get(plan.handle(query_id), 0) for query_id in plan.query_ids.to_pylist()}


@pytest.mark.spark
def test_more_expressions_than_a_word_has_flags(spark: SparkSession) -> None:
    frame = spark.range(1_000).selectExpr("CAST(id AS INT) AS n", "CAST(id % 70 AS INT) AS m", "'x' AS s")
    plan = compiled({f"q{i}": f"n / (m - {i}) > 100000" for i in range(70)})
    assert counted(spark, frame, plan) == {f"q{i}": len(range(i, 1_000, 70)) for i in range(70)}


@pytest.mark.spark
def test_a_record_counts_for_whom_it_concerns(spark: SparkSession) -> None:
    rows = "(1, 0, '1'), (2, 1, 'x'), (3, 0, 'x'), (4, NULL, NULL)"
    frame = spark.sql(f"SELECT CAST(n AS INT) n, CAST(m AS INT) m, s FROM VALUES {rows} AS v(n, m, s)")
    predicates = {
        "division": "n / m > 5",
        "guarded": "m <> 0 AND n / m > 5",
        "cast": "CAST(s AS INT) > 5 AND n > 2",
        "both": "CAST(s AS INT) > 5 AND n / m > 5",
        "meant": "n / m IS NULL",
        "attempt": "TRY_CAST(s AS INT) > 5",
        "branch": "CASE WHEN m <> 0 THEN n / m ELSE 0 END > 5",
        "plain": "n > 1",
    }
    expected = {"division": 2, "guarded": 0, "cast": 1, "both": 1, "meant": 2, "attempt": 0, "branch": 0, "plain": 0}
    assert counted(spark, frame, compiled(predicates)) == expected


@pytest.mark.spark
def test_a_condition_that_spark_refuses_is_not_counted_and_stops_nothing(spark: SparkSession) -> None:
    frame = spark.range(10).selectExpr("CAST(id AS INT) AS n", "0 AS m", "'x' AS s")
    plan = compiled({"division": "n / m > 5", "cast": "CAST(s AS INT) > 5"})
    attributes = tuple(
        replace(attribute, error_condition="no such (" if "m" in attribute.sql else attribute.error_condition)
        for attribute in plan.p_attributes
    )
    assert counted(spark, frame, replace(plan, p_attributes=attributes)) == {"division": 0, "cast": 10}


def test_a_task_that_cannot_count_goes_on() -> None:
    plan = compiled({"q": "n > 1"})
    columns = [pa.array([1, 2], pa.int32())]
    arrived: Accumulator[Tally | None] = Accumulator(-1, None, TallyParam(0))
    task = TaskTally(Tallying(arrived, 1, None))

    def fails() -> dict[int, Any]:
        raise RuntimeError("no word today")

    task.add_errors(plan, columns, fails)
    task.add(plan.p_attributes, columns, match(plan, columns, 2))
    task.hand_over()
    assert arrived.value is None


def test_tallies_of_one_plan_add_up(tallied: Callable[..., Tally]) -> None:
    plan = compiled({"q": "n > 1"})
    one = replace(tallied(plan, [pa.array([1, 2], pa.int32())], 2, None), errors={1: 2, 3: 1})
    other = replace(one, errors={1: 5})
    assert one.merged(other, 0).errors == {1: 7, 3: 1}
    assert one.merged(replace(other, plan=2), 0).errors == {1: 5}
    assert replace(one, errors={}).merged(replace(other, errors={}), 0).errors == {}


def standing(**versions: int) -> dict[str, RegisteredQuery]:
    return {query_id: RegisteredQuery(query_id, "s", "n > 1", "out", version=v) for query_id, v in versions.items()}


def test_what_an_older_plan_counted_is_not_laid_on_a_query_that_was_replaced() -> None:
    errors = EvaluationErrors("s")
    errors.set_registered(standing(kept=5, replaced=5, removed=5))
    errors.count(5, {"kept": 1, "replaced": 7, "removed": 7})
    errors.set_registered(standing(kept=5, replaced=6), gone=["removed"])
    # A batch that began before the change, and one that is run again with the plan it was bound to.
    for _ in range(2):
        errors.count(5, {"kept": 2, "replaced": 2, "removed": 2})
    assert [errors.of(*key) for key in (("kept", 5), ("replaced", 5), ("replaced", 6), ("removed", 5))] == [5, 7, 0, 0]
    errors.count(6, {"kept": 1, "replaced": 4})
    assert [errors.of(*key) for key in (("kept", 5), ("replaced", 5), ("replaced", 6))] == [6, 0, 4]
    # What was counted by stream stays: a counter never falls.
    assert errors.total == 1 + 7 + 7 + 4 + 1 + 4


def test_the_first_errors_of_queries_are_logged_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    errors = EvaluationErrors("s")
    errors.set_registered(standing(a=1, b=1, c=1))
    for counts in ({}, {"b": 2, "a": 3}, {"a": 4}):
        errors.count(1, counts)
    assert caplog.messages == [
        "stream 's': an expression of query 'a' and 1 more could not be evaluated on 3 records of a batch "
        "(a division by zero, a cast or decimal that does not fit, a position off the earth): it is NULL there"
    ]
    assert [errors.of(query_id, 1) for query_id in "abc"] == [7, 2, 0]
