"""Stopped, killed, refused and failing: the daemon goes on where it was, or says in one line why it does not."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from asc.errors import AscError
from broker.binding import BatchBindings
from broker.config import Config
from broker.daemon import Daemon
from broker.query import RegisteredQuery
from broker.registry import Registry
from broker.sections import KafkaConfig
from broker.topics import KafkaCluster

if TYPE_CHECKING:
    from conftest import Site
    from pyspark.sql import SparkSession

    from broker.runtime.kafka import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


PAST = datetime(2020, 1, 1, tzinfo=timezone.utc)


def numbers(start: int, count: int) -> list[bytes]:
    return [json.dumps({"n": n}).encode() for n in range(start, start + count)]


def restart(site: Site) -> None:
    assert site.daemon is not None
    site.daemon.stop()
    site.daemon = site.start()


def test_a_restarted_daemon_goes_on_where_it_was(site: Site) -> None:
    topic = site.register("kept", "n >= 0", labels={"a": "b"})["query"]["topic"]
    site.register("kept-asleep", "n >= 0", topic, paused=True)
    before = site.client.get("/v1/queries", params={"prefix": "kept"}).json()
    first = site.publish(numbers(0, 20))
    site.drain()
    assert site.daemon is not None
    site.daemon.stop()
    second = site.publish(numbers(20, 20))
    site.daemon = site.start()
    third = site.publish(numbers(40, 20))
    site.drain()
    assert site.client.get("/v1/queries", params={"prefix": "kept"}).json() == before
    assert [record.offset for record in site.read(topic)] == [*first, *second, *third]
    assert {tuple(record.queries) for record in site.read(topic)} == {("kept",)}


def test_a_replayed_batch_is_judged_by_the_version_it_was_bound_to(site: Site) -> None:
    """A crash after a batch was written and before it was committed, and a change of its query in between."""
    old, new = site.topic("bound-old"), site.topic("bound-new")
    version = site.register("bound", "n >= 0", old)["version"]
    site.drain()
    offsets = site.publish(numbers(0, 5))
    site.drain()
    assert site.daemon is not None
    site.daemon.stop()
    folder = site.config.spark.checkpoint_dir / site.stream("json")
    last = BatchBindings(folder / "bindings", folder / "spark" / "offsets").last()
    assert last is not None
    assert last.version == version
    # What is replayed is the batch of the last sentinel; so take its commit back, and those of the records before it.
    commits = folder / "spark" / "commits"
    for path in commits.glob(f"*{last.batch_id}*"):
        path.unlink()
    cluster = KafkaCluster(site.bootstrap_servers, KafkaConfig())
    cluster.ensure_topics([new])
    registry = Registry(cluster, site.config.kafka.registry_topic)
    registry.open()
    registry.write([RegisteredQuery("bound", site.stream("json"), "n >= 0 OR n IS NULL", new)])
    registry.close()
    cluster.close()
    replayed = len(site.read(site.config.dead_letter_topic(site.stream("json"))))
    site.daemon = site.start()
    site.drain()
    # The sentinel's batch came a second time, so it was replayed; its binding stayed what it was.
    assert len(site.read(site.config.dead_letter_topic(site.stream("json")))) == replayed + 3
    assert [record.offset for record in site.read(old)] == offsets
    (later,) = site.publish(numbers(5, 1))
    site.drain()
    assert [record.offset for record in site.read(new)] == [later]


def test_a_replayed_batch_gives_the_old_query_its_records_again(site: Site) -> None:
    old, new = site.topic("again-old"), site.topic("again-new")
    site.register("again", "n >= 0", old)
    site.drain()
    offsets = site.publish(numbers(0, 5))
    deadline = time.monotonic() + 60
    while len(site.read(old)) < 5:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert site.daemon is not None
    site.daemon.stop()
    folder = site.config.spark.checkpoint_dir / site.stream("json")
    last = BatchBindings(folder / "bindings", folder / "spark" / "offsets").last()
    assert last is not None
    assert last.end_offsets == {0: offsets[-1] + 1}
    for path in (folder / "spark" / "commits").glob(f"*{last.batch_id}*"):
        path.unlink()
    cluster = KafkaCluster(site.bootstrap_servers, KafkaConfig())
    cluster.ensure_topics([new])
    registry = Registry(cluster, site.config.kafka.registry_topic)
    registry.open()
    registry.write([RegisteredQuery("again", site.stream("json"), "n >= 0", new)])
    registry.close()
    cluster.close()
    site.daemon = site.start()
    site.drain()
    again = [record.offset for record in site.read(old)]
    assert set(again) == set(offsets)
    assert len(again) > len(offsets)
    assert site.read(new) == []


def test_a_query_that_no_longer_fits_its_stream_is_kept_and_said_so(site: Site) -> None:
    assert site.daemon is not None
    site.daemon.stop()
    cluster = KafkaCluster(site.bootstrap_servers, KafkaConfig())
    registry = Registry(cluster, site.config.kafka.registry_topic)
    registry.open()
    registry.write(
        [
            RegisteredQuery("gone-stream", "gone", "n > 1", "asc.gone"),
            RegisteredQuery("gone-column", site.stream("json"), "gone > 1", "asc.gone"),
            RegisteredQuery("gone-function", site.stream("json"), "array_contains(s, 1)", "asc.gone"),
            RegisteredQuery("gone-time", site.stream("json"), "n >= 0", "asc.gone", expires_at=PAST),
            RegisteredQuery("stays", site.stream("json"), "n >= 0", site.topic("stays")),
        ]
    )
    registry.close()
    cluster.close()
    site.daemon = site.start()
    assert site.client.get("/v1/queries/gone-stream").status_code == 200
    answer = site.client.post("/v1/queries/gone-column/explain", json={})
    assert "is not served: unknown column 'gone'" in answer.json()["error"]["message"]
    function = site.client.get("/v1/queries/gone-function").json()
    assert function["served"] is False
    assert "array_contains" in function["reason"]
    listed = site.client.get("/v1/queries", params={"prefix": "gone"}).json()["queries"]
    assert {query["id"]: query["served"] for query in listed} == dict.fromkeys(
        ("gone-stream", "gone-column", "gone-function"), False
    )
    # What is not served does not keep the others from their records, and what has expired never runs again.
    offsets = site.publish(numbers(0, 3))
    site.drain()
    assert [(record.offset, record.queries) for record in site.read(site.topic("stays"))] == [
        (offset, ["stays"]) for offset in offsets
    ]
    for query_id in ("gone-stream", "gone-column", "gone-function", "stays"):
        assert site.client.delete(f"/v1/queries/{query_id}").status_code == 200


@pytest.mark.slow
def test_a_deleted_destination_is_made_again(site: Site) -> None:
    from kafka.admin import KafkaAdminClient

    topic = site.register("vanishing", "n >= 0")["query"]["topic"]
    site.publish(numbers(0, 1))
    site.drain()
    admin = KafkaAdminClient(bootstrap_servers=site.bootstrap_servers)
    try:
        admin.delete_topics([topic])
    finally:
        admin.close()
    # The batch fails, the topic is made again, and the batch is run again.
    offsets = site.publish(numbers(1, 3))
    site.drain()
    assert [record.offset for record in site.read(topic)] == offsets
    assert site.client.get("/healthz").status_code == 200


# -- what keeps a daemon from starting


def started(config: Config, spark: SparkSession) -> str:
    with pytest.raises(AscError) as caught:
        Daemon(config, spark=spark).start()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def changed(config: Config, section: str, **change: Any) -> Config:
    return config.model_copy(update={section: getattr(config, section).model_copy(update=change)})


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_a_taken_port_is_named(site: Site, spark: SparkSession, taken_port: int) -> None:
    line = started(changed(site.config, "api", port=taken_port), spark)
    assert f"API address '127.0.0.1:{taken_port}': cannot be bound (Address already in use)" in line


def test_an_unreachable_kafka_is_named(site: Site, spark: SparkSession, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]
    config = changed(site.config, "kafka", bootstrap_servers=f"127.0.0.1:{free}", timeout_s=1.0)
    line = started(changed(config, "spark", checkpoint_dir=tmp_path), spark)
    assert line.startswith(f"Kafka '127.0.0.1:{free}': does not answer: check kafka.bootstrap_servers")


def test_a_checkpoint_folder_has_one_daemon(site: Site, spark: SparkSession) -> None:
    assert "belongs to another running daemon" in started(site.config, spark)


def test_a_missing_topic_that_may_not_be_made_is_named(site: Site, spark: SparkSession, tmp_path: Path) -> None:
    missing = f"missing-{uuid.uuid4().hex}"
    name = site.stream("json")
    stream = site.config.streams[name].model_copy(update={"topic": missing})
    config = changed(site.config, "kafka", allow_topic_creation=False).model_copy(update={"streams": {name: stream}})
    line = started(changed(config, "spark", checkpoint_dir=tmp_path), spark)
    assert f"missing topic '{missing}': create it, or set kafka.allow_topic_creation" in line


# -- a process of its own


class Process:
    """A daemon in a process of its own, as ``asc serve`` runs it."""

    def __init__(self, folder: Path, kafka: EmbeddedKafka) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = listener.getsockname()[1]
        own = uuid.uuid4().hex[:12]
        self.stream, self.topic = f"s-{own}", f"source-{own}"
        self.file = folder / "asc.toml"
        self.file.write_text(
            f"""
            [kafka]
            bootstrap_servers = "{kafka.bootstrap_servers}"
            registry_topic = "registry-{own}"
            [api]
            port = {self.port}
            [spark]
            master = "local[2]"
            driver_memory = "1g"
            max_records_per_batch = 1000
            [streams.{self.stream}]
            topic = "{self.topic}"
            format = "json"
            schema = "n INT"
            """,
            "utf-8",
        )
        self.log = folder / "daemon.log"
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=30)
        self.child: subprocess.Popen[bytes] | None = None

    def launch(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", "from cli.main import main; main()", "serve", "--config", str(self.file)]
        with self.log.open("ab") as log:
            self.child = subprocess.Popen(command, stderr=log, stdout=log)
        return self.child

    def start(self) -> None:
        self.child = self.launch()
        deadline = time.monotonic() + 180
        while not self.ready():
            assert self.child.poll() is None, self.log.read_text("utf-8")
            assert time.monotonic() < deadline, self.log.read_text("utf-8")
            time.sleep(0.2)

    def await_phase(self, phase: str) -> None:
        """Wait until /readyz names a phase of the start, or one that comes after it."""
        phases = ("connecting to Kafka", "starting Spark", "reading the registry", "starting the streaming jobs")
        wanted = phases[phases.index(phase) :]
        deadline = time.monotonic() + 180
        while self._reason() not in wanted:
            assert time.monotonic() < deadline, self.log.read_text("utf-8")
            time.sleep(0.02)

    def _reason(self) -> Any:
        try:
            return self.client.get("/readyz").json()["reason"]
        except httpx.TransportError:
            return None

    def ready(self) -> bool:
        try:
            return self.client.get("/readyz").status_code == 200
        except httpx.TransportError:
            return False


@pytest.fixture
def process(tmp_path: Path, kafka: EmbeddedKafka) -> Iterator[Process]:
    process = Process(tmp_path, kafka)
    yield process
    if process.child is not None and process.child.poll() is None:
        process.child.kill()
        process.child.wait()


@pytest.mark.slow
def test_a_killed_daemon_loses_nothing_and_a_stopped_one_repeats_nothing(
    process: Process, site: Site, kafka: EmbeddedKafka
) -> None:
    from kafka import KafkaProducer

    process.start()
    destination = f"out-{uuid.uuid4().hex[:12]}"
    body = {"id": "all", "where": "n >= 0", "topic": destination}
    assert process.client.post("/v1/queries", json=body).status_code == 201
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    count = 0

    def publish(records: int) -> None:
        nonlocal count
        for value in numbers(count, records):
            producer.send(process.topic, value, key=b"k")
        producer.flush()
        count += records

    try:
        publish(4_000)
        deadline = time.monotonic() + 120
        while not site.read(destination):
            assert time.monotonic() < deadline, process.log.read_text("utf-8")
            time.sleep(0.05)
        assert process.child is not None
        os.kill(process.child.pid, signal.SIGKILL)
        process.child.wait()
        process.start()
        publish(10)
        deadline = time.monotonic() + 120
        while len({record.offset for record in site.read(destination)}) < count:
            assert time.monotonic() < deadline, process.log.read_text("utf-8")
            time.sleep(0.2)
        assert {json.loads(record.value or b"")["n"] for record in site.read(destination)} == set(range(count))

        # Asked in the middle of a flow: in good order, so that nothing comes twice.
        for asked in (signal.SIGTERM, signal.SIGINT):
            before = len(site.read(destination))
            publish(4_000)
            deadline = time.monotonic() + 120
            while len(site.read(destination)) == before:
                assert time.monotonic() < deadline, process.log.read_text("utf-8")
                time.sleep(0.05)
            process.child.send_signal(asked)
            assert process.child.wait(timeout=25) == 0, process.log.read_text("utf-8")
            assert f"{asked.name}: ending the running batches" in process.log.read_text("utf-8")
            process.start()
            while len(site.read(destination)) < before + 4_000:
                assert time.monotonic() < deadline + 120, process.log.read_text("utf-8")
                time.sleep(0.2)
            tail = [json.loads(record.value or b"")["n"] for record in site.read(destination)[before:]]
            assert tail == list(range(count - 4_000, count))
    finally:
        producer.close()
    _reread(process)


def _reread(process: Process) -> None:
    """SIGHUP takes the monitor's settings from the file, and leaves them where the file is wrong."""
    assert process.child is not None

    def until(said: str, text: str) -> None:
        process.file.write_text(text, "utf-8")
        os.kill(process.child.pid, signal.SIGHUP)
        deadline = time.monotonic() + 60
        while said not in process.log.read_text("utf-8"):
            assert time.monotonic() < deadline, process.log.read_text("utf-8")
            time.sleep(0.1)

    text = process.file.read_text("utf-8")
    changed = f"{text}\n[monitor]\nenabled = false\nmu = 0.25\n"
    until("configuration read again: [monitor] changed", changed)
    until("configuration not taken: configuration key monitor.mu -1", changed.replace("0.25", "-1"))
    until("configuration: [limits] changed; that takes a new start", changed + "[limits]\nconjuncts = 3\n")
    settings = process.client.get("/v1/plan").json()["streams"][process.stream]["monitor"]["settings"]
    assert (settings["enabled"], settings["mu"]) == (False, 0.25)


