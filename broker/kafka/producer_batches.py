"""Batches of Kafka's producer that every topic takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_BATCH_SIZE = "kafka.batch.size"
_USUAL_BYTES = 16_384
"""The batch size of Kafka's producer if no option sets another."""


def with_batches_within(options: Mapping[str, str], limits_bytes: Iterable[int]) -> Mapping[str, str]:
    """Return options of Spark's Kafka sink whose ``batch.size`` is at most the least of some topics' limits.

    Kafka refuses a batch that is larger than ``max.message.bytes`` of its topic. The producer then splits the batch by
    ``batch.size``, so a larger ``batch.size`` makes the same batch again, until its delivery times out.

    >>> with_batches_within({"kafka.batch.size": "65536"}, [1_048_588, 20_000])
    {'kafka.batch.size': '20000'}
    """
    configured_bytes = int(options.get(_BATCH_SIZE, _USUAL_BYTES))
    least_bytes = min(limits_bytes, default=configured_bytes)
    return options if configured_bytes <= least_bytes else {**options, _BATCH_SIZE: str(least_bytes)}
