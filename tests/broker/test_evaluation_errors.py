"""Failed evaluations are counted by query, from the workers to what the API shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asc.compiler import compile_plan
from asc.plan import Plan, Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.evaluation_errors import EvaluationErrors
from broker.matching import match_plan
from broker.tally import Tallying, tally_accumulator

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = Schema.from_ddl("n INT, m INT, s STRING")


def compiled(predicates: dict[str, str]) -> Plan:
    return compile_plan([Query(query_id, normalise(where, SCHEMA)) for query_id, where in predicates.items()])


def counted(spark: SparkSession, frame: DataFrame, plan: Plan) -> dict[str, int]:
    accumulator = tally_accumulator(spark.sparkContext, 0)
    shipped = spark.sparkContext.broadcast(plan.to_bytes())
    matched = match_plan(frame, shipped, tallying=Tallying(accumulator, 1, None))
    matched.write.format("noop").mode("overwrite").save()
    assert accumulator.value is not None
    errors = EvaluationErrors()
    errors.add("s", plan, accumulator.value.failed)
    found = {query_id: errors.of(query_id) for query_id in plan.query_ids.to_pylist()}
    assert errors.of_stream("s") == sum(found.values())
    return found


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


def test_a_first_error_is_logged_and_a_changed_query_begins_anew(caplog: pytest.LogCaptureFixture) -> None:
    plan = compiled({"a": "n / m > 1", "b": "n / m > 2", "c": "n > 1"})
    handles = {query_id: plan.handle(query_id) for query_id in "abc"}
    errors = EvaluationErrors()
    errors.add("s", plan, {})
    assert caplog.messages == []
    errors.add("s", plan, {handles["a"]: 3, handles["b"]: 2})
    errors.add("s", plan, {handles["a"]: 4})
    assert caplog.messages == [
        "stream 's': an expression of query 'a' and 1 more could not be evaluated on 3 records of a batch "
        "(a division by zero, a cast or a decimal that does not fit): it is NULL there, so not accepted"
    ]
    assert [errors.of(query_id) for query_id in "abc"] == [7, 2, 0]
    errors.forget(["a", "c"])
    assert [errors.of(query_id) for query_id in "abc"] == [0, 2, 0]
    # What was counted by stream stays: a counter never falls.
    assert errors.of_stream("s") == 9
