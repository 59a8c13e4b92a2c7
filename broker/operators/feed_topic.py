"""The topic of a feed: it is created if it is missing, and refused if it is not suitable for a feed."""

from __future__ import annotations

from asc.errors import AscError
from broker.errors import TopicError
from broker.kafka.cluster import KafkaCluster
from broker.operators.feed_part import PARTS

_SETTINGS = {"retention.ms": str(86_400_000)}
"""The settings with which the topic of a feed is created. Messages are kept for a day, within which the readers read
them.
"""


def make_feed(cluster: KafkaCluster, topic: str) -> None:
    """Create the topic of a feed if it is missing. Raise KafkaError if that fails, or if it has too few partitions."""
    cluster.ensure_topics([topic], _SETTINGS, partitions=PARTS)
    _check_partitions(cluster, topic)


def refused_feed(cluster: KafkaCluster, topic: str) -> AscError | None:
    """Return the reason why a topic cannot be created or used as a feed. Return None if it can.

    Raise KafkaError if Kafka does not answer.
    """
    refused, missing = cluster.destinations([topic], "feed")
    if refused or missing:
        return refused.get(topic)
    try:
        _check_partitions(cluster, topic)
    except TopicError as error:
        return error
    return None


def _check_partitions(cluster: KafkaCluster, topic: str) -> None:
    there = len(cluster.partitions(topic))
    if there < PARTS:
        raise TopicError("feed", topic, f"has {there} partitions, and {PARTS} are needed: give it so many")
