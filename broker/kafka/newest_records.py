"""The newest records of a topic, as far back as needed, with a limit in bytes because sizes of records vary widely."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from broker.kafka.bounded_consumer import BoundedConsumer, bounded_consumer
from broker.kafka.client import KafkaClient
from broker.kafka.last_records import record_bytes

_GROWTH = 4
"""The largest ratio of the number of records in a piece to that in the piece that was read before it. A partition is
read from its end in pieces, and the first piece has one record.
"""

_FETCHED_BYTES = 1 << 18
"""The bytes that one request to Kafka asks for. The answer may extend beyond the end of a piece, into records that were
read already.
"""


@dataclass(slots=True)
class _Tail:
    """The end of a partition: the records that were read, from offset ``begin`` on, and how many to read next.

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
        """Return whether no further record of the partition can be read."""
        return self.begin <= self.first or self.left_bytes < 0 or self.piece < 1

    def add(self, piece: list[Any], begin: int, read_bytes: int) -> None:
        """Add the records from offset ``begin`` up to the tail's previous beginning."""
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
    """Return the newest records of a topic without gaps: from each partition, in order, all records from some offset
    on.

    Each partition is read backwards in pieces. Reading ends when ``are_enough`` returns true for all records read so
    far, when ``most_bytes`` of keys, values and headers were read, or after ``within_s``. Partitions have equal shares
    of the bytes. A piece that exceeds the rest of its partition's share is skipped. Raise KafkaError if Kafka does not
    answer within that time.
    """
    tails: list[_Tail] = []
    with bounded_consumer(client, topic, within_s, max_partition_fetch_bytes=_FETCHED_BYTES) as bounded:
        filled = [each for each, end in bounded.end.items() if end > bounded.first[each]]
        tails = [_Tail(each, bounded.first[each], bounded.end[each], most_bytes // len(filled)) for each in filled]
        while not bounded.is_over and not all(tail.is_done for tail in tails):
            for tail in tails:
                if not tail.is_done:
                    _read_piece(bounded, tail)
            if are_enough(_records_of(tails)):
                break
    return _records_of(tails)


def _read_piece(bounded: BoundedConsumer, tail: _Tail) -> None:
    """Add the records before a tail's beginning, unless they exceed the bytes that are left."""
    begin, before_bytes = max(tail.first, tail.begin - tail.piece), tail.left_bytes
    bounded.seek(tail.partition, begin)
    piece: list[Any] = []
    while bounded.position(tail.partition) < tail.begin:
        if bounded.is_over:
            return
        for record in bounded.poll(tail.partition):
            if record.offset >= tail.begin:
                break
            tail.left_bytes -= record_bytes(record)
            if tail.left_bytes < 0:
                return
            piece.append(record)
    tail.add(piece, begin, before_bytes - tail.left_bytes)


def _records_of(tails: Sequence[_Tail]) -> list[Any]:
    return [record for tail in tails for record in tail.records]
