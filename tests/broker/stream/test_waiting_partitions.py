"""Partitions with records that a batch has none of: they hold event time back."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asc.operators.event_time import EventTimeProgress
from asc.plan.compiler import compile_plan
from broker.config.config import Config, parse_config
from broker.config.sections import KafkaConfig
from broker.kafka.cluster import KafkaCluster
from broker.plans.running_plan import BoundBatch
from broker.stream.waiting_partitions import WaitingPartitions

if TYPE_CHECKING:
    from conftest import Site

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = pytest.mark.kafka

BEGIN = datetime(2026, 1, 1, tzinfo=timezone.utc)


def test_a_partition_with_records_of_which_a_batch_has_none_waits(kafka: EmbeddedKafka) -> None:
    topic = f"waiting-{uuid.uuid4().hex}"
    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig(partitions=3))
    cluster.create_topics([topic])
    producer = cluster.client.producer()
    for partition in (0, 0, 1):
        producer.send(topic, b"x", partition=partition)
    producer.flush()
    producer.close()

    asked = WaitingPartitions(cluster.client, topic)

    def waiting(first: dict[int, int], end: dict[int, int]) -> frozenset[int]:
        return asked.of(BoundBatch(compile_plan(()), is_replay=False, first=first, end=end))

    try:
        assert waiting({0: 0, 1: 0, 2: 0}, {0: 1, 1: 0, 2: 0}) == {1}
        assert waiting({0: 1, 1: 0, 2: 0}, {0: 1, 1: 1, 2: 0}) == {0}
        # Neither one that has more than the batch took, nor one without records.
        assert waiting({0: 0, 1: 0, 2: 0}, {0: 1, 1: 1, 2: 0}) == frozenset()
        assert waiting({0: 2, 1: 1, 2: 0}, {0: 2, 1: 1, 2: 0}) == frozenset()
        # Nor one whose records are not committed yet: the stream does not read them.
        open_ended = cluster.client.producer(transactional_id=f"open-{topic}")
        open_ended.init_transactions()
        open_ended.begin_transaction()
        open_ended.send(topic, b"x", partition=2).get(timeout=60)
        assert waiting({0: 0, 1: 0, 2: 0}, {0: 1, 1: 1, 2: 0}) == frozenset()
        open_ended.commit_transaction()
        open_ended.close()
        # Kafka marks what was committed a little later.
        deadline = time.monotonic() + 60
        while waiting({0: 0, 1: 0, 2: 0}, {0: 1, 1: 1, 2: 0}) != {2}:
            assert time.monotonic() < deadline
    finally:
        asked.close()
        cluster.close()


def test_where_kafka_does_not_say_a_partition_without_a_record_waits_and_none_of_its_records_is_late() -> None:
    cluster = KafkaCluster("127.0.0.1:9", KafkaConfig(timeout_s=1))
    asked = WaitingPartitions(cluster.client, "t")

    def batch(first: dict[int, int], end: dict[int, int]) -> BoundBatch:
        return BoundBatch(compile_plan(()), is_replay=False, first=first, end=end)

    unsure = batch({0: 5, 1: 5}, {0: 9, 1: 5})
    waiting = asked.of(unsure)
    assert waiting == {1}
    # Of each partition the batch has records: nobody is asked.
    assert asked.of(batch({0: 5, 1: 5}, {0: 9, 1: 6})) == frozenset()
    # Read at 12:00; then partition 0 at 12:30, and partition 1 at 12:05.
    clock = EventTimeProgress().after({0: 1200, 1: 1200}, read={0, 1})
    clock = clock.after({0: 1230}, read=unsure.partitions, waiting=waiting)
    assert clock.mark_us == 1200
    clock = clock.after({1: 1205}, read={1})
    assert clock.mark_us == 1205
    assert clock.after({0: 1231, 1: 1231}, read={0, 1}).mark_us == 1231
    # One that was never read holds event time where it was.
    assert EventTimeProgress().after({0: 1230}, read={0}, waiting=waiting).mark_us is None


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_file_in_order_of_time_loses_no_record_in_two_partitions(
    site_of: Callable[[Config], Site], kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    own = uuid.uuid4().hex[:12]
    schema = "icao24 STRING, ts TIMESTAMP, longitude DOUBLE, latitude DOUBLE"
    stream = {"topic": f"source-{own}", "format": "json", "schema": schema, "lateness_s": 5}
    site = site_of(
        parse_config(
            {
                "kafka": {
                    "bootstrap_servers": kafka.bootstrap_servers,
                    "registry_topic": f"registry-{own}",
                    "partitions": 2,
                },
                "api": {"port": 0},
                "spark": {"checkpoint_dir": str(tmp_path), "master": "local[2]", "warm_up_s": 0},
                "streams": {f"flown-{own}": stream},
            }
        )
    )
    operator = {"name": "near", "key": "icao24", "time": "ts", "distance_m": 500, "window_s": 30, "every_s": 10}
    site.register("close", "true", f"close-{own}", stream="json", operator=operator)
    assert site.daemon is not None
    producer = KafkaCluster(kafka.bootstrap_servers, site.config.kafka).client.producer()
    name = site.stream("json")
    # One partition after the other, as far as Spark can tell: a batch of the first one alone is planned in between.
    for partition in (0, 1):
        for second in range(partition, 3_000, 2):
            at = (BEGIN + timedelta(seconds=second)).isoformat()
            row = {"icao24": f"{second % 7}", "ts": at, "longitude": 7.5, "latitude": 46.5}
            producer.send(stream["topic"], json.dumps(row).encode(), partition=partition)
        producer.flush()
    producer.close()

    def status() -> dict[str, object]:
        found: dict[str, object] = site.client.get("/v1/plan").json()["streams"][name]["operators"]["near"]
        return found

    site.drain("json")
    deadline = time.monotonic() + 240
    while (found := status())["lag_records"] != 0:
        assert time.monotonic() < deadline, found
        time.sleep(0.2)
    assert found["excluded"] == {}
