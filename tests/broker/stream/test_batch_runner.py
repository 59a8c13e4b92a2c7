"""Batches of one plan after another, written to a real Kafka."""

from __future__ import annotations

import json
import threading
import uuid
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from asc.plan.compiler import compile_plan
from asc.plan.plan import Plan, Query
from asc.predicate import normalise
from broker.config.config import Config, parse_config
from broker.kafka.cluster import KafkaCluster
from broker.monitoring.stream_monitor import StreamMonitor
from broker.plans.binding import BatchBindings
from broker.plans.running_plan import BoundBatch, RunningPlan
from broker.stream.batch_runner import BatchRunner
from broker.stream.diagnosis.fold_parks import FoldParks
from broker.stream.fold_commits import FoldCommits
from broker.stream.metrics.event_time import EventTime
from broker.stream.metrics.phases import BatchPhases
from broker.stream.source_topic_id import SourceTopicId

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

KAFKA_DDL = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, timestampType INT, "
    "headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
)


def records(spark: SparkSession, *numbers: int) -> DataFrame:
    rows = [(None, json.dumps({"n": n}).encode(), "in", 0, n, None, 0, None) for n in numbers]
    return spark.createDataFrame(rows, KAFKA_DDL).coalesce(1)


def bound(plan: Plan) -> BoundBatch:
    return BoundBatch(plan, is_replay=False, first={0: 0}, end={0: 1})


@pytest.mark.parametrize("monitored", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_each_batch_goes_by_its_own_plan(
    spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path, monitored: bool
) -> None:
    config = parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers},
            "spark": {"checkpoint_dir": str(tmp_path / "checkpoint")},
            "monitor": {"enabled": monitored},
            "streams": {"s": {"topic": f"in-{uuid.uuid4().hex}", "format": "json", "schema": "n INT"}},
        }
    )
    first, second = (f"out-{uuid.uuid4().hex}" for _ in range(2))
    cluster = KafkaCluster(kafka.bootstrap_servers, config.kafka)
    runner = _runner(config, spark, cluster, tmp_path)
    low, high = _plan(config, {"low": ("n < 5", first)}), _plan(config, {"high": ("n >= 5", second)})
    try:
        cluster.ensure_topics({config.kafka.registry_topic})
        # Nothing of it is written, or counted.
        runner.warm_up(low, 0, threading.Event())
        assert cluster.offsets(config.dead_letter_topic("s"), end=True) == {0: 0}
        for plan, numbers, accepted in [(low, (1, 2, 7), 2), (low, (3,), 1), (high, (8, 4), 1), (low, (0,), 1)]:
            tally = runner.run(0, records(spark, *numbers), bound(plan), threading.Event())
            assert tally is not None
            assert (tally.tuples, tally.accepted) == (len(numbers), accepted)
        # What uses other p-attributes crosses into Python in another way.
        both = _plan(config, {"both": ("abs(n) = 6 AND n < 0", first)})
        assert runner.run(0, records(spark, -6, 6), bound(both), threading.Event()) is not None
        runner.forget_topics()
        runner.run(0, records(spark, 9), bound(high), threading.Event())
    finally:
        runner.close()
        cluster.close()
    assert _values(kafka, first) == [1, 2, 3, 0, -6]
    assert _values(kafka, second) == [8, 9]


def _runner(config: Config, spark: SparkSession, cluster: KafkaCluster, folder: Path) -> BatchRunner:
    stream = config.streams["s"]
    running = RunningPlan("s", BatchBindings(folder / "bindings", folder / "spark"), {0: 0})
    return BatchRunner(
        "s",
        config,
        spark=spark,
        cluster=cluster,
        decoder=stream.decoder(stream.fields(), "UTC"),
        monitor=StreamMonitor("s", config.monitor, running),
        phases=BatchPhases(),
        event_time=EventTime(folder),
        folds=FoldCommits(
            *("s", config, {}, FoldParks()),
            topic_id=SourceTopicId(stream.topic, cluster),
            check_folder=running.check_folder,
        ),
        check_folder=running.check_folder,
    )


def _plan(config: Config, queries: dict[str, tuple[str, str]]) -> Plan:
    fields = config.streams["s"].fields()
    return compile_plan([Query(name, normalise(where, fields), topic) for name, (where, topic) in queries.items()])


def _values(kafka: EmbeddedKafka, topic: str) -> list[int]:
    """Return the numbers of all records that a topic has now."""
    from kafka import KafkaConsumer, TopicPartition

    partition = TopicPartition(topic, 0)
    with closing(KafkaConsumer(bootstrap_servers=kafka.bootstrap_servers, auto_offset_reset="earliest")) as consumer:
        consumer.assign([partition])
        end = consumer.end_offsets([partition])[partition]
        records: list[Any] = []
        while consumer.position(partition) < end:
            records += consumer.poll(timeout_ms=500).get(partition, ())
    return [json.loads(record.value)["n"] for record in records]
