"""Dead letters become the records that they were."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from broker.config.sections import KafkaConfig
from broker.kafka.cluster import KafkaCluster
from broker.kafka.embedded import EmbeddedKafka
from broker.kafka.last_records import last_records
from broker.stream.replay import original, replay

LETTER = [("a", b"1"), ("asc-error", b"value is empty"), ("asc-source", b"flights-1-17"), ("asc-timestamp", b"5")]


@dataclass
class Message:
    key: bytes | None = b"k"
    value: bytes | None = b"v"
    headers: Any = field(default_factory=lambda: list(LETTER))


@pytest.mark.parametrize(("partitions", "wanted"), [(1, None), (2, 1), (9, 1)])
def test_a_record_goes_to_its_partition_while_that_is_there(partitions: int, wanted: int | None) -> None:
    assert original(Message(), partitions) == (b"k", b"v", [("a", b"1")], wanted)


def test_without_a_source_any_partition_will_do() -> None:
    found = original(Message(headers=[("a", b"1")]), 3)
    assert (found.headers, found.partition) == ([("a", b"1")], None)


@pytest.mark.kafka
def test_those_that_are_there_as_a_whole_are_sent(kafka: EmbeddedKafka) -> None:
    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig(bootstrap_servers=kafka.bootstrap_servers))
    letters, source = (f"{name}-{uuid.uuid4().hex[:8]}" for name in ("letters", "source"))
    cluster.ensure_topics({letters, source})
    excess = [("asc-error", b"record for topic late takes 2000000 bytes"), ("asc-source", b"s-0-7")]
    with_producer(
        cluster,
        lambda producer: [
            producer.send(letters, b"v0", key=b"k", headers=LETTER),
            producer.send(letters, None, key=b"k", headers=excess),
            producer.send(letters, None, key=b"k", headers=LETTER),
        ],
    )
    assert replay(cluster.client, letters, source, [(0, 0), (0, 1), (0, 2), (0, 99)]) == 2
    found = last_records(cluster.client, source, 10, most_bytes=1000, within_s=10)
    assert [(each.key, each.value, list(map(tuple, each.headers))) for each in found] == [
        (b"k", b"v0", [("a", b"1")]),
        (b"k", None, [("a", b"1")]),
    ]
    cluster.close()


def with_producer(cluster: KafkaCluster, send: Callable[[Any], list[Any]]) -> None:
    producer = cluster.client.producer()
    for sent in send(producer):
        sent.get(timeout=30)
    producer.close()
