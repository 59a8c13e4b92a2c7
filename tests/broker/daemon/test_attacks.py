"""Records made to stop a stream: each is a dead letter, and the record behind it is delivered."""

from __future__ import annotations

import os
import struct
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from kafka import KafkaProducer

from tests.broker.formats.conftest import RegistryServer, registry_server

if TYPE_CHECKING:
    from conftest import Process, Site

    from broker.kafka.embedded import EmbeddedKafka

__all__ = ["registry_server"]

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.nightly, pytest.mark.timeout(900)]

PLAIN = {"type": "record", "name": "P", "fields": [{"name": "n", "type": "int"}]}


def framed(schema_id: int, value: bytes) -> bytes:
    return b"\0" + struct.pack(">I", schema_id) + value


def deep(levels: int) -> str:
    """Return a schema of records in records, as text: Python's writer of JSON does not go so deep."""
    return (
        "".join(f'{{"type":"record","name":"L{level}","fields":[{{"name":"x","type":' for level in range(levels))
        + '"int"'
        + "}]}" * levels
    )


BACK_WITHIN_BYTES = 200 << 20
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def resident_bytes(pid: int, *, of_jvm: bool) -> int:
    """Return the memory of a process and of all that it started: of the Java ones, or of the others."""
    folder = Path(f"/proc/{pid}")
    try:
        started = [int(child) for listed in folder.glob("task/*/children") for child in listed.read_text().split()]
        is_jvm = folder.joinpath("comm").read_text().strip() == "java"
        own_pages = int(folder.joinpath("statm").read_text().split()[1])
    except (FileNotFoundError, ProcessLookupError):
        # It ended meanwhile, and holds nothing.
        return 0
    own_bytes = own_pages * PAGE_BYTES if is_jvm == of_jvm else 0
    return own_bytes + sum(resident_bytes(child, of_jvm=of_jvm) for child in started)


ATTACKS: dict[str, Callable[[RegistryServer], bytes]] = {
    "a schema that contains itself without an end": lambda registry: framed(
        registry.register({"type": "record", "name": "r", "fields": [{"name": "n", "type": "r"}]}), b""
    ),
    "a schema nested 5,000 deep": lambda registry: framed(registry.register('{"type":"array","items":' * 5_000), b"\0"),
    "records in records, 400 deep": lambda registry: framed(registry.register(deep(400)), b"\2"),
    "a schema that is no JSON": lambda registry: framed(registry.register("{"), b"\2"),
    "an id beyond int": lambda _registry: framed(1 << 31, b"\2"),
    "an id that the registry does not have": lambda _registry: framed(4_000, b"\2"),
    "a record of two bytes": lambda _registry: b"\0\1",
    "a length that no record has": lambda registry: framed(
        registry.register({"type": "record", "name": "s", "fields": [{"name": "n", "type": "bytes"}]}), b"\xfe" * 9
    ),
}


def test_a_record_made_to_stop_a_stream_is_a_dead_letter(
    process: Process, reader: Site, kafka: EmbeddedKafka, registry_server: RegistryServer
) -> None:
    text = process.file.read_text("utf-8").replace('format = "json"', 'format = "avro"')
    process.file.write_text(f'{text}\n[schema_registry]\nurl = "{registry_server.url}"\n', "utf-8")
    process.start()
    out = f"out-{uuid.uuid4().hex[:12]}"
    body = {"id": "all", "where": "n >= 0", "topic": out}
    assert process.client.post("/v1/queries", json=body).status_code == 201
    plain = registry_server.register(PLAIN)
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    taken_s: dict[str, float] = {}
    held_bytes: dict[str, int] = {}
    jvm_bytes: dict[str, int] = {}
    # The first record is none made to stop anything: what a stream takes once is no attack's doing.
    for number, (name, attack) in enumerate([("none", None), *ATTACKS.items()]):
        if attack is not None:
            producer.send(process.topic, attack(registry_server), key=b"k")
        producer.send(process.topic, framed(plain, bytes([2 * number])), key=b"k")
        producer.flush()
        start_s, deadline = time.monotonic(), time.monotonic() + 180
        while len(reader.read(out)) <= number:
            assert process.child is not None
            assert process.child.poll() is None, f"{name}: {process.log.read_text('utf-8')[-5_000:]}"
            assert time.monotonic() < deadline, f"{name}: {process.log.read_text('utf-8')[-5_000:]}"
            time.sleep(0.05)
        taken_s[name] = round(time.monotonic() - start_s, 2)
        held_bytes[name] = resident_bytes(process.child.pid, of_jvm=False)
        jvm_bytes[name] = resident_bytes(process.child.pid, of_jvm=True)
    producer.close()
    assert len(reader.read(f"{process.stream}.dead-letter")) == len(ATTACKS)
    # Python's: the JVM takes what its options let it have, and gives nothing back.
    assert held_bytes[name] - held_bytes["none"] < BACK_WITHIN_BYTES, held_bytes
    # With -s: how long the record behind each waited, and the memory after it.
    for name, waited_s in taken_s.items():
        print(f"{name}: {waited_s} s; Python {held_bytes[name] >> 20} MiB, JVM {jvm_bytes[name] >> 20} MiB")