@pytest.mark.slow
@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("phase", ["connecting to Kafka", "starting Spark", "starting the streaming jobs"])
def test_a_signal_during_the_start_ends_it(process: Process, asked: signal.Signals, phase: str) -> None:
    child = process.launch()
    process.await_phase(phase)
    child.send_signal(asked)
    assert child.wait(timeout=10) == 128 + asked
    log = process.log.read_text("utf-8")
    assert f"{asked.name}: stopped during the start" in log
    assert "Traceback" not in log


@pytest.mark.slow
def test_a_daemon_whose_jvm_dies_ends_with_a_line(process: Process) -> None:
    process.start()
    child = process.child
    assert child is not None
    (jvm,) = [
        int(pid)
        for children in Path(f"/proc/{child.pid}/task").glob("*/children")
        for pid in children.read_text("utf-8").split()
        if "SparkSubmit" in Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace")
    ]
    os.kill(jvm, signal.SIGKILL)
    assert child.wait(timeout=40) == 1
    assert "Spark 'its JVM': has died with -9: start the daemon again" in process.log.read_text("utf-8")


@pytest.mark.slow
def test_without_its_checkpoint_a_daemon_begins_anew(site: Site) -> None:
    assert site.daemon is not None
    site.daemon.stop()
    shutil.rmtree(site.config.spark.checkpoint_dir)
    site.daemon = site.start()
    topic = site.register("anew", "n >= 0")["query"]["topic"]
    offsets = site.publish(numbers(0, 3))
    site.drain()
    assert [record.offset for record in site.read(topic)] == offsets
