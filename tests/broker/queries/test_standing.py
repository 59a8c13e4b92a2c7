"""A start from a snapshot and the records after it comes to what a start from all records comes to."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from asc.plan.plan import Plan
from broker.queries.registrar import Registrar

if TYPE_CHECKING:
    from conftest import Resting
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def meaning(plan: Plan) -> dict[str, list[str]]:
    """What a plan holds of each query, whatever its blocks."""
    return {
        query_id: sorted(
            str(sorted((attribute.sql, str(constraint)) for attribute, constraint in plan.constraints(block, bit)))
            for block, bits in plan.conjuncts_of(query_id)
            for bit in bits
        )
        for query_id in plan.query_ids.to_pylist()
    }


def started(resting: Resting, spark: SparkSession) -> tuple[Registrar, dict[str, Plan]]:
    from broker.stream.stream import Stream

    streams = {name: Stream(name, resting.config, spark, resting.cluster) for name in resting.config.streams}
    registrar = Registrar(resting.config, resting.cluster, resting.registry, streams)
    registrar.load()
    return registrar, {name: stream.running.plan for name, stream in streams.items()}


def test_both_starts_come_to_the_same(
    resting: Resting, spark: SparkSession, stored: Registrar, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        resumed, plans = started(resting, spark)
    assert "8 changes after it" in caplog.text
    caplog.clear()
    for path in (resting.config.spark.checkpoint_dir / ".snapshot").iterdir():
        path.unlink()
    with caplog.at_level(logging.INFO):
        whole, others = started(resting, spark)
    assert "no snapshot of the queries" in caplog.text
    assert dict(resumed.standing.queries) == dict(whole.standing.queries) == dict(stored.standing.queries)
    assert resumed.standing.version == whole.standing.version == stored.standing.version
    assert dict(resumed.standing.unserved) == dict(whole.standing.unserved)
    for name, plan in plans.items():
        assert plan.version == others[name].version
        assert meaning(plan) == meaning(others[name])
        assert plan.topics.to_pylist() == others[name].topics.to_pylist()
