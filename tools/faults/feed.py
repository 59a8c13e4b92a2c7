"""A publisher of numbered records at a steady rate, which continues after Kafka has been unavailable."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

COLUMNS = {"n": "BIGINT", "g": "INTEGER", "s": "VARCHAR", "d": "DOUBLE"}
"""The DuckDB type of each column of a record."""

DDL = "n BIGINT, g INT, s STRING, d DOUBLE"
"""The columns of a record for the broker, as Spark DDL."""

Record = Callable[[int], tuple[bytes | None, bytes, list[tuple[str, bytes]]]]

_WORDS = ("abc", "ABC", "Äpfel", "", "a%b", "zoë", None)
_UNDECODABLE_EVERY = 101
_PULSE_S = 0.05
_DELIVERY_S = 300_000


def record_of(number: int) -> tuple[bytes | None, bytes, list[tuple[str, bytes]]]:
    """Return key, value and headers of the record with this number. One record in 101 is not JSON."""
    random_ = random.Random(number)
    group = number % 10
    key = None if group == 9 else f"k{group}".encode()
    headers = [("number", str(number).encode()), ("twice", b"1"), ("twice", b"\xff\x00")][: 1 + number % 3]
    if number % _UNDECODABLE_EVERY == 0:
        return key, b"{not json %d" % number, headers
    fields = {
        "n": number,
        "g": group if number % 13 else None,
        "s": random_.choice(_WORDS),
        "d": None if number % 17 == 0 else round(random_.uniform(-5, 5), 3),
    }
    return key, json.dumps(fields, ensure_ascii=bool(number % 2)).encode(), headers


class Feed:
    """A publisher of records, numbered from 0, at ``per_s`` records per second in a separate thread until it is closed.

    ``record``: returns key, value and headers for a number. ``end``: returns the number of the record before which the
    publisher pauses until readers have caught up; None means no bound. The bound limits the backlog on a machine that
    is too slow for the rate. ``acknowledged``: partition, offset and number of the records that Kafka has confirmed. A
    send waits for minutes while Kafka is unavailable. ``failure``: the exception if a send was abandoned nevertheless.
    """

    def __init__(
        self,
        producer: Callable[..., Any],
        topic: str,
        per_s: float,
        record: Record = record_of,
        end: Callable[[], int] | None = None,
    ) -> None:
        # With one request at a time, kafka-python keeps the order even if it sends one again.
        self._producer = producer(
            delivery_timeout_ms=_DELIVERY_S, max_block_ms=_DELIVERY_S, max_in_flight_requests_per_connection=1
        )
        self._topic = topic
        self._record = record
        self._per_s = per_s
        self._end = end
        self._over = threading.Event()
        self._pulse = threading.Lock()
        self._thread = threading.Thread(target=self._publish, name="feed", daemon=True)
        self.count = 0
        """The number of the next record."""
        self.acknowledged: list[tuple[int, int, int]] = []
        self.failure: BaseException | None = None

    def start(self) -> None:
        """Start publishing."""
        self._thread.start()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Suspend publishing within a ``with`` block, which begins when all records are acknowledged. Raise
        RuntimeError if records cannot be published.
        """
        with self._pulse:
            while len(self.acknowledged) < self.count:
                if self.failure is not None:
                    raise RuntimeError(f"records could not be published: {self.failure}")
                time.sleep(_PULSE_S)
            yield

    def close(self) -> None:
        """Stop publishing, and wait until everything is acknowledged."""
        self._over.set()
        self._thread.join()
        self._producer.flush()
        self._producer.close()

    def _publish(self) -> None:
        start_s, first = time.monotonic(), self.count
        try:
            while not self._over.wait(_PULSE_S):
                due = first + int((time.monotonic() - start_s) * self._per_s)
                if self._end is not None:
                    due = min(due, self._end())
                with self._pulse:
                    # Records that were due while Kafka was down are sent later, at most a second's records at a time.
                    self._send(range(self.count, min(due, self.count + round(self._per_s))))
        except Exception as error:
            self.failure = error

    def _send(self, numbers: range) -> None:
        for number in numbers:
            key, value, headers = self._record(number)
            sent = self._producer.send(self._topic, value, key=key, headers=headers)
            sent.add_callback(self._note, number)
            sent.add_errback(self._fail)
            self.count = number + 1

    def _note(self, number: int, found: Any) -> None:
        self.acknowledged.append((found.partition, found.offset, number))

    def _fail(self, error: BaseException) -> None:
        self.failure = error
