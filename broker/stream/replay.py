"""The replay of dead letters: they are sent to the source topic again, as the original records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from broker.kafka.batch_sender import BatchSender
from broker.kafka.client import KafkaClient, WholeRecord
from broker.operators.headers import as_it_came, is_whole, last_hop


def replay(client: KafkaClient, dead_letter_topic: str, topic: str, places: Iterable[tuple[int, int]]) -> int:
    """Send the dead letters at some partitions and offsets to the source topic again, and return the number sent.

    A dead letter is skipped if it is missing or does not contain its whole record. Raise KafkaError.
    """
    partitions = client.partition_count(topic)
    with BatchSender(client, topic) as sender:
        for message in client.records_at(dead_letter_topic, places):
            if is_whole(message.headers or ()):
                sender.send_whole(original(message, partitions))
        sender.flush()
        return sender.acknowledged


def original(message: Any, partitions: int) -> WholeRecord:
    """Return the record that became a dead letter, with its original partition if that still exists."""
    came_from = (last_hop(message.headers or ()).source or "").split("-")[-2:-1]
    partition = int(came_from[0]) if came_from and came_from[0].isdecimal() else partitions
    return WholeRecord(
        message.key,
        message.value,
        as_it_came(message.headers or ()),
        partition if partition < partitions else None,
    )
