"""The records of a consumer, yielded individually, either without an end or up to the present end of the topics."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from broker.kafka.rebalance import resume_rebalance

_PAUSE_MS = 300

_POLLED_EACH_S = 1.0
"""The time in seconds after which Kafka is polled again, although records of the last poll are not yet yielded."""


def polled(consumer: Any) -> Iterator[Any]:
    """Yield the records of kafka-python's ``consumer`` one by one, without an end, and None before each poll.

    The consumer takes part in its group only during polls. At each poll, the caller has processed every yielded record,
    and this function has no other record in memory. A group excludes a member that does not poll within
    max.poll.interval, and one poll returns hundreds of records. After a second with the records of one poll, the
    consumer seeks back and polls the rest again.
    """
    from kafka import TopicPartition

    while True:
        yield None
        resume_rebalance(consumer)
        asked_s = time.monotonic()
        records = deque(record for some in consumer.poll(timeout_ms=_PAUSE_MS).values() for record in some)
        while records:
            yield records.popleft()
            if time.monotonic() - asked_s > _POLLED_EACH_S:
                # Seek in reverse order, so that each partition ends at its first unread record.
                while records:
                    record = records.pop()
                    consumer.seek(TopicPartition(record.topic, record.partition), record.offset)


class Until:
    """The records of a consumer before the offsets ``ends`` of its partitions.

    A member of a group reads only the partitions that are assigned to it. If the other members have all partitions,
    this consumer reads nothing.
    """

    def __init__(self, consumer: Any, ends: Mapping[Any, int]) -> None:
        self.consumer = consumer
        self._ends = ends

    def __iter__(self) -> Iterator[Any]:
        from kafka import TopicPartition

        for record in polled(self.consumer):
            if record is None:
                if self._is_read():
                    return
                continue
            partition = TopicPartition(record.topic, record.partition)
            if record.offset < self._ends[partition]:
                yield record
            if record.offset + 1 >= self._ends[partition]:
                # Later records stay unread for the group's next run.
                self.consumer.pause(partition)

    def _is_read(self) -> bool:
        from kafka.structs import MemberState

        own = self.consumer.assignment()
        if not own:
            return bool(self.consumer.group_metadata().state == MemberState.STABLE)
        # Compare positions, because transaction markers may follow the last record.
        return all((self.consumer.position(each) or 0) >= self._ends[each] for each in own)
