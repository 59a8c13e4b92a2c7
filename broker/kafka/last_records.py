"""The last records of a topic, for somebody who looks at it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from broker.kafka.client import KafkaClient

_PAUSE_MS = 200
_POLLED_MAX = 5_000

_LEAST_MS = 600
"""For an answer: Kafka may wait for records for almost as long."""


def last_records(client: KafkaClient, topic: str, last: int, *, most_bytes: int, within_s: float) -> list[Any]:
    """The last records of a topic, at most so many, by partition and offset: as evenly from its partitions as these
    have them. Fewer where their keys, values and headers are more than ``most_bytes`` together, or Kafka is slower than
    ``within_s``; none of a topic that is not there. KafkaError where Kafka does not answer within that time.
    """
    from kafka import TopicPartition

    deadline = time.monotonic() + within_s

    def left_ms() -> int:
        return max(1, round((deadline - time.monotonic()) * 1000))

    # Every question to Kafka ends with the time that there is for all of them: a page holds a thread no longer.
    client = client.hurried(within_s)
    consumer: Any = client.consumer(
        isolation_level="read_committed",
        max_poll_records=_POLLED_MAX,
        enable_auto_commit=False,
        request_timeout_ms=max(_LEAST_MS, left_ms()),
    )
    # To be connected with a broker has ten seconds otherwise, for which there is no setting of a consumer.
    consumer._manager.config["socket_connection_setup_timeout_ms"] = left_ms()
    found: list[Any] = []
    try:
        with client.clear_errors():
            partitions = [TopicPartition(topic, each) for each in consumer.partitions_for_topic(topic) or ()]
            first = consumer.beginning_offsets(partitions, timeout_ms=left_ms())
            ends = consumer.end_offsets(partitions, timeout_ms=left_ms())
            shares = _shares({each: ends[each] - first[each] for each in partitions}, last)
            left_bytes = most_bytes
            for partition, share in shares.items():
                consumer.assign([partition])
                consumer.seek(partition, ends[partition] - share)
                # A partition takes no more bytes than its share, so that one of large records leaves some to others.
                most = left_bytes if len(shares) == 1 else most_bytes // len(shares)
                while most > 0 and time.monotonic() < deadline:
                    if consumer.position(partition, timeout_ms=left_ms()) >= ends[partition]:
                        break
                    for record in consumer.poll(timeout_ms=min(_PAUSE_MS, left_ms())).get(partition, ()):
                        most -= record_bytes(record)
                        if record.offset < ends[partition] and most >= 0:
                            found.append(record)
    finally:
        consumer.close(timeout_ms=left_ms())
    return found


def record_bytes(record: Any) -> int:
    """Return the bytes of the key, the value and the headers of a record."""
    headers = sum(len(name.encode()) + len(value or b"") for name, value in record.headers or ())
    return len(record.key or b"") + len(record.value or b"") + headers


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
