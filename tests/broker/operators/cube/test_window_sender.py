"""Windows in Kafka: their records, their topic, and what is said of a Kafka that does not take them."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from asc.operators.cube.window_rows import WindowRow
from broker.config.sections import KafkaConfig
from broker.errors import KafkaError, TooLargeWindowError
from broker.kafka.cluster import KafkaCluster
from broker.kafka.embedded import EmbeddedKafka
from broker.operators.cube.window_sender import WindowSender
from broker.operators.headers import LastHop, last_hop

pytestmark = pytest.mark.kafka

ROWS = [
    WindowRow("window", b'{"group":{"a":"\xc3\xbc"}}', b'{"n":1}', "q/0@e/a#0"),
    WindowRow("revision", b"k", b'{"n":2}', "q/0@e/a#1"),
    WindowRow("tombstone", b"k", None, "q/0@f/a#0"),
]


@pytest.fixture
def cluster(kafka: EmbeddedKafka) -> Iterator[KafkaCluster]:
    own = KafkaCluster(kafka.bootstrap_servers, KafkaConfig(partitions=3))
    yield own
    own.close()


def arrived(cluster: KafkaCluster, topic: str) -> list[Any]:
    with cluster.client.reading([topic], from_beginning=True, to_end=True) as messages:
        return list(messages)


def written(sender: WindowSender, topic: str, rows: list[WindowRow]) -> None:
    sender.send(topic, "q", rows)
    sender.flush(topic)


def test_rows_arrive_in_order_in_a_compacted_topic(cluster: KafkaCluster) -> None:
    topic, sender = f"windows-{uuid.uuid4().hex}", WindowSender(cluster)
    assert sender.send(topic, "größe", []) == {}
    assert topic not in cluster.topics()
    assert sender.send(topic, "größe", ROWS) == {"window": 1, "revision": 1, "tombstone": 1}
    sender.flush(topic)
    found = arrived(cluster, topic)
    assert [(one.key, one.value) for one in found] == [(row.key, row.value) for row in ROWS]
    assert [one.headers for one in found] == [
        [("asc-query", "größe".encode()), ("asc-event", row.identity.encode())] for row in ROWS
    ]
    assert [last_hop(one.headers) for one in found] == [
        LastHop(queries=("größe",), identity=row.identity) for row in ROWS
    ]
    assert cluster.topic_settings(topic)["cleanup.policy"] == "compact"
    sender.close()
    sender.close()
    assert sender.send(topic, "again", ROWS[:1]) == {"window": 1}
    sender.flush(topic)
    assert len(arrived(cluster, topic)) == 4
    sender.close()


def test_a_row_that_its_topic_does_not_take_is_told_in_one_line_and_others_go_on(cluster: KafkaCluster) -> None:
    topic, sender = f"windows-{uuid.uuid4().hex}", WindowSender(cluster)
    cluster.ensure_topics([topic], {"cleanup.policy": "compact", "max.message.bytes": "2000"})
    large = WindowRow("window", b"k", os.urandom(16_000), "q/0@e/a#0")
    for row in (large, WindowRow("window", b"k", bytes(cluster.request_bytes + 1), "q/0@e/a#0")):
        with pytest.raises(TooLargeWindowError, match="takes no row so large: raise its max") as refused:
            written(sender, topic, [ROWS[0], row])
        assert "\n" not in str(refused.value)
    written(sender, topic, ROWS * 40)
    assert [one.key for one in arrived(cluster, topic)][-3:] == [row.key for row in ROWS]
    sender.close()


def test_a_kafka_that_does_not_answer_is_told() -> None:
    cluster = KafkaCluster("127.0.0.1:1", KafkaConfig(timeout_s=1))
    sender = WindowSender(cluster)
    with pytest.raises(KafkaError, match="does not answer"):
        sender.send("windows", "q", ROWS)
    sender.close()
    cluster.close()
