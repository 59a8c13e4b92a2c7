"""The cost of a million standing queries: to load them, to change single queries while records flow, and to restore all
after a restart.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from bench.background_load import background_load
from bench.daemon_process import DaemonProcess
from bench.machine import machine
from bench.plot_standing import plot_standing
from bench.result_file import write_result
from bench.traffic import send_paced
from broker.kafka.embedded import EmbeddedKafka
from broker.runtime.java import find_java
from workloads.subscribers import subscribers

_LINES = 1_000
"""The number of queries in a bulk change."""

_FEWEST_SUBSCRIBERS = 10
_STORED_S = 120.0


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the measurement: the numbers of standing queries, and, for each number of queries, the single changes
    and the bulk changes. ``rate``: the records per second during the changes.
    """

    queries: tuple[int, ...]
    changes: int
    bulks: int
    rate: float


FULL = Size((10_000, 100_000, 1_000_000), 1_000, 20, 200.0)
QUICK = Size((6_000,), 30, 2, 50.0)


def run(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Measure everything, write ``standing.json`` and its plot into the folder, and return the content of the file.

    For each number of queries, one daemon runs in a separate process on an embedded Kafka. Raises RuntimeError if it
    does not become ready, refuses a query, or writes no snapshot.
    """
    size = QUICK if quick else FULL
    runs = []
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as name, EmbeddedKafka(Path(name) / "kafka") as kafka:
        for queries in tqdm(size.queries, desc="numbers of queries", leave=False, disable=None):
            runs.append(_measured(DaemonProcess(Path(name), kafka, f"queries-{queries}", quick=quick), queries, size))
    result = {
        "benchmark": "standing",
        "quick": quick,
        "machine": {**machine(), "java": find_java().version},
        "predicates": "subscribers(): zone < 40 AND a BETWEEN low AND high AND dest <> '', 12 columns, ten topics",
        "rate": size.rate,
        "bulk_queries": _LINES,
        "results": runs,
    }
    write_result(output_dir, "standing", result)
    plot_standing(result, output_dir / "standing")
    return result


def table(result: dict[str, Any]) -> str:
    """Return the result as lines of text: one line per number of queries."""
    heads = ("queries", 9), ("load", 8), ("one change p50", 15), ("p99", 8), ("in bulk", 11), ("start", 8)
    more = ("without snapshot", 17), ("memory a query", 15), ("plan a query", 13)
    lines = ["  ".join(f"{head:>{width}}" for head, width in (*heads, *more))]
    for each in result["results"]:
        ms = [f"{each[name] * 1e3:.0f} ms" for name in ("change_p50_s", "change_p99_s")]
        lines.append(
            f"{each['queries']:>9,}  {each['load_s']:>6.1f} s  {ms[0]:>15}  {ms[1]:>8}  "
            f"{each['bulk_changes_a_second']:>9,.0f}/s  {each['ready_s']:>6.1f} s  {each['ready_without_s']:>15.1f} s  "
            f"{each['memory_a_query_bytes']:>13,.0f} B  {each['plan_a_query_bytes']:>11,.0f} B"
        )
    return "\n".join(lines)


def _measured(daemon: DaemonProcess, queries: int, size: Size) -> dict[str, Any]:
    texts = [where for _, where, _ in subscribers(max(_FEWEST_SUBSCRIBERS, size.changes))]
    with daemon.running() as empty_ready_s:
        before_bytes = _memory_bytes(daemon)
        load_s = _timed(partial(daemon.register, queries))
        plan_bytes = int(daemon.status()["bytes"])
        # Read the memory only now, after the daemon has released the memory that only the load needed.
        memory_bytes = _memory_bytes(daemon)
        with background_load(partial(_send, daemon, size.rate)):
            took = [_timed(partial(_change, daemon, number, texts[number])) for number in range(size.changes)]
            bulk = [_timed(partial(daemon.load, _lines(daemon, number))) for number in range(size.bulks)]
        _await_snapshot(daemon)
    with daemon.running() as ready_s:
        restored = int(daemon.status()["queries"])
    shutil.rmtree(daemon.checkpoint_dir / ".snapshot")
    with daemon.running() as ready_without_s:
        same = int(daemon.status()["queries"])
    if restored != same:
        raise RuntimeError(f"{restored:,} queries stand after a start with a snapshot, {same:,} without")
    return {
        "queries": queries,
        "load_s": round(load_s, 2),
        "changes": size.changes,
        "change_p50_s": round(float(np.median(took)), 4),
        "change_p99_s": round(float(np.percentile(took, 99)), 4),
        "change_worst_s": round(max(took), 4),
        "bulk_changes_a_second": round(_LINES * size.bulks / sum(bulk), 1),
        "bulk_worst_s": round(max(bulk), 3),
        "empty_ready_s": round(empty_ready_s, 2),
        "ready_s": round(ready_s, 2),
        "ready_without_s": round(ready_without_s, 2),
        "memory_a_query_bytes": round((memory_bytes - before_bytes) / queries),
        "plan_a_query_bytes": round(plan_bytes / queries),
    }


def _timed(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _change(daemon: DaemonProcess, number: int, where: str) -> None:
    """Add, replace or remove a query: of three successive numbers, the first adds a query, the second replaces the
    query, and the third removes the query. The query accepts almost no record.
    """
    query_id = f"changed-{number // 3}"
    if number % 3 == 2:
        daemon.remove(query_id)
    else:
        daemon.put(query_id, f"({where}) AND a = {number}", number)


def _lines(daemon: DaemonProcess, number: int) -> Sequence[str]:
    """Return the queries of bulk change ``number``, as one line of JSON per query. The first two bulk changes add
    queries. Each later bulk change replaces the queries of bulk change ``number - 2``.
    """
    topic = daemon.destinations[0]
    return [
        json.dumps(
            {
                "id": f"bulk-{number % 2}-{i}",
                "where": f"a = {i} AND zone < {number % 50} AND dest <> ''",
                "topic": topic,
            }
        )
        for i in range(_LINES)
    ]


def _send(daemon: DaemonProcess, rate: float, ended: threading.Event) -> None:
    while not ended.is_set():
        send_paced(daemon.bootstrap_servers, daemon.source, rate, 5.0)


def _await_snapshot(daemon: DaemonProcess) -> None:
    manifest = daemon.checkpoint_dir / ".snapshot" / "manifest.json"
    deadline = time.monotonic() + _STORED_S
    while not manifest.exists():
        if time.monotonic() > deadline:
            raise RuntimeError(f"no snapshot was written within {_STORED_S:.0f} s")
        time.sleep(0.2)


def _memory_bytes(daemon: DaemonProcess) -> int:
    """Return the resident memory of the daemon's process, without Spark and Kafka, which are separate processes."""
    for line in Path(f"/proc/{daemon.pid}/status").read_text("utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"the system does not tell the memory of process {daemon.pid}")
