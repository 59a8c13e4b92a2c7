"""A rebalance of a consumer group whose cause is gone before the broker has answered it."""

from __future__ import annotations

import uuid
from itertools import islice
from typing import TYPE_CHECKING

import pytest
from kafka.structs import MemberState

from broker.config.sections import KafkaConfig
from broker.kafka.batch_sender import BatchSender
from broker.kafka.client import KafkaClient
from broker.kafka.cluster import KafkaCluster
from broker.kafka.reading import polled
from broker.kafka.rebalance import resume_rebalance

if TYPE_CHECKING:
    from broker.kafka.embedded import EmbeddedKafka

pytestmark = pytest.mark.kafka

_POLLS = 200
"""As many polls take a minute. A rebalance takes less than a second."""


def test_a_rebalance_goes_on_after_its_cause_is_gone(kafka: EmbeddedKafka) -> None:
    """A metadata refresh without the topic's partitions causes a rebalance, and the next refresh has them again."""
    topic = f"rebalanced-{uuid.uuid4().hex[:8]}"
    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig(partitions=1))
    cluster.ensure_topics([topic])
    cluster.close()
    client = KafkaClient(kafka.bootstrap_servers, {}, 15)
    with (
        client.reading([topic], from_beginning=True, group=f"g-{topic}") as consumer,
        BatchSender(client, topic) as sender,
    ):
        records = polled(consumer)
        sender.send([b"1"], [b"key"])
        sender.flush()
        read = (record.value for record in records if record is not None)
        assert next(read) == b"1"
        coordinator = consumer._coordinator
        known = coordinator._metadata_snapshot
        coordinator._metadata_snapshot = {topic: set()}
        consumer.poll(timeout_ms=0)
        coordinator._metadata_snapshot = known
        assert consumer.group_metadata().state == MemberState.REBALANCING
        sender.send([b"2"], [b"key"])
        sender.flush()
        found = []
        for record in islice(records, _POLLS):
            found += [] if record is None else [record.value]
            if found and consumer.group_metadata().state == MemberState.STABLE:
                break
        assert (found, consumer.group_metadata().state) == ([b"2"], MemberState.STABLE)


def test_a_consumer_without_a_group_has_no_rebalance(kafka: EmbeddedKafka) -> None:
    consumer = KafkaClient(kafka.bootstrap_servers, {}, 15).consumer()
    resume_rebalance(consumer)
    assert consumer.group_metadata().state == MemberState.UNJOINED
    consumer.close()
