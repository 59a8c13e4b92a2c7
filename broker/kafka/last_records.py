"""The last records of a topic, for display."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from broker.kafka.bounded_consumer import bounded_consumer
from broker.kafka.client import KafkaClient


def last_records(client: KafkaClient, topic: str, last: int, *, most_bytes: int, within_s: float) -> list[Any]:
    """Return at most ``last`` of the last records of a topic, ordered by partition and offset. The partitions have
    equal shares, as far as they have records.

    Return fewer if the keys, values and headers of a partition exceed its equal share of ``most_bytes``, or if Kafka is
    slower than ``within_s``. Return none if the topic does not exist. Raise KafkaError if Kafka does not answer within
    that time.
    """
    records: list[Any] = []
    with bounded_consumer(client, topic, within_s) as bounded:
        shares = _shares({each: end - bounded.first[each] for each, end in bounded.end.items()}, last)
        for partition, share in shares.items():
            end = bounded.end[partition]
            bounded.seek(partition, end - share)
            # Each partition has a share of the bytes, so that one with large records leaves space for the others.
            left_bytes = most_bytes // len(shares)
            while left_bytes > 0 and not bounded.is_over:
                if bounded.position(partition) >= end:
                    break
                for record in bounded.poll(partition):
                    left_bytes -= record_bytes(record)
                    if record.offset < end and left_bytes >= 0:
                        records.append(record)
    return records


def record_bytes(record: Any) -> int:
    """Return the bytes of the key, the value and the headers of a record."""
    headers = sum(len(name.encode()) + len(value or b"") for name, value in record.headers or ())
    return len(record.key or b"") + len(record.value or b"") + headers


def _shares(there: Mapping[Any, int], last: int) -> dict[Any, int]:
    """Return the number of records to read from each partition: equal shares, except for partitions with fewer
    records.
    """
    shares: dict[Any, int] = {}
    left = last
    for number, (partition, count) in enumerate(sorted(there.items(), key=lambda each: each[1])):
        share = min(count, left // (len(there) - number))
        if share:
            shares[partition] = share
        left -= share
    return dict(sorted(shares.items()))
