"""Killed, stopped in the middle, bereft of a process it needs: a daemon as ``asc serve`` runs it."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import threading
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from kafka import KafkaProducer

from broker.access.secret import digest, new_secret
from broker.config.config import Config
from broker.daemon.process import _read_again, _start_beside
from broker.daemon.signals import Signals
from broker.kafka.embedded import EmbeddedKafka
from tests.child_processes import children

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import OwnNode, Process, Site

    ProcessOf = Callable[[Path, EmbeddedKafka | None], Process]

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(900)]


def numbers(start: int, count: int) -> list[bytes]:
    return [json.dumps({"n": n}).encode() for n in range(start, start + count)]


def publish(process: Process, kafka: EmbeddedKafka, start: int, count: int) -> None:
    """Send records numbered from ``start`` on to the process's stream, with one key."""
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    for value in numbers(start, count):
        producer.send(process.topic, value, key=b"k")
    producer.flush()
    producer.close()


def await_delivered(process: Process, reader: Site, topic: str, count: int) -> list[int]:
    """Wait until so many records are in the topic; the numbers in it, in order."""
    deadline = time.monotonic() + 180
    while len(found := reader.read(topic)) < count:
        assert time.monotonic() < deadline, process.log.read_text("utf-8")
        time.sleep(0.05)
    return [json.loads(record.value or b"")["n"] for record in found]


def start_with_a_query(process: Process) -> str:
    """Start the daemon and register a query that accepts every record; its topic."""
    process.start()
    topic = f"out-{uuid.uuid4().hex[:12]}"
    body = {"id": "all", "where": "n >= 0", "topic": topic}
    assert process.client.post("/v1/queries", json=body).status_code == 201
    return topic


@pytest.mark.slow
def test_a_killed_daemon_loses_nothing(process: Process, reader: Site, kafka: EmbeddedKafka) -> None:
    topic = start_with_a_query(process)
    publish(process, kafka, 0, 4_000)
    await_delivered(process, reader, topic, 1)
    assert process.child is not None
    os.kill(process.child.pid, signal.SIGKILL)
    process.child.wait()
    process.start()
    publish(process, kafka, 4_000, 10)
    deadline = time.monotonic() + 180
    while set(await_delivered(process, reader, topic, 4_010)) != set(range(4_010)):
        assert time.monotonic() < deadline, process.log.read_text("utf-8")


@pytest.mark.nightly
@pytest.mark.slow
def test_a_stopped_daemon_repeats_nothing(process: Process, reader: Site, kafka: EmbeddedKafka) -> None:
    """Stopped in the middle of a flow, it ends the running batches, so that nothing comes twice."""
    topic = start_with_a_query(process)
    publish(process, kafka, 0, 4_000)
    await_delivered(process, reader, topic, 1)
    assert process.child is not None
    process.child.send_signal(signal.SIGTERM)
    assert process.child.wait(timeout=25) == 0, process.log.read_text("utf-8")
    assert "SIGTERM: ending the running batches" in process.log.read_text("utf-8")
    process.start()
    assert await_delivered(process, reader, topic, 4_000) == list(range(4_000))
    _reread(process)
    _dies_with_its_jvm(process)


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


def _dies_with_its_jvm(process: Process) -> None:
    """Bereft of Spark, the daemon ends with a line that says so."""
    child = process.child
    assert child is not None
    (jvm,) = children(child.pid, "SparkSubmit")
    os.kill(jvm, signal.SIGKILL)
    assert child.wait(timeout=40) == 1
    log = process.log.read_text("utf-8")
    assert "Spark 'its JVM': has died with -9: start the daemon again" in log
    # Of Python's threads; what the JVM says of its own, with their names in quotes, is the JVM's.
    assert not re.search(r'Exception in thread (?!")', log)


def test_tokens_are_read_again_while_a_daemon_stands_by() -> None:
    """Its API answers for as long as it waits: nobody is to wait for a takeover with a token that was taken back."""

    class StandbyDaemon:
        def __init__(self) -> None:
            self.is_reread = threading.Event()

        def start(self) -> None:
            os.kill(os.getpid(), signal.SIGHUP)
            assert self.is_reread.wait(10)

        def reload_access(self) -> None:
            self.is_reread.set()

    signals, daemon = Signals(), StandbyDaemon()
    before = signal.signal(signal.SIGHUP, signals._handle)
    try:
        # What else a start reads of the configuration is read again after it.
        assert _start_beside(daemon, signals)  # type: ignore[arg-type]
        assert daemon.is_reread.is_set()
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_configuration_that_no_check_foresaw_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    class Serves:
        def reload_access(self) -> None:
            pass

        def reload(self, config: Config) -> None:
            raise AssertionError(config)

    def reread() -> Config:
        raise RecursionError("maximum recursion depth exceeded")

    with caplog.at_level(logging.ERROR):
        _read_again(Serves(), reread)  # type: ignore[arg-type]
    assert "configuration not taken: unexpected maximum recursion depth exceeded" in caplog.text


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize(
    ("phase", "asked"),
    [
        ("connecting to Kafka", signal.SIGTERM),
        ("starting Spark", signal.SIGINT),
        ("starting the streaming jobs", signal.SIGTERM),
    ],
)
def test_a_signal_during_the_start_ends_it(process: Process, phase: str, asked: signal.Signals) -> None:
    child = process.launch()
    process.await_phase(phase)
    child.send_signal(asked)
    assert child.wait(timeout=10) == 128 + asked
    log = process.log.read_text("utf-8")
    assert f"{asked.name}: stopped during the start" in log
    assert "Traceback" not in log


