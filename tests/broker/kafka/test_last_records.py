"""The last records of a topic: of all its partitions, and no more bytes than wanted."""

from __future__ import annotations

import contextlib
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from kafka import KafkaConsumer

from broker.config.sections import KafkaConfig
from broker.errors import KafkaError
from broker.kafka.client import KafkaClient
from broker.kafka.cluster import KafkaCluster
from broker.kafka.last_records import last_records

if TYPE_CHECKING:
    from conftest import OwnNode

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def cluster(kafka: EmbeddedKafka) -> Iterator[KafkaCluster]:
    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig(partitions=3))
    yield cluster
    cluster.close()


@pytest.fixture(scope="module")
def topic(cluster: KafkaCluster) -> str:
    """Forty records in partition 0, four in 1, none in 2."""
    name = f"last-{uuid.uuid4().hex}"
    cluster.create_topics([name])
    producer = cluster.client.producer()
    for number in range(44):
        producer.send(name, b"v%02d" % number, partition=0 if number < 40 else 1)
    producer.flush()
    producer.close()
    return name


def found(cluster: KafkaCluster, topic: str, last: int, most_bytes: int = 1_000_000) -> list[tuple[int, int]]:
    records = last_records(cluster.client, topic, last, most_bytes=most_bytes, within_s=20)
    return [(record.partition, record.offset) for record in records]


@pytest.mark.parametrize(("last", "shares"), [(1, {0: 1}), (6, {0: 3, 1: 3}), (20, {0: 16, 1: 4}), (99, {0: 40, 1: 4})])
def test_they_come_from_all_partitions_as_evenly_as_may_be(
    cluster: KafkaCluster, topic: str, last: int, shares: dict[int, int]
) -> None:
    places = found(cluster, topic, last)
    assert Counter(partition for partition, _ in places) == shares
    # The last ones of each.
    assert {max(offset for p, offset in places if p == partition) for partition in shares} <= {39, 3}


def test_no_more_bytes_are_read_than_wanted(cluster: KafkaCluster, topic: str) -> None:
    assert Counter(partition for partition, _ in found(cluster, topic, 44, most_bytes=36)) == {0: 6, 1: 4}


def test_the_bytes_of_headers_count(cluster: KafkaCluster) -> None:
    name = f"headed-{uuid.uuid4().hex}"
    cluster.create_topics([name])
    producer = cluster.client.producer()
    for _ in range(10):
        producer.send(name, b"v", key=b"k", headers=[("é", b"x" * 94), ("m", b"y")], partition=0)
    producer.flush()
    producer.close()
    assert len(found(cluster, name, 10, most_bytes=399)) == 3
    assert len(found(cluster, name, 10, most_bytes=1_000)) == 10


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("after", ["nothing", "__init__", "partitions_for_topic", "end_offsets", "assign"])
def test_a_kafka_that_falls_silent_is_waited_for_no_longer_than_said(
    own_node: OwnNode, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    """Whatever waits longer than said waits for ten minutes here, twice the timeout of a test."""
    topic = f"silent-{uuid.uuid4().hex}"
    with contextlib.closing(KafkaCluster(own_node.bootstrap_servers, KafkaConfig())) as cluster:
        cluster.create_topics([topic])
    client = KafkaClient(own_node.bootstrap_servers, {}, 600)
    for name in ("request_timeout_ms", "socket_connection_setup_timeout_ms", "socket_connection_setup_timeout_max_ms"):
        monkeypatch.setitem(KafkaConsumer.DEFAULT_CONFIG, name, 600_000)

    def then_silent(call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any, **more: Any) -> Any:
            answer = call(*given, **more)
            own_node.stop()
            return answer

        return called

    if after != "nothing":
        monkeypatch.setattr(KafkaConsumer, after, then_silent(getattr(KafkaConsumer, after)))
    else:
        own_node.stop()
    try:
        with contextlib.suppress(KafkaError):
            assert last_records(client, topic, 10, most_bytes=1_000_000, within_s=1.5) == []
    finally:
        own_node.resume()


def test_a_topic_without_records_has_none(cluster: KafkaCluster) -> None:
    name = f"empty-{uuid.uuid4().hex}"
    cluster.create_topics([name])
    assert found(cluster, name, 10) == []
    assert found(cluster, f"missing-{uuid.uuid4().hex}", 10) == []
