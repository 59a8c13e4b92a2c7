"""The id of a source topic is asked once, and again after a failure or where Kafka had none."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator

import pytest

from broker.config.sections import KafkaConfig
from broker.errors import KafkaError
from broker.kafka.cluster import KafkaCluster
from broker.kafka.embedded import EmbeddedKafka
from broker.stream.source_topic_id import SourceTopicId


@pytest.fixture
def cluster(kafka: EmbeddedKafka) -> Iterator[KafkaCluster]:
    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig())
    yield cluster
    cluster.close()


def test_it_is_cached_until_it_is_forgotten_or_unknown(cluster: KafkaCluster) -> None:
    topic = f"in-{uuid.uuid4().hex}"
    cluster.ensure_topics([topic])
    source = SourceTopicId(topic, cluster)
    before = source.read()
    assert before == cluster.topic_id(topic)
    admin = cluster.client.admin()
    admin.delete_topics([topic])
    admin.close()
    deadline = time.monotonic() + 120
    while topic in cluster.topics():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert source.read() == before
    source.forget()
    assert source.read() == ""
    cluster.ensure_topics([topic])
    assert source.read() == cluster.topic_id(topic) != before


def test_an_error_of_kafka_is_the_callers() -> None:
    with pytest.raises(KafkaError):
        SourceTopicId("in", KafkaCluster("127.0.0.1:9", KafkaConfig(timeout_s=0.1))).read()
