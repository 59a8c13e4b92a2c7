"""The faults that are injected into a broker. Each fault is a function. The function returns when the fault is over and
all processes run again.
"""

from __future__ import annotations

import contextlib
import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

from tools.faults.clock import SAID
from tools.faults.processes import kill
from tools.faults.rig import STREAM, TOPICS, Rig

_LOOK_S = 0.002
_IDLE_S = 0.5
_IN_A_BATCH_S = 60.0
_AWAY_S = 15.0
_STILL_S = 60.0
_FULL_S = 10.0
_BULK = 3_000
_PHASES = ("starting Spark", "reading the registry", "starting the streaming jobs")

_CLOCK = "from tools.faults.clock import set_back; set_back(after_s=30.0, by_s=3600.0)"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault to inject. ``needs_mount``: whether the fault needs a separate file system, which only root can
    create.
    """

    name: str
    make: Callable[[Rig], None]
    needs_mount: bool = False

    def possible(self, rig: Rig) -> bool:
        """Return True if the fault can be injected on this machine."""
        return not self.needs_mount or (rig.checkpoint_disk.mounted and rig.kafka_disk.mounted)


def daemon_killed(rig: Rig) -> None:
    """Kill the daemon by SIGKILL at any moment, and start it again."""
    rig.broker.kill()
    _start(rig)


def daemon_killed_before_commit(rig: Rig) -> None:
    """Kill the daemon by SIGKILL after a batch has written records and before the batch is committed."""
    deadline = time.monotonic() + _IN_A_BATCH_S
    bindings, commits = rig.checkpoint() / "bindings", rig.checkpoint() / "spark" / "commits"
    while time.monotonic() < deadline:
        before = rig.delivered()
        last = _newest(bindings)
        while _newest(bindings) == last and time.monotonic() < deadline:
            time.sleep(_LOOK_S)
        bound = _newest(bindings)
        while rig.delivered() == before and not (commits / str(bound)).exists():
            time.sleep(_LOOK_S)
        rig.broker.kill()
        if not (commits / str(bound)).exists():
            _start(rig)
            return
        _start(rig)
    raise RuntimeError(f"no batch was met between its write and its commit in {_IN_A_BATCH_S:g} s")


def daemon_killed_in_start(rig: Rig) -> None:
    """Kill the daemon by SIGKILL, and again in each phase of the start that follows."""
    rig.broker.kill()
    for phase in _PHASES:
        rig.broker.launch()
        with contextlib.suppress(RuntimeError):
            rig.broker.await_reason(lambda reason, at=phase: reason == at or reason is None)  # type: ignore[misc]
        rig.broker.kill()
    _start(rig)


def daemon_killed_in_bulk_load(rig: Rig) -> None:
    """Kill the daemon by SIGKILL during a load of thousands of queries. Afterwards all of them must be registered, or
    none.
    """
    lines = "\n".join(
        json.dumps({"id": f"load-{number}", "where": f"n = -{number + 1}", "topic": TOPICS[0], "stream": STREAM})
        for number in range(_BULK)
    )

    def load() -> None:
        with contextlib.suppress(httpx.TransportError):
            headers = {"content-type": "application/x-ndjson"}
            rig.broker.client.post("/v1/queries", content=lines, headers=headers, timeout=120)

    loading = threading.Thread(target=load, name="load", daemon=True)
    loading.start()
    loading.join(rig.random.uniform(0.05, 1.5))
    rig.broker.kill()
    loading.join()
    _start(rig)
    found = _registered(rig, "load-")
    if found not in (0, _BULK):
        raise RuntimeError(f"{found} of {_BULK} queries of a bulk load are registered: all or none should be")
    for query_id in [f"load-{number}" for number in range(_BULK)] if found else []:
        rig.broker.client.delete(f"/v1/queries/{query_id}").raise_for_status()


def daemon_terminated(rig: Rig) -> None:
    """Terminate the daemon by SIGTERM, wait until its process has ended, and start it again."""
    rig.broker.signal(signal.SIGTERM)
    code = rig.broker.await_end()
    if code:
        raise RuntimeError(f"the daemon ended with {code}: {rig.broker.last_lines()}")
    _start(rig)


def daemon_stopped_still(rig: Rig) -> None:
    """Suspend the daemon by SIGSTOP for a minute."""
    rig.broker.signal(signal.SIGSTOP)
    time.sleep(_STILL_S)
    rig.broker.signal(signal.SIGCONT)
    _start_unless_it_runs(rig)


def jvm_killed(rig: Rig) -> None:
    """Kill only Spark's JVM by SIGKILL. The daemon ends by itself, and is started again."""
    kill(rig.broker.jvm())
    if rig.broker.await_end() == 0:
        raise RuntimeError("the daemon ended as if nothing were wrong when its JVM was killed")
    _start(rig)


def workers_killed(rig: Rig) -> None:
    """Kill by SIGKILL all Python processes in which Spark's tasks match records. The daemon recovers without a
    restart.
    """
    for worker in rig.broker.workers():
        kill(worker)
    rig.broker.await_ready()


