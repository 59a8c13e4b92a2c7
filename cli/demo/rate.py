"""The throughput of a warm stream, measured by sending the sample of ``asc demo`` repeatedly."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from broker.files.records import RecordBatch
    from broker.kafka.client import KafkaClient

MEASURED_S = 4.0
"""The approximate duration of the measurement in seconds. A short first round shows how many records can be sent in
this time.
"""

FIRST_COPIES = 2
ROUNDS_MAX = 2
COPIES_MAX = 25
PATIENCE_S = 60.0
"""The number of seconds without a delivery after which the measurement ends, even if deliveries are missing."""

_LOOK_S = 0.02


@dataclass(frozen=True, slots=True)
class Rate:
    """The throughput of a stream: the number of records, the number of their deliveries, and the time.

    The time is from the first record sent to the last delivery. ``agrees``: whether each topic has the expected number
    of deliveries.
    """

    records: int
    deliveries: int
    elapsed_s: float
    agrees: bool

    @property
    def records_per_s(self) -> float:
        """The records per second through the stream."""
        return self.records / self.elapsed_s

    def plain(self) -> dict[str, Any]:
        """Return the rate as a JSON object."""
        return {
            "records": self.records,
            "deliveries": self.deliveries,
            "first_sent_to_last_delivery_s": round(self.elapsed_s, 3),
            "records_per_s": round(self.records_per_s),
            "cores": len(os.sched_getaffinity(0)),
            "agrees": self.agrees,
        }


def measured_rate(kafka: KafkaClient, topic: str, sample: Sequence[RecordBatch], deliveries: Mapping[str, int]) -> Rate:
    """Return the rate of a warm stream, measured for about four seconds. ``deliveries``: the number of deliveries to
    each destination topic for one copy of the sample.

    Deliveries are counted by the end offsets of the topics, because a consumer would take processor time from the
    stream.
    """
    rows = sum(len(batch.values) for batch in sample)

    def measured(copies: int) -> Rate:
        return _round(kafka, topic, sample, deliveries, copies)

    return settled_rate(measured, rows)


def settled_rate(rate_of: Callable[[int], Rate], rows: int) -> Rate:
    """Return the rate that is measured with a sufficient number of copies of the sample. A first round with few copies
    shows how many copies are sufficient. If these copies take less than half of MEASURED_S, measure once more with a
    new number.
    """
    rate = rate_of(FIRST_COPIES)
    for _ in range(ROUNDS_MAX):
        if not rate.agrees:
            break
        rate = rate_of(copies_of(rate.records_per_s, rows))
        if rate.elapsed_s >= MEASURED_S / 2:
            break
    return rate


def copies_of(records_per_s: float, rows: int) -> int:
    """Return how many copies of a sample with ``rows`` records take about MEASURED_S seconds: at least 1, and at most
    COPIES_MAX.

    >>> copies_of(50_000, 20_000), copies_of(100, 20_000), copies_of(1e9, 20_000)
    (10, 1, 25)
    """
    return max(1, min(COPIES_MAX, round(records_per_s * MEASURED_S / rows)))


def _round(
    kafka: KafkaClient, topic: str, sample: Sequence[RecordBatch], deliveries: Mapping[str, int], copies: int
) -> Rate:
    from broker.kafka.batch_sender import BatchSender

    consumer: Any = kafka.consumer()
    try:
        before = _ends(consumer, deliveries)
        expected = {name: count * copies for name, count in deliveries.items()}

        def arrived() -> dict[str, int]:
            return {name: end - before[name] for name, end in _ends(consumer, deliveries).items()}

        with BatchSender(kafka, topic) as sender:
            started = time.monotonic()
            for _ in range(copies):
                for values, keys in sample:
                    sender.send(values, keys)
            sender.flush()
            records = sender.acknowledged
        found, last = awaited(arrived, sum(expected.values()))
    finally:
        consumer.close()
    return Rate(records, sum(found.values()), last - started, found == expected)


def awaited(arrived: Callable[[], dict[str, int]], expected: int) -> tuple[dict[str, int], float]:
    """Wait until ``expected`` deliveries have arrived, or until no more arrive. Return the number of deliveries by
    topic, and the time of the last arrival.
    """
    counts, last = arrived(), time.monotonic()
    while sum(counts.values()) < expected and time.monotonic() - last < PATIENCE_S:
        time.sleep(_LOOK_S)
        now = arrived()
        if now != counts:
            counts, last = now, time.monotonic()
    return counts, last


def _ends(consumer: Any, topics: Mapping[str, int]) -> dict[str, int]:
    """Return the number of records that each topic has received so far."""
    from kafka import TopicPartition

    partitions = [TopicPartition(name, number) for name in topics for number in consumer.partitions_for_topic(name)]
    ends = dict.fromkeys(topics, 0)
    for partition, end in consumer.end_offsets(partitions).items():
        ends[partition.topic] += end
    return ends