@pytest.mark.nightly
@pytest.mark.slow
def test_a_daemon_whose_embedded_kafka_dies_ends_with_a_line(tmp_path: Path, process_of: ProcessOf) -> None:
    process = process_of(tmp_path, None)
    process.start()
    child = process.child
    assert child is not None
    (supervisor,) = children(child.pid, "supervisor.py")
    (node,) = children(supervisor, "kafka.Kafka")
    os.kill(node, signal.SIGKILL)
    assert child.wait(timeout=40) == 1
    log = process.log.read_text("utf-8")
    assert f"embedded Kafka '{tmp_path}/kafka': has died: start the daemon again" in log
    assert "Traceback" not in log


@pytest.mark.nightly
@pytest.mark.slow
def test_a_log_of_json_is_json_in_every_line(process: Process, kafka: EmbeddedKafka) -> None:
    text = process.file.read_text("utf-8")
    process.file.write_text(f'{text}\n[log]\nformat = "json"\nbatches = true\n', "utf-8")
    # The JVM logs by itself: what it has to warn of is asked for here.
    process.prelude = """
import threading, time
from pyspark import SparkContext
def warn():
    while SparkContext._active_spark_context is None:
        time.sleep(0.1)
    manager = SparkContext._active_spark_context._jvm.org.apache.logging.log4j.LogManager
    throwable = SparkContext._active_spark_context._jvm.java.lang.RuntimeException
    manager.getLogger("a.b").warn('said "so"\\nand so \\x1b[2J é', throwable("its\\ncause"))
threading.Thread(target=warn, daemon=True).start()
"""
    process.start()
    topic = f"out-{uuid.uuid4().hex[:12]}"
    assert process.client.post("/v1/queries", json={"id": "all", "where": "n > 1", "topic": topic}).status_code == 201
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    for value in numbers(0, 5):
        producer.send(process.topic, value)
    producer.flush()
    producer.close()
    deadline = time.monotonic() + 60
    while '"asc.batch"' not in process.log.read_text("utf-8"):
        assert time.monotonic() < deadline, process.log.read_text("utf-8")
        time.sleep(0.1)
    assert process.child is not None
    process.child.send_signal(signal.SIGTERM)
    assert process.child.wait(timeout=25) == 0, process.log.read_text("utf-8")
    lines = process.log.read_text("utf-8").splitlines()
    # What Java itself says on its way up is no entry of a log.
    entries = [json.loads(line) for line in lines if not line.startswith(("NOTE: Picked up", "Picked up", "WARNING: "))]
    for each in entries:
        assert {"time", "level", "logger", "message"} <= set(each)
        assert each["time"].endswith("Z")
    (batch,) = [each for each in entries if each["logger"] == "asc.batch"][:1]
    assert (batch["stream"], batch["level"]) == (process.stream, "INFO")
    assert "records " in batch["message"]
    (of_jvm,) = [each for each in entries if each["logger"] == "a.b"]
    assert (of_jvm["level"], of_jvm["message"]) == ("WARNING", 'said "so"\nand so \x1b[2J é')
    assert "its" in of_jvm["error"]


@pytest.mark.nightly
@pytest.mark.slow
def test_a_batch_that_does_not_end_is_left_to_be_replayed(
    process_of: ProcessOf, own_node: OwnNode, reader_of: Callable[[EmbeddedKafka], Site], tmp_path: Path
) -> None:
    """Kafka stands still in the middle of a batch: the daemon is gone in time, and nothing is lost."""
    process, reader = process_of(tmp_path, own_node.kafka), reader_of(own_node.kafka)
    secret, tokens = new_secret(), tmp_path / "tokens.toml"
    tokens.write_text(f'[tokens.taken]\nsha256 = "{digest(secret)}"\n', "utf-8")
    text = process.file.read_text("utf-8").replace("[api]", "[api]\ntokens_file = 'tokens.toml'")
    process.file.write_text(text, "utf-8")
    process.client.headers["Authorization"] = f"Bearer {secret}"
    process.start()
    destination = f"out-{uuid.uuid4().hex[:12]}"
    body = {"id": "all", "where": "n >= 0", "topic": destination}
    assert process.client.post("/v1/queries", json=body).status_code == 201
    producer = KafkaProducer(bootstrap_servers=own_node.bootstrap_servers)
    for value in numbers(0, 10_000):
        producer.send(process.topic, value)
    producer.close()
    try:
        deadline = time.monotonic() + 120
        while not _is_suspended_in_a_batch(process, own_node):
            assert time.monotonic() < deadline, process.log.read_text("utf-8")
        assert process.child is not None
        process.child.send_signal(signal.SIGTERM)
        process.child.wait(timeout=30)
    finally:
        own_node.resume()
    assert "the running batch did not end in 15 s and will be run again" in process.log.read_text("utf-8")
    process.start()
    deadline = time.monotonic() + 120
    while len({record.offset for record in reader.read(destination)}) < 10_000:
        assert time.monotonic() < deadline, process.log.read_text("utf-8")
        time.sleep(0.2)
    _holds_in_a_storm_of_signals(process, tokens)


