"""The last records of a topic, for somebody who looks at it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from broker.kafka.client import KafkaClient

_PAUSE_MS = 200
_POLLED_MAX = 5_000


def last_records(client: KafkaClient, topic: str, last: int, *, most_bytes: int, within_s: float) -> list[Any]:
    """The last records of a topic, at most so many, by partition and offset: as evenly from its partitions as these
    have them. Fewer where their keys and values are more than ``most_bytes`` together, or Kafka is slower than
    ``within_s``; none of a topic that is not there. KafkaError where Kafka does not answer.
    """
    from kafka import TopicPartition

    consumer: Any = client.consumer(
        isolation_level="read_committed", max_poll_records=_POLLED_MAX, enable_auto_commit=False
    )
    found: list[Any] = []
    try:
        with client.clear_errors():
            partitions = [TopicPartition(topic, each) for each in consumer.partitions_for_topic(topic) or ()]
            first, ends = consumer.beginning_offsets(partitions), consumer.end_offsets(partitions)
            shares = _shares({each: ends[each] - first[each] for each in partitions}, last)
            deadline, left_bytes = time.monotonic() + within_s, most_bytes
            for partition, share in shares.items():
                consumer.assign([partition])
                consumer.seek(partition, ends[partition] - share)
                # A partition takes no more bytes than its share, so that one of large records leaves some to others.
                most = left_bytes if len(shares) == 1 else most_bytes // len(shares)
                while consumer.position(partition) < ends[partition] and most > 0 and time.monotonic() < deadline:
                    for record in consumer.poll(timeout_ms=_PAUSE_MS).get(partition, ()):
                        most -= len(record.key or b"") + len(record.value or b"")
                        if record.offset < ends[partition] and most >= 0:
                            found.append(record)
    finally:
        consumer.close()
    return found


def _shares(there: Mapping[Any, int], last: int) -> dict[Any, int]:
    """How many of each partition, given how many it has: the same of all, but for those that have fewer."""
    shares: dict[Any, int] = {}
    left = last
    for number, (partition, count) in enumerate(sorted(there.items(), key=lambda each: each[1])):
        share = min(count, left // (len(there) - number))
        if share:
            shares[partition] = share
        left -= share
    return dict(sorted(shares.items()))
