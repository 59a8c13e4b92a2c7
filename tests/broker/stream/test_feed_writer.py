"""What a feed is told beside observations: in all of its partitions, before they come, once."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asc.operators.feed import EventQuery, Message, NearQuery, Settings, Watermarks, parse
from broker.config.config import Config, parse_config
from broker.errors import TopicError
from broker.kafka.cluster import KafkaCluster
from broker.matching.tally import Tally
from broker.operators.fed_destination import FedDestination, Track
from broker.operators.feeding import BUCKETS
from broker.stream.feed_writer import FeedWriter, make_feed, refused_feed

if TYPE_CHECKING:
    from broker.kafka.embedded import EmbeddedKafka

pytestmark = pytest.mark.kafka

TRACK = Track("k", "t")
QUERY = EventQuery("low", "lows", TRACK.name, ("enter",), 0, 5_000_000)


@pytest.fixture
def config(kafka: EmbeddedKafka) -> Config:
    own = {"topic": "source", "format": "json", "schema": "n INT", "crs": "planar", "lateness_s": 2.5}
    return parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers},
            "limits": {"stream_objects": 1_600},
            "streams": {f"s-{uuid.uuid4().hex[:8]}": own},
        }
    )


@pytest.fixture
def cluster(config: Config, kafka: EmbeddedKafka) -> Iterator[KafkaCluster]:
    cluster = KafkaCluster(kafka.bootstrap_servers, config.kafka)
    yield cluster
    cluster.close()


def messages(kafka: EmbeddedKafka, topic: str) -> list[Message]:
    """Those of one partition, once each has the same."""
    from kafka import KafkaConsumer, TopicPartition

    consumer = KafkaConsumer(bootstrap_servers=kafka.bootstrap_servers, auto_offset_reset="earliest")
    try:
        partitions = [TopicPartition(topic, partition) for partition in range(BUCKETS)]
        consumer.assign(partitions)
        ends = consumer.end_offsets(partitions)
        found: dict[TopicPartition, list[bytes]] = {partition: [] for partition in partitions}
        while any(consumer.position(partition) < end for partition, end in ends.items()):
            for partition, records in consumer.poll(timeout_ms=300).items():
                found[partition] += [record.value for record in records]
        assert all(texts == found[partitions[0]] for texts in found.values())
        return [parse(text) for text in found[partitions[0]]]
    finally:
        consumer.close()


def tally(newest: dict[tuple[str, int], int]) -> Tally:
    import numpy as np

    none = np.zeros(0, dtype=np.int64)
    return Tally(1, 1, 0, none, none, None, newest=newest)


def test_settings_and_watermarks_come_before_what_they_hold_for(
    config: Config, cluster: KafkaCluster, kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    (stream,) = config.streams
    topic = config.feed_topic(stream)
    assert refused_feed(cluster, topic) is None
    assert topic not in cluster.topics()
    make_feed(cluster, topic)
    assert refused_feed(cluster, topic) is None
    assert cluster.topic_settings(topic)["retention.ms"] == "86400000"
    writer = FeedWriter(stream, config, cluster, tmp_path)
    settings = Settings("source", True, 100, (QUERY,), near_objects_max=800)
    other = replace(QUERY, dwell_us=7)
    own = FedDestination(topic, TRACK, QUERY)
    try:
        writer.begin(0, [own])
        writer.passed(0, tally({(TRACK.name, 0): 9_000_000, (TRACK.name, 1): 8_000_000}), [TRACK])
        writer.begin(1, [own])
        writer.passed(1, None, [TRACK])
        writer.begin(2, [own])
        writer.passed(2, tally({(TRACK.name, 1): 8_500_000}), [TRACK])
        # Run again, a batch is told what it was told before; so is one after a failure.
        writer.forget()
        writer.begin(2, [own])
        writer.begin(3, [replace(own, query=other)])
        writer.passed(3, None, [TRACK])
    finally:
        writer.close()
    # The next daemon has none any more: that is said once.
    writer = FeedWriter(stream, config, cluster, tmp_path)
    try:
        assert writer.is_used
        writer.begin(4, [])
        writer.passed(4, None, [])
        assert not writer.is_used
    finally:
        writer.close()
    first, second = Watermarks({TRACK.name: 5_500_000}), Watermarks({TRACK.name: 6_000_000})
    changed = replace(settings, queries=(other,))
    assert messages(kafka, topic) == [
        *(settings, first, settings, first, changed, second),
        replace(settings, queries=()),
    ]


def test_a_feed_with_too_few_partitions_is_refused(config: Config, cluster: KafkaCluster) -> None:
    topic = f"asc.feed.few-{uuid.uuid4().hex[:8]}"
    cluster.create_topics([topic])
    refused = refused_feed(cluster, topic)
    assert refused is not None
    assert "has 1 partitions, and 16 are needed" in str(refused)
    with pytest.raises(TopicError):
        make_feed(cluster, topic)


def test_near_queries_share_the_room(
    config: Config, cluster: KafkaCluster, kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    (stream,) = config.streams
    topic = config.feed_topic(stream)
    make_feed(cluster, topic)
    track = Track("k", "t", ("x", "y"), ())
    queries = tuple(NearQuery(query_id, "out", track.name, ("pair",), 5.0, 3, 1) for query_id in ("a", "b"))
    writer = FeedWriter(stream, config, cluster, tmp_path)
    try:
        writer.begin(
            0, [*(FedDestination(topic, track, query) for query in queries), FedDestination(topic, TRACK, QUERY)]
        )
    finally:
        writer.close()
    assert messages(kafka, topic) == [Settings("source", True, 100, (QUERY,), queries, 400)]
