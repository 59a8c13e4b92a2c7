"""A sender of records at a steady rate, and a receiver of deliveries. Each runs in a separate process, so that its work
does not delay the measured process.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import numpy.typing as npt

from workloads.subscribers import records

Seconds = npt.NDArray[np.float64]

_TICK_S = 0.005
"""The seconds between two checks in which the sender sends the records that are due."""

_POLL_MS = 20
_SETTLED_S = 120.0
_SENT = b'"sent":'


@dataclass(frozen=True, slots=True)
class Received:
    """The received deliveries in order of arrival. For each delivery, it has the times at which the record was created
    and received, in seconds since the epoch.

    ``sent`` and ``received`` are arrays of equal length.
    """

    sent: Seconds
    received: Seconds

    @property
    def latency(self) -> Seconds:
        """The latency of each delivery in seconds."""
        return self.received - self.sent

    def between(self, first: float, end: float) -> Received:
        """Return the deliveries of records that were created from ``first`` to before ``end``."""
        chosen = (self.sent >= first) & (self.sent < end)
        return Received(self.sent[chosen], self.received[chosen])


@contextmanager
def receiving(bootstrap_servers: str, topics: Sequence[str]) -> Iterator[Receiver]:
    """Receive, in another process, the records that arrive in topics during the block. The process is ready when the
    block begins.
    """
    context = multiprocessing.get_context("spawn")
    connection, others = context.Pipe()
    process = context.Process(target=_receive, args=(others, bootstrap_servers, list(topics)), daemon=True)
    process.start()
    others.close()
    try:
        connection.recv()
        yield Receiver(connection)
    finally:
        connection.close()
        process.join(timeout=10)
        process.kill()


class Receiver:
    """A client of the receiving process. The client returns the deliveries received so far."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def count(self) -> int:
        """Return the number of deliveries since the last call of :meth:`taken`."""
        self._connection.send("count")
        found: int = self._connection.recv()
        return found

    def settle(self, quiet_s: float) -> None:
        """Wait until at least one delivery has been received, and then no delivery for ``quiet_s`` seconds. Wait at
        most two minutes.
        """
        give_up, before = time.monotonic() + _SETTLED_S, 0
        while time.monotonic() < give_up:
            time.sleep(quiet_s)
            count = self.count()
            if count == before > 0:
                return
            before = count

    def taken(self) -> Received:
        """Return all deliveries since the last call, and remove them from the receiver."""
        self._connection.send("take")
        sent, received = self._connection.recv()
        return Received(np.frombuffer(sent), np.frombuffer(received))


def make_topics(bootstrap_servers: str, *topics: str, partitions: int = 1) -> None:
    """Create topics with ``partitions`` partitions each."""
    from kafka import KafkaAdminClient

    admin: Any = KafkaAdminClient(bootstrap_servers=bootstrap_servers)
    admin.create_topics({name: {"num_partitions": partitions, "replication_factor": 1} for name in topics})
    admin.close()


def send_paced(bootstrap_servers: str, topic: str, rate: float, seconds: float) -> int:
    """Send ``rate`` records per second for ``seconds`` seconds from another process. Return the number of
    records sent.
    """
    context = multiprocessing.get_context("spawn")
    own, others = context.Pipe()
    process = context.Process(target=_send, args=(others, bootstrap_servers, topic, rate, seconds), daemon=True)
    process.start()
    others.close()
    try:
        sent: int = own.recv()
    except EOFError:
        raise RuntimeError(f"the process that sends to {topic} has ended: see the lines above") from None
    finally:
        process.join(timeout=10)
    return sent


def spread(latency: Seconds) -> dict[str, float]:
    """Return the median, the 99th percentile and the maximum of the latencies. Raise RuntimeError if there are none."""
    if not len(latency):
        raise RuntimeError("nothing was delivered")
    p50, p99 = np.percentile(latency, (50, 99)).tolist()
    return {"p50_s": round(p50, 4), "p99_s": round(p99, 4), "worst_s": round(float(latency.max()), 4)}


def _send(connection: Connection, bootstrap_servers: str, topic: str, rate: float, seconds: float) -> None:
    from kafka import KafkaProducer

    producer: Any = KafkaProducer(bootstrap_servers=bootstrap_servers, linger_ms=5)
    # Write into each record the time at which it is due. If the sender is late, the delay then counts as latency.
    due = 0.0
    made = records(now=lambda: due)
    # Request the topic's metadata before the first record, so that the first record does not wait for the metadata.
    producer.partitions_for(topic)
    start, begin_s, count = time.monotonic(), time.time(), 0
    while (elapsed := time.monotonic() - start) < seconds:
        for _ in range(int(elapsed * rate) + 1 - count):
            due = begin_s + count / rate
            producer.send(topic, next(made))
            count += 1
        time.sleep(_TICK_S)
    producer.flush()
    producer.close()
    connection.send(count)


def _receive(connection: Connection, bootstrap_servers: str, topics: list[str]) -> None:
    from kafka import KafkaConsumer, TopicPartition

    consumer: Any = KafkaConsumer(
        bootstrap_servers=bootstrap_servers, auto_offset_reset="earliest", fetch_max_wait_ms=_POLL_MS
    )
    partitions = [TopicPartition(topic, p) for topic in topics for p in consumer.partitions_for_topic(topic) or ()]
    consumer.assign(partitions)
    consumer.seek_to_end()
    for partition in partitions:
        consumer.position(partition)
    connection.send(None)
    sent: list[float] = []
    received: list[float] = []
    while True:
        for found in consumer.poll(timeout_ms=_POLL_MS).values():
            now = time.time()
            for record in found:
                value = record.value
                begin = value.index(_SENT) + len(_SENT)
                sent.append(float(value[begin : value.index(b",", begin)]))
                received.append(now)
        try:
            if not connection.poll():
                continue
            if connection.recv() == "count":
                connection.send(len(sent))
            else:
                connection.send((np.array(sent).tobytes(), np.array(received).tobytes()))
                sent, received = [], []
        except (EOFError, OSError):
            return
