"""The embedded Kafka: comes up, keeps its data, goes with its owner, says what is wrong."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic

from broker.errors import KafkaError
from broker.kafka.embedded import EmbeddedKafka, new_cluster_id

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

_OWNER = """
import sys, time
from broker.kafka.embedded import EmbeddedKafka
with EmbeddedKafka(sys.argv[1]) as node:
    print(node.bootstrap_servers, flush=True)
    time.sleep(600)
"""


def _processes(data_dir: Path) -> list[int]:
    """Processes whose command line names the folder, the owner left out."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if f"{data_dir}/server.properties" in command:
                found.append(int(entry.name))
    return found


def _wait_for_none(data_dir: Path) -> None:
    deadline = time.monotonic() + 120
    while _processes(data_dir):
        assert time.monotonic() < deadline, "a process was left behind"
        time.sleep(0.1)


def _write(servers: str, topic: str, value: bytes) -> None:
    admin = KafkaAdminClient(bootstrap_servers=servers)
    if topic not in admin.list_topics():
        admin.create_topics([NewTopic(topic, num_partitions=1, replication_factor=1)])
    admin.close()
    producer = KafkaProducer(bootstrap_servers=servers, acks="all")
    producer.send(topic, value).get(timeout=30)
    producer.close()


def _read(servers: str, topic: str, count: int) -> list[bytes]:
    consumer = KafkaConsumer(topic, bootstrap_servers=servers, auto_offset_reset="earliest", consumer_timeout_ms=30_000)
    values: list[bytes] = []
    for record in consumer:
        values.append(record.value)
        if len(values) == count:
            break
    consumer.close()
    return values


def _cluster_id(data_dir: Path) -> str:
    found = re.search(r"^cluster.id=(.*)$", (data_dir / "log" / "meta.properties").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that owns a node in ``tmp_path / "node"`` and has said where it answers."""
    process = subprocess.Popen(
        [sys.executable, "-c", _OWNER, str(tmp_path / "node")], stdout=subprocess.PIPE, text=True
    )
    yield process
    process.kill()
    process.wait()
    _wait_for_none(tmp_path / "node")


def _said(owner: subprocess.Popen[str]) -> str:
    assert owner.stdout is not None
    return owner.stdout.readline().strip()


def test_no_identity_looks_like_an_option_of_a_command() -> None:
    # One in 64 would begin with a dash.
    drawn = {new_cluster_id() for _ in range(5_000)}
    assert len(drawn) == 5_000
    assert all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{21}", text) for text in drawn)


def test_stopped_and_started_again_it_has_its_topics_and_identity(tmp_path: Path) -> None:
    node = EmbeddedKafka(tmp_path / "node")
    with node:
        _write(node.bootstrap_servers, "greetings", b"one")
        first, cluster = node.bootstrap_servers, _cluster_id(node.data_dir)
        assert node.running
    assert not node.running
    assert _processes(node.data_dir) == []
    assert (node.data_dir / "log" / ".kafka_cleanshutdown").exists()
    with pytest.raises(KafkaError, match="not started"):
        _ = node.bootstrap_servers
    # Somebody else has the port now: clients are told the new one.
    with socket.socket() as taker:
        taker.bind(("127.0.0.1", int(first.rpartition(":")[2])))
        taker.listen()
        with node:
            assert node.bootstrap_servers != first
            assert _cluster_id(node.data_dir) == cluster
            _write(node.bootstrap_servers, "greetings", b"two")
            assert _read(node.bootstrap_servers, "greetings", 2) == [b"one", b"two"]


def test_a_folder_has_one_owner(tmp_path: Path, owner: subprocess.Popen[str]) -> None:
    _said(owner)
    with pytest.raises(KafkaError) as raised:
        EmbeddedKafka(tmp_path / "node").start()
    assert f"belongs to the running process {owner.pid}" in str(raised.value)


@pytest.mark.nightly
def test_the_owner_killed_it_goes_too_and_the_next_owner_has_the_data(
    tmp_path: Path, owner: subprocess.Popen[str]
) -> None:
    _write(_said(owner), "greetings", b"one")
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    # At once: the next owner waits for the dead one's node to leave.
    with EmbeddedKafka(tmp_path / "node") as node:
        assert _read(node.bootstrap_servers, "greetings", 1) == [b"one"]
    _wait_for_none(tmp_path / "node")


@pytest.mark.nightly
def test_killed_itself_it_starts_again_with_its_data(tmp_path: Path) -> None:
    node = EmbeddedKafka(tmp_path / "node")
    node.start()
    _write(node.bootstrap_servers, "greetings", b"one")
    # The supervisor and the node, in one blow.
    for process in _processes(node.data_dir):
        os.kill(process, signal.SIGKILL)
    deadline = time.monotonic() + 120
    while node.running:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    node.start()
    try:
        assert _read(node.bootstrap_servers, "greetings", 1) == [b"one"]
    finally:
        node.stop()
    assert _processes(node.data_dir) == []


@pytest.mark.nightly
def test_the_supervisor_killed_the_node_goes_too(tmp_path: Path, owner: subprocess.Popen[str]) -> None:
    _said(owner)
    supervisor = min(_processes(tmp_path / "node"))
    os.kill(supervisor, signal.SIGKILL)
    _wait_for_none(tmp_path / "node")


def test_a_fixed_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.socket() as taker:
        taker.bind(("127.0.0.1", 0))
        taker.listen()
        port = taker.getsockname()[1]
        with pytest.raises(KafkaError, match=rf"port {port}: is taken"):
            EmbeddedKafka(tmp_path / "node", port=port).start()
    with EmbeddedKafka(tmp_path / "node", port=port) as node:
        assert node.bootstrap_servers == f"127.0.0.1:{port}"


def test_a_setting_that_is_wrong_is_named(tmp_path: Path) -> None:
    with pytest.raises(KafkaError) as raised:
        EmbeddedKafka(tmp_path / "node", settings={"num.network.threads": "many"}).start()
    assert "num.network.threads" in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.nightly
def test_a_node_that_does_not_come_up_says_why_and_where_its_log_is(tmp_path: Path) -> None:
    with EmbeddedKafka(tmp_path / "node") as node:
        pass
    other = {"node.id": "2", "controller.quorum.voters": "2@127.0.0.1:1"}
    with pytest.raises(KafkaError) as raised:
        EmbeddedKafka(tmp_path / "node", settings=other).start()
    said = str(raised.value)
    assert "node id" in said.lower()
    assert str(node.log_file) in said
    assert "\n" not in said
    assert _processes(node.data_dir) == []
    # The folder is none the worse for it.
    with EmbeddedKafka(tmp_path / "node") as mended:
        assert mended.running


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(KafkaError, match=r"data folder .*cannot be written"):
        EmbeddedKafka(tmp_path / "file" / "node").start()


@pytest.mark.nightly
def test_an_identity_half_made_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "node" / "log.unfinished").mkdir(parents=True)
    (tmp_path / "node" / "log.unfinished" / "meta.properties").write_text("garbage")
    with EmbeddedKafka(tmp_path / "node") as node:
        assert node.running
        assert not (node.data_dir / "log.unfinished").exists()
