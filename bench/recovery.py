"""The delay of records after the daemon is killed, until it has restarted or a standby daemon has taken over."""

from __future__ import annotations

import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from bench.background_load import background_load
from bench.daemon_process import DaemonProcess
from bench.machine import machine
from bench.result_file import write_result
from bench.traffic import Received, Receiver, Seconds, receiving, send_paced
from broker.kafka.embedded import EmbeddedKafka
from broker.runtime.java import find_java

METHODS = ("started again", "a standby takes over")
_STANDING_BY = "standing by for another daemon"
_IN_FLIGHT_S = 0.5
"""A record that is received within so many seconds after the kill counts as delivered before the kill."""

_CAUGHT_UP_S = 1.0
"""The latency in seconds below which a record counts as not delayed by earlier records."""

_SENT_S = 10.0
"""The seconds that a sending process runs before the next sending process replaces it. The gap between the records of
the two processes is shorter than a second.
"""

_LOOK_S = 0.5
_LIMIT_S = 240.0


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the measurement. ``queries``: the numbers of standing queries. ``methods``: the methods of recovery,
    a restart or a standby daemon. ``times``: the number of kills for each method and number of queries. ``rate``: the
    records per second. ``before_s``: the seconds for which records arrive before a kill.
    """

    queries: tuple[int, ...]
    methods: tuple[str, ...]
    times: int
    rate: float
    before_s: float


FULL = Size((10_000, 100_000), METHODS, 3, 500.0, 15.0)
QUICK = Size((500,), METHODS, 1, 50.0, 3.0)


def run(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Measure everything, write ``recovery.json`` into the folder, and return the content of the file.

    A daemon in a separate process is killed (SIGKILL) while records arrive. Kafka keeps running. Raises RuntimeError if
    the daemon does not become ready, or does not catch up while records arrive.
    """
    size = QUICK if quick else FULL
    runs = []
    steps = tqdm(total=len(size.queries) * len(size.methods) * size.times, desc="kills", leave=False, disable=None)
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as name, EmbeddedKafka(Path(name) / "kafka") as kafka:
        for queries in size.queries:
            first = DaemonProcess(Path(name), kafka, f"queries-{queries}", quick=quick)
            daemons = [first, first.twin()]
            for method in size.methods:
                kills = []
                for number in range(size.times):
                    kills.append(
                        _killed(daemons, method, size, queries if method == size.methods[0] and number == 0 else 0)
                    )
                    steps.update()
                runs.append({"queries": queries, "way": method, "kills": kills})
    steps.close()
    result = {
        "benchmark": "recovery",
        "quick": quick,
        "machine": {**machine(), "java": find_java().version},
        "predicates": "subscribers(): zone < 40 AND a BETWEEN low AND high AND dest <> '', 12 columns, ten topics",
        "rate": size.rate,
        "results": runs,
    }
    write_result(output_dir, "recovery", result)
    return result


def table(result: dict[str, Any]) -> str:
    """Return the result as lines of text.

    For each number of queries and each method of recovery, a line has the median and the maximum over the kills.
    """
    heads = ("queries", 9), ("the daemon is killed, and", 25), ("ready", 14), ("delivers", 14), ("caught up", 14)
    lines = ["  ".join(f"{head:>{width}}" for head, width in heads)]
    for each in result["results"]:
        shown = []
        for name in ("ready_s", "delivered_s", "caught_up_s"):
            took = [kill[name] for kill in each["kills"]]
            shown.append(f"{np.median(took):>5.1f}, {max(took):>5.1f} s")
        lines.append(f"{each['queries']:>9,}  {each['way']:>25}  {'  '.join(f'{text:>14}' for text in shown)}")
    return "\n".join([*lines, "seconds since the kill: the median, and the worst"])


def recovery(deliveries: Received, killed: float) -> dict[str, float] | None:
    """Return two times in seconds since a kill. ``delivered_s``: until a record was delivered again. ``caught_up_s``:
    until a record sent after the kill was delivered within a second.

    Return None if no record sent after the kill has been delivered within a second yet.
    """
    order = np.argsort(deliveries.received, kind="stable")
    sent, received, latency = deliveries.sent[order], deliveries.received[order], deliveries.latency[order]
    again = received > killed + _IN_FLIGHT_S
    current = again & (latency < _CAUGHT_UP_S) & (sent > killed)
    if not current.any():
        return None
    delivered_s, caught_up_s = received[again][0] - killed, received[current][0] - killed
    return {"delivered_s": round(float(delivered_s), 2), "caught_up_s": round(float(caught_up_s), 2)}


def _killed(daemons: list[DaemonProcess], method: str, size: Size, register: int) -> dict[str, float]:
    """Register ``register`` queries, then kill the first daemon of ``daemons``, and measure the recovery. If the other
    daemon takes over, it becomes the first daemon of the list.
    """
    serving, other = daemons
    with ExitStack() as started:
        started.enter_context(serving.running())
        if register:
            serving.register(register)
        if method == METHODS[1]:
            started.enter_context(other.launched("--standby"))
            other.await_reason(_STANDING_BY)
        receiver = started.enter_context(receiving(serving.bootstrap_servers, serving.destinations))
        with background_load(partial(_send, serving, size.rate)):
            time.sleep(size.before_s)
            _await_delivery(receiver)
            serving.kill()
            killed = time.time()
            if method == METHODS[0]:
                started.enter_context(serving.launched())
            else:
                daemons.reverse()
            daemons[0].await_reason(None)
            return {"ready_s": round(time.time() - killed, 2), **_recovered(receiver, killed)}


def _await_delivery(receiver: Receiver) -> None:
    deadline = time.monotonic() + _LIMIT_S
    while not receiver.taken().sent.size:
        if time.monotonic() > deadline:
            raise RuntimeError(f"nothing was delivered in {_LIMIT_S:.0f} s before the kill")
        time.sleep(_LOOK_S)


def _recovered(receiver: Receiver, killed: float) -> dict[str, float]:
    sent: list[Seconds] = []
    received: list[Seconds] = []
    while time.time() < killed + _LIMIT_S:
        time.sleep(_LOOK_S)
        taken = receiver.taken()
        sent.append(taken.sent)
        received.append(taken.received)
        found = recovery(Received(np.concatenate(sent), np.concatenate(received)), killed)
        if found is not None:
            return found
    raise RuntimeError(
        f"{sum(map(len, sent)):,} records were delivered after the kill, and none as soon as it was sent"
    )


def _send(daemon: DaemonProcess, rate: float, ended: threading.Event) -> None:
    while not ended.is_set():
        send_paced(daemon.bootstrap_servers, daemon.source, rate, _SENT_S)
