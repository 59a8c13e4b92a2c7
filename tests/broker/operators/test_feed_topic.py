"""The topic of a feed: made with its parts, and refused with fewer."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from broker.config.config import parse_config
from broker.errors import TopicError
from broker.kafka.cluster import KafkaCluster
from broker.operators.feed_topic import make_feed, refused_feed

if TYPE_CHECKING:
    from broker.kafka.embedded import EmbeddedKafka

pytestmark = pytest.mark.kafka


@pytest.fixture
def cluster(kafka: EmbeddedKafka) -> Iterator[KafkaCluster]:
    stream = {"topic": "source", "format": "json", "schema": "n INT"}
    config = parse_config({"kafka": {"bootstrap_servers": kafka.bootstrap_servers}, "streams": {"s": stream}})
    cluster = KafkaCluster(kafka.bootstrap_servers, config.kafka)
    yield cluster
    cluster.close()


def test_a_feed_is_made_where_it_is_missing_and_kept_for_a_day(cluster: KafkaCluster) -> None:
    topic = f"asc.feed.new-{uuid.uuid4().hex[:8]}"
    assert refused_feed(cluster, topic) is None
    assert topic not in cluster.topics()
    for _ in range(2):
        make_feed(cluster, topic)
        assert refused_feed(cluster, topic) is None
    assert cluster.topic_settings(topic)["retention.ms"] == "86400000"


def test_a_feed_with_too_few_partitions_is_refused(cluster: KafkaCluster) -> None:
    topic = f"asc.feed.few-{uuid.uuid4().hex[:8]}"
    cluster.create_topics([topic])
    refused = refused_feed(cluster, topic)
    assert refused is not None
    assert "has 1 partitions, and 16 are needed" in str(refused)
    with pytest.raises(TopicError):
        make_feed(cluster, topic)
