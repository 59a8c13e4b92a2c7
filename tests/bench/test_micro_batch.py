"""The smallest jobs of Spark write what they read (their latency is measured in the benchmark)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bench.micro_batch import floor

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from broker.kafka.embedded import EmbeddedKafka


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.kafka
def test_a_batch_is_written_as_the_daemon_writes_it(spark: SparkSession, kafka: EmbeddedKafka) -> None:
    found = floor(spark, kafka, "foreachBatch", rate=20, seconds=6.0, name="small")
    assert (found["variant"], found["rate"]) == ("foreachBatch", 20)
    assert 0 < found["p50_s"] <= found["worst_s"]
