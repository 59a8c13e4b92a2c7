"""The lag of a stream: the number of records in its source topic that are not processed yet."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress
from typing import Any

from broker.failure import one_line
from broker.kafka.client import KafkaClient
from broker.plans.offsets import Offsets

LOG = logging.getLogger("asc.lag")

_ASKED_EACH_S = 5.0
_KNOWN_FOR_S = 20.0


class Lag:
    """The lag of a stream behind the end of its source topic; a thread asks Kafka for the end offsets.

    Invariant: ``done`` and the answer of Kafka are replaced, never mutated. An answer is valid for 20 seconds. Cost: a
    request to Kafka every five seconds.
    """

    def __init__(self, stream: str, topic: str, client: KafkaClient, done: Offsets) -> None:
        self._topic = topic
        self._client = client
        self._ends: tuple[float, Offsets] | None = None
        self._over = threading.Event()
        self._starting = threading.Lock()
        self._is_started = False
        self._thread = threading.Thread(target=self._keep_asking, name=f"lag-{stream}", daemon=True)
        self.done = done
        """The first offset that is not processed, by source partition."""

    def start(self) -> None:
        """Start the thread, and return at once. Further calls, from any thread, do nothing."""
        with self._starting:
            if not self._is_started:
                self._is_started = True
                self._thread.start()

    def ask_to_stop(self) -> None:
        """Request that the thread stops."""
        self._over.set()

    def records(self, done: Offsets | None = None) -> int | None:
        """Return the number of unprocessed records. ``done``: offsets to use in place of the attribute ``done``.

        Return None if the last answer of Kafka is too old. Transaction markers are counted, because they have offsets.
        """
        known = self._ends
        if known is None or time.monotonic() - known[0] > _KNOWN_FOR_S:
            return None
        done = self.done if done is None else done
        return sum(max(0, end - done.get(partition, 0)) for partition, end in known[1].items())

    def _keep_asking(self) -> None:
        consumer: Any = None
        while True:
            try:
                # As the stream reads: records of transactions that are not committed are not there yet.
                consumer = consumer or self._client.consumer(isolation_level="read_committed")
                self._ends = (time.monotonic(), self._asked(consumer))
            except Exception as error:  # whether Kafka answers is watched elsewhere
                LOG.debug("the end of topic '%s' is not known: %s", self._topic, one_line(error))
                _close(consumer)
                consumer = None
            if self._over.wait(_ASKED_EACH_S):
                _close(consumer)
                return

    def _asked(self, consumer: Any) -> Offsets:
        from kafka import TopicPartition

        partitions = [TopicPartition(self._topic, each) for each in consumer.partitions_for_topic(self._topic) or ()]
        return {each.partition: int(offset) for each, offset in consumer.end_offsets(partitions).items()}


def _close(consumer: Any) -> None:
    if consumer is not None:
        with suppress(Exception):
            consumer.close()
