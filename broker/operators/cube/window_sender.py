"""The sender of windows: rows to the topics of cubes, each acknowledged before the store notes it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from asc.operators.cube.window_rows import WindowRow
from broker.errors import KafkaError, TooLargeWindowError
from broker.failure import one_line
from broker.kafka.client import ACKNOWLEDGED_WITHIN_S
from broker.kafka.cluster import KafkaCluster
from broker.kafka.history import COMPACTED
from broker.operators.headers import HEADER_EVENT, HEADER_QUERY

if TYPE_CHECKING:
    from confluent_kafka import Producer

_POLL_S = 0.1
_CLOSED_WITHIN_S = 2.0
_QUEUED_MOST = 50_000
_BATCH_BYTES = 1 << 18


class WindowSender:
    """The producer of the windows of a stream, for all its cubes. One thread uses it.

    Rows of one key keep their order. A topic is made where it is missing. Every method that talks to Kafka raises
    KafkaError; afterwards nothing is under way, and the topics are looked at again.
    """

    def __init__(self, cluster: KafkaCluster) -> None:
        self._cluster = cluster
        self._lock = threading.Lock()
        self._producer: Producer | None = None
        self._known: set[str] = set()
        self._batch_bytes = _BATCH_BYTES
        self._failed: Any = None

    def send(self, topic: str, query: str, rows: Iterable[WindowRow]) -> Counter[str]:
        """Send rows, and return how many of each kind. TooLargeWindowError for one that the topic does not take."""
        found: Counter[str] = Counter()
        with self._forgetting():
            for row in rows:
                if not found:
                    self._prepare(topic)
                self._produce(topic, query, row)
                found[row.kind] += 1
        return found

    def flush(self, topic: str) -> None:
        """Wait until all replicas have the rows that were sent to a topic. TooLargeWindowError as :meth:`send`."""
        with self._forgetting():
            self._wait(topic)

    def close(self) -> None:
        """Close the connection; a later row opens it again."""
        with self._lock:
            self._forget()

    @contextmanager
    def _forgetting(self) -> Iterator[None]:
        """Forget everything where something fails within, so that a repeat begins anew."""
        with self._lock:
            try:
                yield
            except BaseException:
                self._forget()
                raise

    def _prepare(self, topic: str) -> None:
        from confluent_kafka import Producer

        if topic not in self._known:
            self._cluster.ensure_topics([topic], COMPACTED)
            limit = self._cluster.record_limits([topic])[topic]
            if limit < self._batch_bytes:
                # What is larger as a whole is refused as a whole.
                self._wait(topic)
                self._producer, self._batch_bytes = None, limit
            self._known.add(topic)
        if self._producer is None:
            self._producer = Producer(
                {
                    "acks": "all",
                    "enable.idempotence": True,
                    "linger.ms": 5,
                    "batch.size": self._batch_bytes,
                    "compression.type": "gzip",
                    # The partitions that Java's producer and kafka-python choose for keys.
                    "partitioner": "murmur2_random",
                    "allow.auto.create.topics": False,
                    "message.timeout.ms": ACKNOWLEDGED_WITHIN_S * 1_000,
                    "message.max.bytes": max(self._cluster.request_bytes, _BATCH_BYTES),
                    "delivery.report.only.error": True,
                    "log_level": 0,
                    **self._cluster.client.librdkafka_options(),
                    "error_cb": self._hear,
                }
            )

    def _produce(self, topic: str, query: str, row: WindowRow) -> None:
        from confluent_kafka import KafkaException

        assert self._producer is not None
        headers: list[tuple[str, str | bytes | None]] = [
            (HEADER_QUERY, query.encode()),
            (HEADER_EVENT, row.identity.encode()),
        ]
        while len(self._producer) >= _QUEUED_MOST:
            self._producer.poll(_POLL_S)
            self._check(topic)
        try:
            self._producer.produce(topic, row.value, row.key, headers=headers, on_delivery=self._report)
        except KafkaException as error:
            self._failed = error.args[0]
        self._producer.poll(0)
        self._check(topic)

    def _wait(self, topic: str) -> None:
        while self._producer is not None and len(self._producer):
            self._producer.poll(_POLL_S)
            self._check(topic)
        self._check(topic)

    def _report(self, error: Any, _message: Any) -> None:
        if error is not None and self._failed is None:
            self._failed = error

    def _hear(self, error: Any) -> None:
        """Take what librdkafka says beside the reports, where nothing goes on without its remedy."""
        from confluent_kafka import KafkaError as ClientError

        if error.fatal() or error.code() in (ClientError._AUTHENTICATION, ClientError._SSL):
            self._failed = error

    def _check(self, topic: str) -> None:
        from confluent_kafka import KafkaError as ClientError

        if self._failed is None:
            return
        error, client = self._failed, self._cluster.client
        if error.code() == ClientError.MSG_SIZE_TOO_LARGE:
            remedy = "takes no row so large: raise its max.message.bytes, or leave measures of long texts out"
            raise TooLargeWindowError("topic", topic, remedy)
        if error.code() == ClientError._AUTHENTICATION:
            raise client.not_admitted(error.str())
        if error.code() in (ClientError._MSG_TIMED_OUT, ClientError._TRANSPORT, ClientError._SSL):
            raise client.silent(error.str())
        raise KafkaError("Kafka", client.bootstrap_servers, f"refuses windows: {one_line(error.str())}")

    def _forget(self) -> None:
        producer, self._producer = self._producer, None
        self._known.clear()
        self._batch_bytes = _BATCH_BYTES
        if producer is not None:
            producer.purge()
            producer.flush(_CLOSED_WITHIN_S)
        # What was purged has been reported as well.
        self._failed = None
