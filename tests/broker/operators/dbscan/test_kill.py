"""A daemon and workers that are killed while windows are written: nothing differs from a run without faults."""

from __future__ import annotations

import json
import os
import time
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from kafka import KafkaProducer

from asc.operators.dbscan.clusters import Clusters
from asc.operators.dbscan.definition import DbscanDefinition
from asc.operators.feed import Message, Observation, Settings, Watermarks
from broker.runtime import python_worker
from tests.child_processes import children

if TYPE_CHECKING:
    from conftest import Process, Received, Site

    from broker.kafka.embedded import EmbeddedKafka

# In the gate test_reader.py has the labels through Kafka, and test_worker_parts.py runs batches again.
pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(1_800)]

BEGIN_S = 1_700_000_000
STEP = 300
"""Records, and seconds of event time, between two faults."""

OPERATOR = {
    **{"name": "dbscan", "attributes": ["n % 29", "n * n % 31"], "min_samples": 3, "members": "changes"},
    **{"time": f"timestamp_seconds({BEGIN_S} + n)", "window_s": 60, "slide_s": 10, "key": "n"},
}
RADII = {"dense.1": 1.5, "dense.2": 3.0}


def observed(number: int, topic_end: int) -> Observation:
    assert number < topic_end
    values = (float(number % 29), float(number * number % 31))
    return Observation("dbscan", "t", str(number), (BEGIN_S + number) * 1_000_000, values, 0, number, ("s",))


def undisturbed(topic: str, source_topic: str, count: int) -> dict[str, tuple[str, str, str]]:
    """The key, value and source of each record by its identity, of a run over so many records without a fault."""
    queries = [
        DbscanDefinition.parse({**OPERATOR, "eps": eps}).query(own, topic, track="t", time="e", selection="s")
        for own, eps in RADII.items()
    ]
    settings = Settings("dbscan", source_topic, False, 200_000, tuple(own.settings() for own in queries), 10_000_000)
    messages: list[Message] = [settings, *(observed(number, count) for number in range(count))]
    messages.append(Watermarks({"e": (BEGIN_S + count - 11) * 1_000_000}))
    return {own.identity: (own.key, own.value, own.source) for own in Clusters().outputs(messages)}


class Run:
    """A daemon with two queries, and all that it wrote."""

    def __init__(self, process: Process, reader: Site, kafka: EmbeddedKafka) -> None:
        self.process = process
        self.count = 0
        self.topic = f"dense-{uuid.uuid4().hex}"
        self._reader, self._servers = reader, kafka.bootstrap_servers

    def start(self) -> None:
        self.process.start()
        body = {"id": "dense", "where": "n >= 0", "topic": self.topic}
        operator = {**OPERATOR, "eps": list(RADII.values())}
        answer = self.process.client.post("/v1/queries", json={**body, "operator": operator})
        assert answer.status_code == 201, answer.text

    def publish(self, count: int) -> None:
        producer = KafkaProducer(bootstrap_servers=self._servers)
        for number in range(self.count, self.count + count):
            producer.send(self.process.topic, json.dumps({"n": number}).encode(), partition=0)
        producer.flush()
        producer.close()
        self.count += count

    def written(self) -> list[Received]:
        return self._reader.read(self.topic)

    def await_more(self, before: int) -> None:
        deadline = time.monotonic() + 300
        while len(self.written()) <= before:
            assert time.monotonic() < deadline, self.process.log.read_text("utf-8")[-5_000:]
            time.sleep(0.05)

    def kill_daemon(self) -> None:
        child = self.process.child
        assert child is not None
        os.kill(child.pid, 9)
        child.wait()
        self.process.start()

    def kill_workers(self) -> None:
        assert self.process.child is not None
        name = python_worker.__name__
        daemons = [pid for java in children(self.process.child.pid, "java") for pid in children(java, name)]
        workers = [worker for pid in daemons for worker in children(pid, name)]
        assert workers
        for pid in (*daemons, *workers):
            with suppress(ProcessLookupError):
                os.kill(pid, 9)

    def found(self) -> dict[str, tuple[str, str, str]]:
        """Return the records of a consumer without repeats; a repeat is equal to the byte."""
        first: dict[str, Any] = {}
        for record in self.written():
            headers = {name: (value or b"").decode() for name, value in record.headers}
            own = ((record.key or b"").decode(), (record.value or b"").decode(), headers["asc-source"])
            assert first.setdefault(headers["asc-event"], own) == own
        return first


def test_after_kills_during_output_the_records_are_those_of_a_run_without(
    process: Process, reader: Site, kafka: EmbeddedKafka
) -> None:
    faults = int(os.environ.get("ASC_KILLS", "10"))
    run = Run(process, reader, kafka)
    run.start()
    for fault in range(faults):
        before = len(run.written())
        # In two parts: what the first one finds final is written with the second.
        run.publish(STEP)
        if fault:
            run.await_more(before)
        run.publish(STEP)
        if fault % 2:
            run.kill_workers()
        else:
            run.kill_daemon()
    wanted: dict[str, tuple[str, str, str]] = {}
    deadline = time.monotonic() + 600
    while True:
        # Each later record settles a second more: what was written is a beginning of what is wanted, and no less.
        run.publish(20)
        wanted = undisturbed(run.topic, process.topic, run.count)
        found = run.found()
        certain = undisturbed(run.topic, process.topic, faults * 2 * STEP)
        if found.keys() >= certain.keys():
            break
        assert time.monotonic() < deadline, process.log.read_text("utf-8")[-5_000:]
        time.sleep(1)
    assert len(certain) > 100
    assert found.items() <= wanted.items()
