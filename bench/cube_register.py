"""The time to register three cubes on a running stream: until the registration of each is effective, and until the cube
has counted a record.
"""

from __future__ import annotations

import tempfile
import threading
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bench.background_load import background_load
from bench.daemon_process import DaemonProcess
from bench.traffic import send_paced
from broker.client.errors import NotFoundError
from broker.kafka.embedded import EmbeddedKafka

_CUBES = 3
_QUERIES = 10
_COUNTED_S = 120.0
_LOOK_S = 0.02


@dataclass(frozen=True, slots=True)
class RegisterSize:
    """The size of the measurement of registrations.

    ``rate``: the records per second. ``before_s``: the seconds of records before the first registration. ``between_s``:
    the seconds between two registrations. ``sender_s``: the seconds after which the next sender replaces a sender of
    records. ``quick``: true for a quick test.
    """

    rate: float
    before_s: float
    between_s: float
    sender_s: float
    quick: bool = False


FULL = RegisterSize(2_000, 20.0, 3.0, 60.0)
QUICK = RegisterSize(200, 1.0, 0.2, 2.0, quick=True)


def register(size: RegisterSize) -> dict[str, Any]:
    """Return the elapsed seconds of the registration of each of three cubes.

    ``effective_s``: until the answer to the registration, which has the offsets from which the cube counts records.
    ``counted_s``: until an answer of the cube counts a record. This time includes the batch that runs during the
    registration. Raises RuntimeError if no record is counted.
    """
    results = []
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as name, EmbeddedKafka(Path(name) / "kafka") as kafka:
        daemon = DaemonProcess(Path(name), kafka, "register", quick=size.quick)
        daemon.write_subscribers(_QUERIES)
        with daemon.running(), background_load(partial(_flowing, daemon, size)):
            daemon.reached(1)
            time.sleep(size.before_s)
            for number in range(_CUBES):
                results.append(_registered(daemon, number))
                time.sleep(size.between_s)
    return {"rate": size.rate, "queries": _QUERIES, "results": results}


def _flowing(daemon: DaemonProcess, size: RegisterSize, ended: threading.Event) -> None:
    while not ended.is_set():
        send_paced(daemon.bootstrap_servers, daemon.source, size.rate, size.sender_s)


def _registered(daemon: DaemonProcess, number: int) -> dict[str, Any]:
    cube = f"cube-{number}"
    dimensions = [["zone"], ["dest"], [f"(delay div {10 + number})"]]
    start_s = time.monotonic()
    daemon.put_cube(cube, "zone < 80", dimensions=dimensions, measures=["count(*) AS records"], grain_s=60)
    effective_s = time.monotonic() - start_s
    while _counted(daemon, cube) == 0:
        if time.monotonic() - start_s > _COUNTED_S:
            raise RuntimeError(f"{cube} has counted no record in {_COUNTED_S:.0f} s")
        time.sleep(_LOOK_S)
    counted_s = time.monotonic() - start_s
    return {"cube": cube, "effective_s": round(effective_s, 4), "counted_s": round(counted_s, 4)}


def _counted(daemon: DaemonProcess, cube: str) -> int:
    """Return the number of records that a cube has counted. Return 0 before the cube's first batch."""
    try:
        count: int = daemon.ask(cube, by=[])["rows"][0]["records"]
    except NotFoundError:
        return 0
    return count
