"""The newest records of a topic: without a gap, as far back as wanted, and no more bytes than wanted."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from broker.config.sections import KafkaConfig
from broker.kafka.cluster import KafkaCluster
from broker.kafka.last_records import record_bytes
from broker.kafka.newest_records import newest_records

if TYPE_CHECKING:
    from broker.kafka.embedded import EmbeddedKafka

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def cluster(kafka: EmbeddedKafka) -> Iterator[KafkaCluster]:
    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig(partitions=3))
    yield cluster
    cluster.close()


def topic_of(cluster: KafkaCluster, *partitions: Sequence[bytes]) -> str:
    name = f"newest-{uuid.uuid4().hex}"
    cluster.create_topics([name])
    producer = cluster.client.producer()
    for partition, values in enumerate(partitions):
        for value in values:
            producer.send(name, value, partition=partition)
    producer.flush()
    producer.close()
    return name


def newest(cluster: KafkaCluster, topic: str, most_bytes: int, wanted: int = 1 << 60) -> dict[int, list[Any]]:
    def are_enough(records: Sequence[Any]) -> bool:
        return len(records) >= wanted

    found: dict[int, list[Any]] = {}
    for record in newest_records(cluster.client, topic, most_bytes=most_bytes, within_s=20, are_enough=are_enough):
        found.setdefault(record.partition, []).append(record)
    return found


def test_the_newest_of_each_partition_are_read_without_a_gap(cluster: KafkaCluster) -> None:
    topic = topic_of(cluster, [b"v%03d" % number for number in range(500)], [b"few"] * 3)
    found = newest(cluster, topic, 1_000_000)
    assert [record.offset for record in found[0]] == list(range(500))
    assert [record.offset for record in found[1]] == [0, 1, 2]
    few = newest(cluster, topic, 1_000_000, wanted=4)
    offsets = [record.offset for record in few[0]]
    assert offsets == list(range(500 - len(offsets), 500))
    assert len(offsets) < 50


@pytest.mark.parametrize("most_bytes", [10_000, 100_000, 300_000])
def test_no_more_bytes_than_wanted_are_read_whatever_their_sizes(cluster: KafkaCluster, most_bytes: int) -> None:
    """Small records behind large ones: what small ones let expect of the next piece is wrong."""
    values = [b"x" * (20_000 if number % 97 == 0 else 100) for number in range(1_500)]
    topic = topic_of(cluster, values)
    (found,) = newest(cluster, topic, most_bytes).values()
    assert sum(map(record_bytes, found)) <= most_bytes
    assert [record.offset for record in found] == list(range(1_500 - len(found), 1_500))
    assert len(found) > 20


def test_a_record_larger_than_all_that_may_be_read_ends_it(cluster: KafkaCluster) -> None:
    topic = topic_of(cluster, [b"before", b"x" * 5_000], [b"small"] * 20)
    assert {partition: len(records) for partition, records in newest(cluster, topic, 8_000).items()} == {1: 20}


def test_a_topic_without_records_has_none(cluster: KafkaCluster) -> None:
    assert newest(cluster, topic_of(cluster), 1_000) == {}
    assert newest(cluster, f"missing-{uuid.uuid4().hex}", 1_000) == {}
