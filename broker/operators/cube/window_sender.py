"""The producer of windows: it sends rows to the topics of cubes, and waits until Kafka has acknowledged them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from asc.operators.cube.window_rows import WindowRow
from broker.errors import TooLargeWindowError
from broker.kafka.client import ACKNOWLEDGED_WITHIN_S
from broker.kafka.cluster import KafkaCluster
from broker.kafka.retention import COMPACTED
from broker.operators.headers import HEADER_EVENT, HEADER_QUERY

_BATCH_BYTES = 1 << 18
_CLOSED_WITHIN_S = 2


class WindowSender:
    """The producer of the windows of a stream, for all its cubes. Thread-safe; calls run one at a time.

    Rows of one key keep their order. A missing topic is created. Every method that uses Kafka raises KafkaError on
    failure. After a failure the producer is closed, no row is in flight, and the next call checks the topics again.
    Cost: some 40 us for each row.
    """

    def __init__(self, cluster: KafkaCluster) -> None:
        self._cluster = cluster
        self._lock = threading.Lock()
        self._producer: Any = None
        self._known: set[str] = set()
        self._batch_bytes = _BATCH_BYTES
        self._failed: BaseException | None = None

    def send(self, topic: str, query: str, rows: Iterable[WindowRow]) -> Counter[str]:
        """Send rows of the query ``query``, and return the number of rows of each type. Raise TooLargeWindowError if
        the topic does not accept a row.
        """
        counts: Counter[str] = Counter()
        with self._forgetting():
            for row in rows:
                with self._talking(topic):
                    self._prepare(topic)
                    headers = [(HEADER_QUERY, query.encode()), (HEADER_EVENT, row.identity.encode())]
                    self._producer.send(topic, row.value, key=row.key, headers=headers).add_errback(self._report)
                    self._check()
                counts[row.kind] += 1
        return counts

    def flush(self, topic: str) -> None:
        """Wait until all replicas have the rows that were sent to a topic. Raise TooLargeWindowError as :meth:`send`
        does.
        """
        with self._forgetting(), self._talking(topic):
            self._wait()

    def close(self) -> None:
        """Close the connection. A later row opens another one. A thread that is waiting for Kafka is not
        interrupted.
        """
        if self._lock.acquire(timeout=_CLOSED_WITHIN_S):
            try:
                self._forget()
            finally:
                self._lock.release()

    @contextmanager
    def _forgetting(self) -> Iterator[None]:
        """Reset the state of the sender if an error occurs within the context, so that a repeat starts from the
        beginning.
        """
        with self._lock:
            try:
                yield
            except BaseException:
                self._forget()
                raise

    @contextmanager
    def _talking(self, topic: str) -> Iterator[None]:
        """Convert the errors of Kafka's client within the context to KafkaError."""
        from kafka.errors import MessageSizeTooLargeError, RecordListTooLargeError

        with self._cluster.client.clear_errors():
            try:
                yield
            except (MessageSizeTooLargeError, RecordListTooLargeError) as error:
                remedy = "takes no row so large: raise its max.message.bytes, or leave measures of texts out"
                raise TooLargeWindowError("topic", topic, remedy) from error

    def _prepare(self, topic: str) -> None:
        if topic not in self._known:
            self._cluster.ensure_topics([topic], COMPACTED)
            limit = self._cluster.record_limits([topic])[topic]
            if limit < self._batch_bytes:
                # Kafka refuses a whole producer batch that exceeds the topic's limit. So send the pending rows, and
                # open a producer with smaller batches.
                self._wait()
                self._close()
                self._batch_bytes = limit
            self._known.add(topic)
        if self._producer is None:
            self._producer = self._cluster.client.producer(
                batch_size=self._batch_bytes,
                compression_type="gzip",
                linger_ms=20,
                max_request_size=self._cluster.request_bytes,
                delivery_timeout_ms=ACKNOWLEDGED_WITHIN_S * 1_000,
            )

    def _wait(self) -> None:
        if self._producer is not None:
            self._producer.flush(timeout=ACKNOWLEDGED_WITHIN_S)
        self._check()

    def _report(self, error: BaseException) -> None:
        if self._failed is None:
            self._failed = error

    def _check(self) -> None:
        if self._failed is not None:
            raise self._failed

    def _forget(self) -> None:
        self._close()
        self._known.clear()
        self._batch_bytes = _BATCH_BYTES

    def _close(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            with suppress(Exception):
                producer.close(timeout=_CLOSED_WITHIN_S)
        # Reset the failure last, because the close also reports failures of pending rows.
        self._failed = None
