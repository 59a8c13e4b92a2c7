"""Two daemons on one registry: one serves, and the other one goes on in its place."""

from __future__ import annotations

import json
import os
import signal
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from kafka import KafkaProducer

from broker.config.config import parse_config
from broker.daemon.daemon import Daemon
from broker.errors import BrokerError

if TYPE_CHECKING:
    from conftest import Process, Site

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


def await_reason(process: Process, reason: str | None) -> None:
    """Wait until /readyz gives that reason; None: until it is ready."""
    deadline = time.monotonic() + 180
    while not (process.ready() if reason is None else process.reason() == reason):
        assert time.monotonic() < deadline, process.log.read_text("utf-8")
        time.sleep(0.1)


def await_all(reader: Site, destination: str, count: int, process: Process) -> list[int]:
    """The numbers of what arrived, once all of them have."""
    deadline = time.monotonic() + 120
    while True:
        found = [json.loads(record.value or b"")["n"] for record in reader.read(destination)]
        if set(found) == set(range(count)):
            return found
        assert time.monotonic() < deadline, process.log.read_text("utf-8")
        time.sleep(0.1)


def _is_refused(second: Process) -> None:
    """One that is no standby does not start beside one that serves."""
    assert second.launch().wait(timeout=120) == 1
    said = "another daemon serves it: stop that one, or start this one with --standby"
    assert said in second.log.read_text("utf-8")


@pytest.mark.nightly
def test_a_standby_takes_over_from_one_that_is_killed_and_then_from_one_that_stands_still(
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

        # The first one is started again, as a standby now; and the one that serves stands still for a while.
        process.options = ("--standby",)
        process.launch()
        await_reason(process, "standing by for another daemon")
        assert other.child is not None
        os.kill(other.child.pid, signal.SIGSTOP)
        await_reason(process, "waiting for the checkpoint folder")
        os.kill(other.child.pid, signal.SIGCONT)
        assert other.child.wait(timeout=40) == 1
        assert "another daemon serves it: this one stops" in other.log.read_text("utf-8")
        feed.publish(1_000)
        await_all(reader, destination, feed.count, process)
        await_reason(process, None)
        listed = process.client.get("/v1/queries").json()["queries"]
        assert [query["id"] for query in listed] == ["all", "more"]
    finally:
        feed.close()
        if other.child is not None and other.child.poll() is None:
            other.child.kill()
            other.child.wait()


def test_a_standby_needs_a_kafka_of_both(tmp_path: Path) -> None:
    streams = {"s": {"topic": "t", "format": "json", "schema": "n INT"}}
    config = parse_config({"streams": streams, "spark": {"checkpoint_dir": str(tmp_path)}})
    with pytest.raises(BrokerError, match="two daemons have no Kafka in common"):
        Daemon(config, stands_by=True)
