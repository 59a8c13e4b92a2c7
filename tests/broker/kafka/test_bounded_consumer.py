"""A consumer with one deadline: its offsets, its partitions one at a time, and its end."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

from broker.config.sections import KafkaConfig
from broker.kafka.bounded_consumer import bounded_consumer
from broker.kafka.cluster import KafkaCluster

if TYPE_CHECKING:
    from broker.kafka.embedded import EmbeddedKafka

pytestmark = pytest.mark.kafka


def test_offsets_are_by_partition_and_reading_is_of_one_at_a_time(kafka: EmbeddedKafka) -> None:
    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig(partitions=2))
    topic = f"bounded-{uuid.uuid4().hex}"
    cluster.create_topics([topic])
    producer = cluster.client.producer()
    for number in range(5):
        producer.send(topic, b"%d" % number, partition=number % 2)
    producer.flush()
    producer.close()
    with bounded_consumer(cluster.client, topic, 20) as bounded:
        assert [(each.partition, end) for each, end in bounded.end.items()] == [(0, 3), (1, 2)]
        assert set(bounded.first.values()) == {0}
        for partition, values in zip(bounded.end, ([b"2", b"4"], [b"3"]), strict=True):
            bounded.seek(partition, 1)
            records = []
            while bounded.position(partition) < bounded.end[partition]:
                assert not bounded.is_over
                records += bounded.poll(partition)
            assert [record.value for record in records] == values
    assert bounded.consumer._closed
    with bounded_consumer(cluster.client, f"absent-{topic}", 20) as bounded:
        assert bounded.end == bounded.first == {}
    cluster.close()
