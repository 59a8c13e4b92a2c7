"""A function that reads all records of a topic, or the records from given offsets on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from broker.kafka.cluster import KafkaCluster

FROM_BEGINNING: Mapping[int, int] = MappingProxyType({})


def read_topic(
    cluster: KafkaCluster, topic: str, first: Mapping[int, int] = FROM_BEGINNING
) -> Iterator[tuple[int, int, Any, Any, Any]]:
    """Yield partition, offset, key, value and headers of all present records of a topic, in the order of each
    partition.

    ``first``: the offsets at which to begin; a partition that is not in it begins at its first record.
    """
    from kafka import TopicPartition

    consumer = cluster.client.consumer(auto_offset_reset="earliest", enable_auto_commit=False)
    try:
        for number in cluster.partitions(topic):
            place = TopicPartition(topic, number)
            consumer.assign([place])
            if number in first:
                consumer.seek(place, first[number])
            end = consumer.end_offsets([place])[place]
            while consumer.position(place) < end:
                for one in consumer.poll(timeout_ms=500).get(place, ()):
                    yield number, one.offset, one.key, one.value, tuple(one.headers)
    finally:
        consumer.close()
