"""The work of expressions for Spark, at its limits and beyond."""

from __future__ import annotations

import pytest

from broker.config.sections import LimitsConfig
from broker.queries.query import RegisteredQuery
from broker.queries.spark_work import SparkWork

LIMITS = LimitsConfig(spark_attributes=3, stream_spark_nodes=100, stream_pattern_steps=50)
QUERY = RegisteredQuery("late", "flights", "n > 1", "out")


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (SparkWork(3, 100, 50), None),
        (SparkWork(4, 100, 50), "more than 3 expressions: reuse one that stands, or raise limits.spark_attributes"),
        (SparkWork(3, 101, 50), "more than 100 operators and operands: "),
        (SparkWork(3, 100, 51), "more than 50 steps of patterns for each character of a string: "),
    ],
)
def test_one_beyond_a_limit_is_refused(work: SparkWork, said: str | None) -> None:
    found = (work + SparkWork.of(())).excess(QUERY, LIMITS)
    assert (found is None) == (said is None)
    assert said is None or f"stream 'flights' would have Spark compute {said}" in str(found)
