"""The newest records of a topic, as far back as wanted: by bytes, where records are of very different sizes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from broker.kafka.client import KafkaClient
from broker.kafka.last_records import record_bytes

_GROWTH = 4
"""Each piece has at most so many times the records of the one before it, which is newer. The first one has one."""

_FETCHED_BYTES = 1 << 18
"""The bytes of an answer of Kafka's: it goes on behind the end of a piece, into what was read already."""

_PAUSE_MS = 200
_POLLED_RECORDS = 5_000
_LEAST_MS = 600
"""For an answer: Kafka may wait for records for almost as long."""


@dataclass(slots=True)
class _Tail:
    """The end of a partition: the records that were read, from ``begin`` on, and how many are read next.

    Invariant: no record between ``begin`` and the end of the partition is missing.
    """

    partition: Any
    first: int
    begin: int
    left_bytes: int
    piece: int = 1
    records: list[Any] = field(default_factory=list)

    @property
    def is_done(self) -> bool:
        """Return whether nothing more of it can be read."""
        return self.begin <= self.first or self.left_bytes < 0 or self.piece < 1

    def add(self, piece: list[Any], begin: int, read_bytes: int) -> None:
        """Add the records that begin at an offset and end where the tail does."""
        self.records[:0] = piece
        self.begin = begin
        fitting = self.left_bytes * max(1, len(piece)) // (2 * max(1, read_bytes))
        self.piece = min(self.piece * _GROWTH, fitting)


def newest_records(
    client: KafkaClient,
    topic: str,
    *,
    most_bytes: int,
    within_s: float,
    are_enough: Callable[[Sequence[Any]], bool],
) -> list[Any]:
    """Return the newest records of a topic without a gap, from each partition those behind one offset, in order.

    Each partition is read in pieces, backwards, until ``are_enough`` of all of them are, ``most_bytes`` of keys, values
    and headers were read, or ``within_s`` have passed. Partitions have equal shares of the bytes. A piece with more
    bytes than its share has left is left out. KafkaError where Kafka does not answer within that time.
    """
    from kafka import TopicPartition

    deadline = time.monotonic() + within_s

    def left_ms() -> int:
        return max(1, round((deadline - time.monotonic()) * 1000))

    client = client.hurried(within_s)
    consumer: Any = client.consumer(
        isolation_level="read_committed",
        max_poll_records=_POLLED_RECORDS,
        max_partition_fetch_bytes=_FETCHED_BYTES,
        enable_auto_commit=False,
        request_timeout_ms=max(_LEAST_MS, left_ms()),
    )
    # To be connected with a broker has ten seconds otherwise, for which there is no setting of a consumer.
    consumer._manager.config["socket_connection_setup_timeout_ms"] = left_ms()
    tails: list[_Tail] = []
    try:
        with client.clear_errors():
            partitions = [TopicPartition(topic, each) for each in sorted(consumer.partitions_for_topic(topic) or ())]
            first = consumer.beginning_offsets(partitions, timeout_ms=left_ms())
            ends = consumer.end_offsets(partitions, timeout_ms=left_ms())
            there = [each for each in partitions if ends[each] > first[each]]
            tails = [_Tail(each, first[each], ends[each], most_bytes // len(there)) for each in there]
            while time.monotonic() < deadline and not all(tail.is_done for tail in tails):
                for tail in tails:
                    if not tail.is_done:
                        _read_piece(consumer, tail, left_ms, deadline)
                if are_enough(_records_of(tails)):
                    break
    finally:
        consumer.close(timeout_ms=left_ms())
    return _records_of(tails)


def _read_piece(consumer: Any, tail: _Tail, left_ms: Callable[[], int], deadline: float) -> None:
    """Add the records before those that a tail has, unless they have more bytes than are left."""
    begin, before_bytes = max(tail.first, tail.begin - tail.piece), tail.left_bytes
    consumer.assign([tail.partition])
    consumer.seek(tail.partition, begin)
    found: list[Any] = []
    while consumer.position(tail.partition, timeout_ms=left_ms()) < tail.begin:
        if time.monotonic() >= deadline:
            return
        for record in consumer.poll(timeout_ms=min(_PAUSE_MS, left_ms())).get(tail.partition, ()):
            if record.offset >= tail.begin:
                break
            tail.left_bytes -= record_bytes(record)
            if tail.left_bytes < 0:
                return
            found.append(record)
    tail.add(found, begin, before_bytes - tail.left_bytes)


def _records_of(tails: Sequence[_Tail]) -> list[Any]:
    return [record for tail in tails for record in tail.records]
