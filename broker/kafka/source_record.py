"""The reading of a single record of a topic, identified by topic, partition and offset."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from broker.errors import KafkaError, NotThereError, QueryError
from broker.kafka.client import KafkaClient

_PLACE = re.compile(r"([a-zA-Z0-9._-]{1,249})-([0-9]{1,9})-([0-9]{1,18})")
_PAUSE_MS = 300
_FETCHED_BYTES = 1 << 20
"""The bytes requested at a time. Kafka returns the first batch of records whole, whatever its size."""


class Place(NamedTuple):
    """The identity of a record: its topic, partition and offset, written as ``<topic>-<partition>-<offset>`` in
    ``asc-source``.
    """

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}-{self.offset}"

    @staticmethod
    def of(text: str) -> Place:
        """Return the identity in a text. Raise QueryError if the text is not an identity.

        >>> Place.of("asc.late-flights-0-17")
        Place(topic='asc.late-flights', partition=0, offset=17)
        """
        found = _PLACE.fullmatch(text)
        if found is None:
            remedy = "write TOPIC-PARTITION-OFFSET, as flights-0-17: the header asc-source of a delivery has it"
            raise QueryError("source", text[:300], remedy)
        return Place(found[1], int(found[2]), int(found[3]))


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A record as stored in Kafka.

    ``timestamp_ms`` and ``timestamp_type`` (0: set by the producer, 1: set by Kafka) are -1 if the record has no
    timestamp.
    """

    place: Place
    timestamp_ms: int
    timestamp_type: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]]

    @property
    def size_bytes(self) -> int:
        """The total size of key, value and headers."""
        parts = [
            self.key,
            self.value,
            *(value for _, value in self.headers),
            *(name.encode() for name, _ in self.headers),
        ]
        return sum(len(part) for part in parts if part is not None)


def record_at(client: KafkaClient, place: Place, *, timeout_s: float, most_bytes: int) -> SourceRecord:
    """Return the record at a topic, partition and offset, read with the isolation level ``read_committed``.

    Raise NotThereError, with the existing offsets, if there is no such record. Raise QueryError if it is larger than
    ``most_bytes``. Raise KafkaError if Kafka refuses, or does not deliver it within ``timeout_s``. Only the batch of
    records that contains it is read.
    """
    from kafka import TopicPartition

    deadline = time.monotonic() + timeout_s
    consumer: Any = client.consumer(
        isolation_level="read_committed",
        max_poll_records=1,
        fetch_max_bytes=_FETCHED_BYTES,
        max_partition_fetch_bytes=_FETCHED_BYTES,
        request_timeout_ms=max(1_000, round(timeout_s * 1_000)),
    )
    try:
        with client.clear_errors():
            partition = TopicPartition(place.topic, place.partition)
            there = consumer.partitions_for_topic(place.topic) or set()
            if place.partition not in there:
                remedy = f"is not there: topic '{place.topic}' has partitions {sorted(there)}"
                raise NotThereError("record", str(place), remedy if there else f"there is no topic '{place.topic}'")
            first = consumer.beginning_offsets([partition])[partition]
            end = consumer.end_offsets([partition])[partition]
            _check_offset(place, first, end)
            consumer.assign([partition])
            consumer.seek(partition, place.offset)
            while consumer.position(partition) == place.offset:
                for record in consumer.poll(timeout_ms=_PAUSE_MS).get(partition, ()):
                    if record.offset == place.offset:
                        return _checked(place, record, most_bytes)
                if time.monotonic() > deadline:
                    raise KafkaError("record", str(place), f"is not given by Kafka within {timeout_s:g} s: try again")
    finally:
        consumer.close()
    remedy = "is none: compacted away, of a transaction that was aborted, or the mark of one"
    raise NotThereError("record", str(place), remedy)


def _check_offset(place: Place, first: int, end: int) -> None:
    if place.offset < first:
        remedy = f"is not there any more: the first one that partition {place.partition} still has is {first}"
        raise NotThereError("record", str(place), remedy)
    if place.offset >= end:
        remedy = f"is not there yet: the next one of partition {place.partition} will be {end}"
        raise NotThereError("record", str(place), remedy)


def _checked(place: Place, record: Any, most_bytes: int) -> SourceRecord:
    found = SourceRecord(
        place, record.timestamp, record.timestamp_type, record.key, record.value, tuple(record.headers or ())
    )
    if found.size_bytes > most_bytes:
        raise QueryError("record", str(place), f"has {found.size_bytes:,} bytes: {most_bytes:,} at most are followed")
    return found
