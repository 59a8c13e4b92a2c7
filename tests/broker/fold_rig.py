"""The runner of the batches of one stream whose queries are folded, over a real Spark and Kafka."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from asc.plan.compiler import compile_plan
from asc.plan.plan import Plan, Query
from asc.predicate import normalise
from broker.config.config import Config, parse_config
from broker.kafka.cluster import KafkaCluster
from broker.matching.tally import Tally
from broker.monitoring.stream_monitor import StreamMonitor
from broker.operators.fold_destination import FoldDestination
from broker.operators.folder import Folder
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
    from typing_extensions import Self

    from broker.kafka.embedded import EmbeddedKafka

KAFKA_DDL = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, timestampType INT, "
    "headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
)
AT = datetime(2026, 6, 1, 12, tzinfo=timezone.utc)
"""The Kafka timestamp of all records."""


@dataclass
class FoldRig:
    """The runner of one stream, with all that it commits to."""

    config: Config
    cluster: KafkaCluster
    runner: BatchRunner
    folders: Mapping[str, Folder]
    parks: FoldParks
    commits: FoldCommits
    spark: SparkSession
    kafka: EmbeddedKafka
    offset: int = 0

    @classmethod
    def made(
        cls,
        spark: SparkSession,
        kafka: EmbeddedKafka,
        folder: Path,
        folders: Mapping[str, Folder],
        *,
        schema: str,
        limits: Mapping[str, int],
        time_zone: str = "UTC",
    ) -> Self:
        """The runner of a stream with a schema. ``time_zone``: that of the Spark session."""
        source = f"in-{uuid.uuid4().hex}"
        config = parse_config(
            {
                "kafka": {"bootstrap_servers": kafka.bootstrap_servers},
                "spark": {"checkpoint_dir": str(folder / "checkpoint"), "time_zone": time_zone},
                "limits": dict(limits),
                "streams": {"folded": {"topic": source, "format": "json", "schema": schema}},
            }
        )
        cluster = KafkaCluster(kafka.bootstrap_servers, config.kafka)
        cluster.ensure_topics({config.kafka.registry_topic, source})
        stream = config.streams["folded"]
        running = RunningPlan("folded", BatchBindings(folder / "bindings", folder / "spark"), {0: 0})
        parks = FoldParks()
        topic_id = SourceTopicId(source, cluster)
        commits = FoldCommits(*("folded", config, folders, parks), topic_id=topic_id, check_folder=running.check_folder)
        runner = BatchRunner(
            *("folded", config),
            spark=spark,
            cluster=cluster,
            decoder=stream.decoder(stream.fields(), time_zone),
            monitor=StreamMonitor("folded", config.monitor, running),
            phases=BatchPhases(),
            event_time=EventTime(folder),
            folds=commits,
            check_folder=running.check_folder,
        )
        return cls(config, cluster, runner, folders, parks, commits, spark, kafka)

    def close(self) -> None:
        self.runner.close()
        self.cluster.close()

    def topic(self) -> str:
        return f"out-{uuid.uuid4().hex}"

    def plan(self, *queries: tuple[str, str, FoldDestination | None], version: int = 1) -> Plan:
        fields = self.config.streams["folded"].fields()
        own = [
            Query(
                *(name, normalise(where, fields, time_zone=self.config.spark.time_zone)),
                *(self.topic() if fold is None else fold.topic, fold and fold.in_plan()),
            )
            for name, where, fold in queries
        ]
        return replace(compile_plan(own), version=version)

    def run(self, plan: Plan, *records: Mapping[str, Any] | bytes, tasks: int = 2, again: int = 0) -> Tally | None:
        """Run a batch of records over two source partitions; ``again``: the times that it is run anew first."""
        first = self.offset
        self.offset += len(records)
        ends = {0: self.offset, 1: self.offset}
        batch = BoundBatch(plan, is_replay=False, first={0: first, 1: first}, end=ends)
        frame = self.records(records, tasks)
        for _ in range(again):
            with pytest.raises(Exception):  # noqa: B017, PT011
                self.runner.run(7, frame, batch, threading.Event())
        return self.runner.run(7, frame, batch, threading.Event())

    def records(self, records: Sequence[Mapping[str, Any] | bytes], tasks: int) -> DataFrame:
        values = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in records]
        rows = [(None, value, "in", place % 2, place, AT, 0, None) for place, value in enumerate(values)]
        return self.spark.createDataFrame(self.spark.sparkContext.parallelize(rows, tasks), KAFKA_DDL)

    def values(self, topic: str) -> list[Any]:
        from kafka import KafkaConsumer, TopicPartition

        consumer: KafkaConsumer = KafkaConsumer(bootstrap_servers=self.kafka.bootstrap_servers)
        try:
            place = TopicPartition(topic, 0)
            consumer.assign([place])
            consumer.seek_to_beginning(place)
            end, found = consumer.end_offsets([place])[place], []
            while consumer.position(place) < end:
                found += [json.loads(one.value)["n"] for one in consumer.poll(500).get(place, ())]
            return sorted(found)
        finally:
            consumer.close()