def _holds_in_a_storm_of_signals(process: Process, tokens: Path) -> None:
    """A token is taken back whatever else is wrong; one signal interrupts the handler of another: SIGHUP many times,
    then both that ask for the end.
    """
    child = process.child
    assert child is not None
    assert process.client.get("/v1/streams").status_code == 200
    tokens.write_text(f'[tokens.kept]\nsha256 = "{digest(new_secret())}"\n', "utf-8")
    text = process.file.read_text("utf-8")
    process.file.write_text(f"{text}\n[monitor]\nmu = -1\n", "utf-8")
    child.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + 60
    while process.client.get("/v1/streams").status_code != 401:
        assert time.monotonic() < deadline, process.log.read_text("utf-8")
    process.file.write_text(text, "utf-8")
    for storm in ([signal.SIGHUP], [signal.SIGHUP, signal.SIGTERM, signal.SIGINT]):
        for _ in range(5_000):
            for signum in storm:
                child.send_signal(signum)
    assert child.wait(timeout=25) == 0, process.log.read_text("utf-8")
    log = process.log.read_text("utf-8")
    assert "configuration read again" in log
    assert log.endswith("stopped\n")


def _is_suspended_in_a_batch(process: Process, node: OwnNode) -> bool:
    """Stop Kafka's process; whether that was in the middle of a batch, which stays so, else it goes on."""
    node.stop()
    folders = (process.checkpoint / "bindings", process.checkpoint / "spark" / "commits")
    stays_until = time.monotonic() + 4
    while time.monotonic() < stays_until:
        bound, done = ({path.name for path in folder.glob("[0-9]*")} for folder in folders)
        if not bound - done:
            break
        time.sleep(0.1)
    else:
        return True
    node.resume()
    time.sleep(0.05)
    return False


BIG = """
[layers.big]
topic = "{topic}"
properties = "low INT"
[limits]
join_nodes = 1000000000
"""


@pytest.mark.nightly
@pytest.mark.slow
def test_work_of_requests_ends_with_their_clients_and_with_the_daemon(process: Process) -> None:
    """A join that takes minutes: with its client gone it stops, and a daemon that is to stop does not wait for it."""
    topic = f"big-{uuid.uuid4().hex[:12]}"
    process.file.write_text(process.file.read_text("utf-8") + BIG.format(topic=topic), "utf-8")
    process.start()
    rows = ({"type": "Feature", "id": f"r{i}", "geometry": None, "properties": {"low": i}} for i in range(5_000))
    content = "\n".join(map(json.dumps, rows))
    headers = {"content-type": "application/x-ndjson"}
    put = process.client.post("/v1/layers/big/shapes", content=content, headers=headers)
    assert put.status_code == 200, put.text
    # Some thousand terms a shape: half an hour, were it made to its end.
    where = "n >= big.low OR n IN (" + ", ".join(str(2 * i) for i in range(3_500)) + ")"
    body = {"id": "over", "where": where, "join": {"layer": "big"}}

    def loads() -> list[object]:
        found: list[object] = process.client.get("/v1/loads").json()["loads"]
        return found

    def register() -> None:
        with suppress(httpx.TransportError):
            httpx.post(f"{process.client.base_url}/v1/queries", json=body, timeout=httpx.Timeout(900, read=2))

    def started_thread() -> threading.Thread:
        thread = threading.Thread(target=register)
        thread.start()
        deadline = time.monotonic() + 60
        while thread.is_alive() and not loads():
            assert time.monotonic() < deadline
        return thread

    started_thread().join()
    deadline = time.monotonic() + 60
    while loads():
        assert time.monotonic() < deadline, "its client is gone, and it goes on"
        time.sleep(0.1)
    child = process.child
    assert child is not None
    asking = started_thread()
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=60) == 0, process.log.read_text("utf-8")
    asking.join()
    log = process.log.read_text("utf-8")
    assert log.endswith("stopped\n")
    assert "Traceback" not in log
