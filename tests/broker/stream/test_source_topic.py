"""A source topic that was made again, or lacks the records that are to be read, and what is said to be done."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from broker.config.sections import KafkaConfig
from broker.config.streams import StreamConfig
from broker.kafka.cluster import KafkaCluster
from broker.stream.source_topic import SourceTopic

if TYPE_CHECKING:
    from broker.kafka.embedded import EmbeddedKafka

pytestmark = pytest.mark.kafka

LOST = """Some data may have been lost because they are not available in Kafka any more;
either the data was aged out by Kafka or the topic may have been deleted before all the data in the
topic was processed.
If you don't want your streaming query to fail on such cases, set the source option failOnDataLoss to false.
Reason: """
UNREAD = """Could not read records in offset [3, 8) for topic partition s.a-0
with consumer group spark-kafka-source-1-executor."""
IN_A_TASK = f"""An error occurred while calling o1.save.
: org.apache.spark.sql.kafka010.KafkaIllegalStateException: {LOST}{UNREAD}
\tat org.apache.spark.sql.kafka010.KafkaExceptions$.couldNotReadOffsetRange(KafkaExceptions.scala:160)
Caused by: org.apache.kafka.clients.consumer.OffsetOutOfRangeException: Fetch position is out of range for s.a-0
[STREAM_FAILED] Query [id = 1] terminated with exception: [FOREACH_BATCH_USER_FUNCTION_ERROR] Reason: An exception"""
IN_THE_DRIVER = f"[STREAM_FAILED] Query [id = 1] terminated with exception: {LOST}"


@pytest.fixture
def cluster(kafka: EmbeddedKafka) -> Iterator[KafkaCluster]:
    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig())
    yield cluster
    cluster.close()


@pytest.fixture
def stream(cluster: KafkaCluster) -> StreamConfig:
    topic = f"s.{uuid.uuid4().hex}"
    cluster.ensure_topics([topic])
    return StreamConfig.model_validate({"topic": topic, "format": "json", "schema": "n INT"})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (IN_A_TASK, "Could not read records in offset [3, 8) for topic partition s.a-0"),
        (
            f"{IN_THE_DRIVER}Partition s.a-0 offset was changed from 3 to 0. SQLSTATE: XXKST\n=== Streaming Query ===",
            "Partition s.a-0 offset was changed from 3 to 0",
        ),
        (
            f"{IN_THE_DRIVER}Partitions Set(s.a-1) have been deleted.\nKafka option 'kafka.group.id' has been set",
            "Partitions Set(s.a-1) have been deleted",
        ),
        (
            f"{IN_THE_DRIVER}Starting offset for s.a-0 was 3 but consumer reset to 5.",
            "Starting offset for s.a-0 was 3 but consumer reset to 5",
        ),
    ],
)
def test_lost_records_have_a_remedy_of_ours(
    text: str, reason: str, cluster: KafkaCluster, stream: StreamConfig, tmp_path: Path
) -> None:
    assert SourceTopic(stream, tmp_path, cluster).lost(text) == (
        f"source topic '{stream.topic}': records expired unread, or the topic was made again ({reason}): stop the "
        f"daemon and remove {tmp_path}, and the stream begins at its starting_offsets, 'latest'"
    )


def test_other_failures_are_none_of_it(cluster: KafkaCluster, stream: StreamConfig, tmp_path: Path) -> None:
    text = "[STREAM_FAILED] Query [id = 1] terminated with exception: Set(s.a-1) are gone. Kafka option. Reason: none"
    assert SourceTopic(stream, tmp_path, cluster).lost(text) is None


def test_a_topic_that_was_made_again_is_known_by_its_id(
    cluster: KafkaCluster, stream: StreamConfig, tmp_path: Path
) -> None:
    source = SourceTopic(stream, tmp_path, cluster)
    assert source.fault() is None
    before = cluster.topic_id(stream.topic)
    admin = cluster.client.admin()
    admin.delete_topics([stream.topic])
    admin.close()
    deadline = time.monotonic() + 120
    while stream.topic in cluster.topics():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    # Gone, it is not another one yet.
    assert (cluster.topic_id(stream.topic), source.fault()) == (None, None)
    cluster.ensure_topics([stream.topic])
    now = cluster.topic_id(stream.topic)
    assert now not in (None, before)
    for one in (source, SourceTopic(stream, tmp_path, cluster)):
        fault = one.fault()
        assert fault == (
            f"was deleted and made again (its id was {before}, and is {now}): stop the daemon and remove {tmp_path}, "
            "and the stream begins at its starting_offsets, 'latest'"
        )
        assert one.lost(IN_A_TASK) == one.lost("whatever") == f"source topic '{stream.topic}': {fault}"
    # A folder that was removed, as it says, begins with the topic that is there.
    assert SourceTopic(stream, tmp_path / "anew", cluster).fault() is None


def test_where_kafka_does_not_answer_spark_has_the_word(stream: StreamConfig, tmp_path: Path) -> None:
    away = KafkaCluster("127.0.0.1:9", KafkaConfig(timeout_s=0.1))
    assert "records expired unread" in str(SourceTopic(stream, tmp_path, away).lost(IN_A_TASK))
