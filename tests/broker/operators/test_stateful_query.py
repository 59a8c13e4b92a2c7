"""A second query that fails is started again, says why meanwhile, and goes on where it was."""

from __future__ import annotations

import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient

from broker.operators.feed_keys import FeedKeys
from broker.operators.feed_sink import FeedSink
from broker.operators.stateful_query import FeedReader, StatefulQuery

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


class Failing(FeedReader):
    """Hands on what it reads; each start fails that there is a reason for."""

    name = "handed"
    messages_max = 100

    def __init__(self, reasons: list[str]) -> None:
        self.reasons = reasons
        self.found: list[bytes] = []
        self.session: SparkSession | None = None
        self.warmed = 0

    def warm_up(self, spark: SparkSession) -> None:
        self.warmed += 1
        if self.reasons:
            raise RuntimeError(self.reasons[0])

    def writer(self, feed: DataFrame, tallies: Any) -> DataStreamWriter:
        if self.reasons:
            raise RuntimeError(self.reasons.pop(0))
        self.session = feed.sparkSession

        def write(batch: DataFrame, _: int) -> None:
            self.found += [bytes(row["message"]) for row in batch.orderBy("offset").collect()]

        return feed.writeStream.foreachBatch(write)


def awaited(holds: Any) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_failure_is_told_and_mended(
    spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    topic = f"feed-{uuid.uuid4().hex[:12]}"
    admin = KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers)
    admin.create_topics({topic: {"num_partitions": 1, "replication_factor": 1}})
    admin.close()
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    prepared: list[int] = []

    def query(reader: Failing) -> StatefulQuery:
        source = {"kafka.bootstrap.servers": kafka.bootstrap_servers}
        return StatefulQuery(
            *("s", spark, topic, tmp_path, reader),
            sink=FeedSink("s", {}, request_bytes=1, topics=frozenset, limits_of=lambda names: {}),
            keys=FeedKeys({"events", "near", "handed"}),
            summed_figures=(),
            source=source,
            prepare=lambda: prepared.append(len(prepared)),
        )

    def publish(text: bytes, key: bytes | None = None) -> None:
        producer.send(topic, text, key=key, partition=0)
        producer.flush()

    publish(b"one")
    reader = Failing(["no room"])
    running = query(reader)
    # What it never ran is not warmed up, and what fails then is told.
    running.warm_up()
    assert reader.warmed == 0
    running.warm_up(is_rehearsal=True)
    assert reader.warmed == 1
    assert "stream 's': the first batch of handed will take longer: no room" in caplog.text
    running.start()
    # Nothing runs before there are queries of its kind.
    assert not running.is_used
    running.begin()
    awaited(lambda: running.failures == 1)
    assert running.problem is not None
    assert running.problem.startswith("the reader of handed stopped and is started again in 1 s: no room")
    awaited(lambda: reader.found == [b"one"])
    awaited(lambda: running.problem is None and running.done == {0: 1})
    assert prepared == [0, 1]
    assert reader.session is not None
    for one in reader.session.streams.active:
        one.stop()
    awaited(lambda: running.failures == 2)
    running.stop()
    assert "the reader of handed of stream 's': was stopped from outside: see" in caplog.text
    publish(b"two")
    # Where it has begun before, it begins at the start, after what is done.
    again = Failing([])
    running = query(again)
    running.warm_up()
    assert again.warmed == 1
    running.start()
    awaited(lambda: again.found == [b"two"])
    # It reads watermarks, messages of form 1, which have no key, and those of a kind that nobody has; not others'.
    for key in (b"handed", b"events", b"time", b"near", b"unknown", None):
        publish(b"of " + (key or b"form 1"), key)
    awaited(lambda: len(again.found) == 5)
    assert again.found[1:] == [b"of handed", b"of time", b"of unknown", b"of form 1"]
    running.stop()
    running.stop()
    producer.close()
