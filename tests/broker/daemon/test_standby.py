"""Two daemons on one registry: one serves, and the other one goes on in its place."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pytest
from kafka import KafkaProducer

from broker.config.config import parse_config
from broker.daemon.daemon import Daemon
from broker.daemon.process import REPLACED
from broker.errors import BrokerError
from broker.plans.binding import ids_in
from tools.faults.delivery_ledger import Arrived, DeliveryAudit, DeliveryLedger, Life, Published
from tools.faults.processes import descendants

if TYPE_CHECKING:
    from conftest import Process, Received, Site

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600)]


class Feed:
    """Numbered records, one after the other."""

    def __init__(self, topic: str, kafka: EmbeddedKafka) -> None:
        self.count = 0
        self._topic = topic
        self._producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)

    def publish(self, records: int) -> None:
        for n in range(self.count, self.count + records):
            self._producer.send(self._topic, json.dumps({"n": n}).encode(), key=b"k")
        self._producer.flush()
        self.count += records

    def close(self) -> None:
        self._producer.close()


class Load:
    """Publishes records all the while, in a thread of its own."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._publish, name="load", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Publish no more; harmless when called again."""
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _publish(self) -> None:
        while not self._over.wait(0.1):
            self._feed.publish(10)


def await_reason(process: Process, reason: str | None) -> None:
    """Wait until /readyz gives that reason; None: until it is ready."""
    deadline = time.monotonic() + 400
    while not (process.ready() if reason is None else process.reason() == reason):
        assert time.monotonic() < deadline, process.log.read_text("utf-8")
        time.sleep(0.1)


def await_all(reader: Site, destination: str, count: int, process: Process) -> list[int]:
    """The numbers of what arrived, once all of them have."""
    deadline = time.monotonic() + 400
    while True:
        found = [json.loads(record.value or b"")["n"] for record in reader.read(destination)]
        if set(found) >= set(range(count)):
            return found
        assert time.monotonic() < deadline, process.log.read_text("utf-8")
        time.sleep(0.1)


def await_some(reader: Site, destination: str, process: Process) -> None:
    """Wait until records arrive."""
    deadline = time.monotonic() + 120
    while not reader.read(destination):
        assert time.monotonic() < deadline, process.log.read_text("utf-8")
        time.sleep(0.1)


def assert_repeats_are_equal(reader: Site, topic: str) -> None:
    """Of the outputs of an operator, those of one identity are the same output."""
    found: dict[bytes, set[tuple[bytes | None, bytes | None]]] = defaultdict(set)
    for record in reader.read(topic):
        (identity,) = (value for name, value in record.headers if name == "asc-event" and value)
        found[identity].add((record.key, record.value))
    assert len(found) > 50
    assert [identity for identity, outputs in found.items() if len(outputs) > 1] == []


def await_counted(process: Process, query_id: str, count: int) -> None:
    """Wait until a cube has so many records, and hold it against those of the feed: each once, and none missing."""
    deadline = time.monotonic() + 120
    while True:
        body = {"by": ["n % 7"], "live": True}
        found = process.client.post(f"/v1/queries/{query_id}/cube/query", json=body).raise_for_status().json()
        if sum(row["c"] for row in found["rows"]) >= count:
            break
        assert time.monotonic() < deadline, process.log.read_text("utf-8")
        time.sleep(0.1)
    expected = {rest: range(rest, count, 7) for rest in range(7)}
    assert {row["group"]["n % 7"]: (row["c"], row["s"]) for row in found["rows"]} == {
        rest: (len(numbers), sum(numbers)) for rest, numbers in expected.items()
    }
    assert (found["whole"], found["gaps"]) == (True, [])


def _is_refused(second: Process) -> None:
    """One that is no standby does not start beside one that serves."""
    assert second.launch().wait(timeout=120) == 1
    said = "another daemon serves it: stop that one, or start this one with --standby"
    assert said in second.log.read_text("utf-8")


