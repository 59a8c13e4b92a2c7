"""A consumer of one topic with a deadline, for callers who wait for its result."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from broker.kafka.client import KafkaClient

_POLLED_RECORDS = 5_000
_PAUSE_MS = 200
_LEAST_MS = 600
"""The shortest timeout of a request in milliseconds, because Kafka may wait for new records for almost as long before
it answers.
"""


@dataclass(frozen=True, slots=True)
class BoundedConsumer:
    """A consumer of one topic, and the offsets that the topic had when the consumer was opened.

    ``first`` and ``end`` are by partition (kafka-python's ``TopicPartition``), in the order of their numbers.
    """

    consumer: Any
    deadline: float
    first: dict[Any, int]
    end: dict[Any, int]

    @property
    def is_over(self) -> bool:
        """Return whether the deadline has passed."""
        return time.monotonic() >= self.deadline

    def seek(self, partition: Any, offset: int) -> None:
        """Read only one partition from now on, starting at an offset."""
        self.consumer.assign([partition])
        self.consumer.seek(partition, offset)

    def position(self, partition: Any) -> int:
        """Return the offset of the next record. Raise KafkaError if Kafka does not answer before the deadline."""
        return int(self.consumer.position(partition, timeout_ms=_left_ms(self.deadline)))

    def poll(self, partition: Any) -> list[Any]:
        """Return the next records of the partition. Return an empty list if none arrive within 200 ms."""
        found = self.consumer.poll(timeout_ms=min(_PAUSE_MS, _left_ms(self.deadline)))
        return list(found.get(partition, ()))


@contextmanager
def bounded_consumer(client: KafkaClient, topic: str, within_s: float, **settings: Any) -> Iterator[BoundedConsumer]:
    """Open a consumer of a topic for at most ``within_s``, so that the caller's thread is not occupied for longer.

    A topic that does not exist has no partitions. Raise KafkaError if Kafka does not answer within that time.
    """
    from kafka import TopicPartition

    deadline = time.monotonic() + within_s
    client = client.hurried(within_s)
    consumer: Any = client.consumer(
        isolation_level="read_committed",
        max_poll_records=_POLLED_RECORDS,
        enable_auto_commit=False,
        request_timeout_ms=max(_LEAST_MS, _left_ms(deadline)),
        **settings,
    )
    # A connection may take ten seconds to set up, and the consumer has no public setting for this limit.
    consumer._manager.config["socket_connection_setup_timeout_ms"] = _left_ms(deadline)
    try:
        with client.clear_errors():
            partitions = [TopicPartition(topic, each) for each in sorted(consumer.partitions_for_topic(topic) or ())]
            first = consumer.beginning_offsets(partitions, timeout_ms=_left_ms(deadline))
            end = consumer.end_offsets(partitions, timeout_ms=_left_ms(deadline))
            yield BoundedConsumer(
                consumer, deadline, {each: first[each] for each in partitions}, {each: end[each] for each in partitions}
            )
    finally:
        consumer.close(timeout_ms=_left_ms(deadline))


def _left_ms(deadline: float) -> int:
    return max(1, round((deadline - time.monotonic()) * 1000))
