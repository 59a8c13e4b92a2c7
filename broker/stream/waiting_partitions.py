"""The partitions of a source topic that hold event time back, because they have unread records."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any

from broker.failure import one_line
from broker.kafka.client import KafkaClient
from broker.plans.running_plan import BoundBatch

LOG = logging.getLogger("asc.job")


class WaitingPartitions:
    """The search for partitions that have unread records, but no record in a batch.

    Such records may be earlier than all records of the batch, because a keyed producer fills the partitions from a file
    alternately. One thread at a time calls it. Cost: a request to Kafka for each batch that lacks records of some
    partition, by one consumer that stays connected.
    """

    def __init__(self, client: KafkaClient, topic: str) -> None:
        self._client = client
        self._topic = topic
        self._consumer: Any = None

    def of(self, batch: BoundBatch) -> frozenset[int]:
        """Return the waiting partitions of a batch that was read.

        If Kafka does not report the end of a partition, the partition counts as waiting. So event time may advance
        later than it could, but never past a record that is unread.
        """
        from kafka import TopicPartition

        lacking = frozenset(batch.end.keys() - batch.partitions)
        if not lacking:
            return lacking
        try:
            if self._consumer is None:
                # As the stream reads: records of transactions that are not committed are not there yet.
                self._consumer = self._client.consumer(isolation_level="read_committed")
            with self._client.clear_errors():
                ends = self._consumer.end_offsets([TopicPartition(self._topic, each) for each in lacking])
        except Exception as error:  # whether Kafka answers is watched elsewhere
            LOG.warning("the end of topic '%s' is not known, event time waits: %s", self._topic, one_line(error))
            self.close()
            return lacking
        known = {each.partition: end for each, end in ends.items() if end is not None}
        return frozenset(each for each in lacking if each not in known or known[each] > batch.end[each])

    def close(self) -> None:
        """Close the consumer. A later call of :meth:`of` opens another one."""
        if self._consumer is not None:
            with suppress(Exception):
                self._consumer.close()
            self._consumer = None