def kafka_killed(rig: Rig) -> None:
    """Kill Kafka by SIGKILL, and start it again some seconds later."""
    rig.node.kill()
    time.sleep(rig.random.uniform(0, _AWAY_S))
    rig.node.start()
    _start_unless_it_runs(rig)


def kafka_stopped_still(rig: Rig) -> None:
    """Suspend Kafka for a while: it does not answer, but its connections remain."""
    rig.node.suspend()
    time.sleep(rig.random.uniform(1, _AWAY_S))
    rig.node.go_on()
    _start_unless_it_runs(rig)


def checkpoint_disk_full(rig: Rig) -> None:
    """Fill the disk of the checkpoint for some seconds."""
    rig.checkpoint_disk.fill()
    time.sleep(_FULL_S)
    rig.checkpoint_disk.free()
    _start_unless_it_runs(rig)


def kafka_disk_full(rig: Rig) -> None:
    """Fill the disk of Kafka's logs, which ends Kafka. Start Kafka again when there is space."""
    rig.kafka_disk.fill()
    time.sleep(_FULL_S)
    rig.kafka_disk.free()
    if rig.node.runs:
        rig.node.stop()
    rig.node.start()
    _start_unless_it_runs(rig)


def checkpoint_damaged(rig: Rig) -> None:
    """Kill the daemon by SIGKILL, and truncate or empty the newest file of one log of the checkpoint before the next
    start.
    """
    rig.broker.kill()
    log = rig.random.choice(["bindings", "spark/offsets", "spark/commits"])
    newest = rig.checkpoint() / log / str(_newest(rig.checkpoint() / log))
    content = newest.read_bytes()
    newest.write_bytes(content[: rig.random.choice([0, len(content) // 2])])
    _start(rig)


def registry_damaged(rig: Rig) -> None:
    """Kill the daemon by SIGKILL, and write records to the registry that are not queries.

    These records are not served, but all queries are.
    """
    rig.broker.kill()
    producer = rig.client.producer()
    garbage = [b"garbage", b"\xff\xfe", b"{}", b"[]", b'{"where": 5}', b'{"stream": "records", "where": "n >"}']
    keys = [f"garbage-{number}".encode() for number in range(len(garbage))]
    for key, value in zip(keys, garbage, strict=True):
        producer.send("asc.queries", value, key=key)
    producer.flush()
    _start(rig)
    for key in keys:
        rig.broker.client.delete(f"/v1/queries/{key.decode()}").raise_for_status()
    producer.close()


def clock_set_back(rig: Rig) -> None:
    """Set the daemon's clock back by an hour while it runs.

    Only the clock of the daemon's Python is set back, which decides when queries expire and snapshots are due. The JVM
    and the workers use the system's clock, which all processes share.
    """

    def times() -> int:
        return rig.broker.log.read_text("utf-8", "replace").count(SAID)

    rig.broker.kill()
    before = times()
    rig.broker.launch(_CLOCK)
    rig.broker.await_ready()
    while times() == before:
        time.sleep(_IDLE_S)


def partition_added(rig: Rig) -> None:
    """Add a partition to the source topic while records arrive."""
    rig.add_partition()


FAULTS = (
    Fault("daemon killed", daemon_killed),
    Fault("daemon killed between write and commit", daemon_killed_before_commit),
    Fault("daemon killed in its start", daemon_killed_in_start),
    Fault("daemon killed in a bulk load", daemon_killed_in_bulk_load),
    Fault("daemon terminated", daemon_terminated),
    Fault("daemon stands still for a minute", daemon_stopped_still),
    Fault("JVM killed", jvm_killed),
    Fault("Python workers killed", workers_killed),
    Fault("Kafka killed", kafka_killed),
    Fault("Kafka stands still", kafka_stopped_still),
    Fault("checkpoint's disk full", checkpoint_disk_full, needs_mount=True),
    Fault("Kafka's disk full", kafka_disk_full, needs_mount=True),
    Fault("checkpoint damaged", checkpoint_damaged),
    Fault("registry damaged", registry_damaged),
    Fault("clock set back by an hour", clock_set_back),
    Fault("partition added", partition_added),
)


def _start(rig: Rig) -> None:
    rig.broker.launch()
    rig.broker.await_ready()


def _start_unless_it_runs(rig: Rig) -> None:
    """Start the daemon again if it has ended, as a service manager does. Otherwise wait until it is ready."""
    with contextlib.suppress(RuntimeError):
        rig.broker.await_ready()
        return
    if rig.broker.runs:
        raise RuntimeError(f"the daemon does not get ready again: {rig.broker.last_lines()}")
    _start(rig)


def _newest(folder: Path) -> int:
    return max((int(path.name) for path in folder.glob("[0-9]*") if path.name.isdigit()), default=-1)


def _registered(rig: Rig, prefix: str) -> int:
    def pages() -> Iterator[int]:
        cursor: str | None = None
        while True:
            params = {"prefix": prefix, "limit": "1000", **({"cursor": cursor} if cursor else {})}
            page = rig.broker.client.get("/v1/queries", params=params).raise_for_status().json()
            yield len(page["queries"])
            cursor = page["cursor"]
            if cursor is None:
                return

    return sum(pages())
