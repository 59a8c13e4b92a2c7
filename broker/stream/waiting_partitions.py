"""The partitions of a source topic that hold event time back: those with records that are still to be read."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any

from broker.failure import one_line
from broker.kafka.client import KafkaClient
from broker.plans.running_plan import BoundBatch

LOG = logging.getLogger("asc.job")


class WaitingPartitions:
    """The search for partitions of which a batch has no record, though there are records after it.

    These may be earlier than all that the batch has: a keyed producer fills the partitions of a file in turns. One
    thread at a time asks. Cost: a question to Kafka for each batch that lacks records of some partition, by one
    consumer that stays connected.
    """

    def __init__(self, client: KafkaClient, topic: str) -> None:
        self._client = client
        self._topic = topic
        self._consumer: Any = None

    def of(self, batch: BoundBatch) -> frozenset[int]:
        """Return the waiting partitions of a batch that was read; none where Kafka does not answer."""
        from kafka import TopicPartition

        lacking = batch.end.keys() - batch.partitions
        if not lacking:
            return frozenset()
        try:
            if self._consumer is None:
                # As the stream reads: records of transactions that are not committed are not there yet.
                self._consumer = self._client.consumer(isolation_level="read_committed")
            with self._client.clear_errors():
                ends = self._consumer.end_offsets([TopicPartition(self._topic, each) for each in lacking])
        except Exception as error:  # whether Kafka answers is watched elsewhere
            LOG.debug("the end of topic '%s' is not known: %s", self._topic, one_line(error))
            self.close()
            return frozenset()
        return frozenset(each.partition for each, end in ends.items() if end > batch.end[each.partition])

    def close(self) -> None:
        """Close the consumer; a later question opens another one."""
        if self._consumer is not None:
            with suppress(Exception):
                self._consumer.close()
            self._consumer = None