@pytest.mark.nightly
def test_a_standby_takes_over_from_one_that_is_killed(
    process: Process, reader: Site, kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    process.start()
    destination = f"out-{uuid.uuid4().hex[:12]}"
    body = {"id": "all", "where": "n >= 0", "topic": destination}
    assert process.client.post("/v1/queries", json=body).status_code == 201
    feed, other = Feed(process.topic, kafka), process.twin(tmp_path / "other")
    other.options = ("--standby",)
    try:
        other.launch()
        await_reason(other, "standing by for another daemon")
        assert other.client.post("/v1/queries", json=body).status_code == 503
        _is_refused(process.twin(tmp_path / "third", checkpoint=tmp_path / "own"))
        assert process.ready()
        feed.publish(3_000)
        assert process.child is not None
        os.kill(process.child.pid, signal.SIGKILL)
        killed = time.monotonic()
        process.child.wait()
        feed.publish(1_000)
        await_reason(other, None)
        print(f"taken over in {time.monotonic() - killed:.1f} s")
        await_all(reader, destination, feed.count, other)
        assert other.client.post("/v1/queries", json={**body, "id": "more"}).status_code == 201

    finally:
        feed.close()
        if other.child is not None and other.child.poll() is None:
            other.child.kill()
            other.child.wait()


class Ledger:
    """The records due to each query, by the offsets that the daemons answered, and those in its topic."""

    def __init__(self, process: Process, reader: Site) -> None:
        self._process = process
        self._reader = reader
        self._lives: dict[str, Life] = {}
        self.topic = f"out-{uuid.uuid4().hex[:12]}"

    def put(self, daemon: Process, query_id: str, where: str) -> None:
        """Register a query."""
        body = {"where": where, "topic": self.topic}
        found = daemon.client.put(f"/v1/queries/{query_id}", json=body).raise_for_status().json()["effective_offsets"]
        offsets = {int(partition): offset for partition, offset in found.items()}
        self._lives[query_id] = Life(query_id, where, self.topic, must_from=offsets, may_from=offsets)

    def remove(self, daemon: Process, query_id: str) -> None:
        """Remove a query."""
        found = daemon.client.delete(f"/v1/queries/{query_id}").raise_for_status().json()["effective_offsets"]
        life = self._lives[query_id]
        life.must_until = life.may_until = {int(partition): offset for partition, offset in found.items()}

    def audit(self) -> DeliveryAudit:
        """Hold what arrived against what had to."""
        published = [
            Published(0, offset, record.key, record.value)
            for offset, record in enumerate(self._reader.read(self._process.topic))
        ]
        numbers = np.array([json.loads(record.value or b"")["n"] for record in published])

        def accepted(where: str) -> npt.NDArray[np.bool_]:
            divisor, rest = where.removeprefix("n % ").split(" = ")
            found: npt.NDArray[np.bool_] = numbers % int(divisor) == int(rest)
            return found

        ledger = DeliveryLedger(self._process.topic, published, self._lives.values(), accepted)
        return ledger.audit(map(self._arrived, self._reader.read(self.topic)), calm_until={})

    def _arrived(self, record: Received) -> Arrived:
        (source,) = (value.decode() for name, value in record.headers if name == "asc-source" and value)
        queries = tuple(value.decode() for name, value in record.headers if name == "asc-query" and value)
        return Arrived(self.topic, source, queries, record.key, record.value)


def stopped_whole(process: Process) -> list[int]:
    """Stop a daemon and all that it started: its JVM, and the Python workers of that."""
    assert process.child is not None
    pids = [process.child.pid, *descendants(process.child.pid)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    return pids


def stop_in_a_batch(process: Process, _flag: Path) -> list[int]:
    """Stop a daemon whose batch is bound and not committed; the processes that stand still."""
    bindings, commits = process.checkpoint / "bindings", process.checkpoint / "spark" / "commits"
    deadline = time.monotonic() + 120
    while max(ids_in(bindings), default=-1) <= max(ids_in(commits), default=-1):
        assert time.monotonic() < deadline, process.log.read_text("utf-8")
        time.sleep(0.001)
    return stopped_whole(process)


_SUSPENDED = """
import os, signal, time
from pathlib import Path
from broker.daemon import daemon
from broker.plans import binding

flag, write, check = Path("{flag}"), binding.write_synced, daemon.Daemon.check_processes
unaware_until = [0.0]

def write_later(path, *rest):
    if path.parent.name == "bindings" and flag.exists():
        unaware_until[0] = float("inf")
        flag.unlink()
        os.kill(os.getpid(), signal.SIGSTOP)
        unaware_until[0] = time.monotonic() + 10
    write(path, *rest)

def check_later(self):
    if time.monotonic() > unaware_until[0]:
        check(self)

binding.write_synced, daemon.Daemon.check_processes = write_later, check_later
"""
"""The code of a daemon that stands still between planning a batch and binding it, and for ten seconds after it goes on
does not look whether another one serves.
"""


def stop_before_a_binding(process: Process, flag: Path) -> list[int]:
    """Stop a daemon between planning a batch and binding it; the processes that stand still."""
    flag.touch()
    deadline = time.monotonic() + 120
    while flag.exists():
        assert time.monotonic() < deadline, process.log.read_text("utf-8")
        time.sleep(0.001)
    return stopped_whole(process)


@pytest.mark.nightly
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("stop", [stop_in_a_batch, stop_before_a_binding])
def test_a_standby_takes_over_from_one_that_stands_still_and_no_batch_has_two_plans(
    process: Process,
    reader: Site,
    kafka: EmbeddedKafka,
    tmp_path: Path,
    stop: Callable[[Process, Path], list[int]],
) -> None:
    process.prelude = _SUSPENDED.format(flag=tmp_path / "flag")
    process.start()
    ledger, events = Ledger(process, reader), f"events-{uuid.uuid4().hex[:12]}"
    ledger.put(process, "all", "n % 1 = 0")
    ledger.put(process, "even", "n % 2 = 0")
    operator = {"name": "events", "key": "CAST(n % 50 AS STRING)", "time": "_timestamp", "lost_after_s": 1}
    body = {"where": "n % 4 < 2", "topic": events, "operator": operator}
    process.client.put("/v1/queries/changes", json=body).raise_for_status()
    operator = {"name": "cube", "dimensions": [["n % 7"]], "measures": ["count(*) AS c", "sum(n) AS s"], "grain_s": 60}
    body = {"where": "n >= 0", "topic": f"cube-{uuid.uuid4().hex[:12]}", "operator": operator}
    process.client.put("/v1/queries/counts", json=body).raise_for_status()
    feed, other = Feed(process.topic, kafka), process.twin(tmp_path / "other")
    other.options = ("--standby",)
    stopped: list[int] = []
    load = Load(feed)
    try:
        other.launch()
        await_reason(other, "standing by for another daemon")
        load.start()
        await_some(reader, ledger.topic, process)
        stopped = stop(process, tmp_path / "flag")
        start_s = time.monotonic()
        await_reason(other, None)
        print(f"taken over in {time.monotonic() - start_s:.1f} s")
        # The plans differ from now on.
        ledger.remove(other, "even")
        ledger.put(other, "third", "n % 3 = 0")
        await_all(reader, ledger.topic, feed.count, other)
        for pid in reversed(stopped):
            os.kill(pid, signal.SIGCONT)
        assert process.child is not None
        assert process.child.wait(timeout=120) == REPLACED
        assert "another daemon serves it: this one stops" in process.log.read_text("utf-8")
        load.close()
        await_all(reader, ledger.topic, feed.count, other)
        assert other.ready()
        audit = ledger.audit()
        print(audit)
        assert audit.sound, str(audit)
        assert_repeats_are_equal(reader, events)
        await_counted(other, "counts", feed.count)
    finally:
        load.close()
        feed.close()
        for pid in stopped:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if other.child is not None and other.child.poll() is None:
            other.child.kill()
            other.child.wait()


def test_a_standby_needs_a_kafka_of_both(tmp_path: Path) -> None:
    streams = {"s": {"topic": "t", "format": "json", "schema": "n INT"}}
    config = parse_config({"streams": streams, "spark": {"checkpoint_dir": str(tmp_path)}})
    with pytest.raises(BrokerError, match="two daemons have no Kafka in common"):
        Daemon(config, is_standby=True)
