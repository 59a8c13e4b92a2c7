"""The console with a million queries: the response times of its pages, and the load that viewing them puts on a
stream.
"""

from __future__ import annotations

import html
import tempfile
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import httpx
from pyspark.sql import SparkSession
from tqdm import tqdm

from bench.background_load import background_load
from bench.daemon_process import STREAM, DaemonProcess
from bench.machine import machine
from bench.paired_stats import loss_of
from bench.result_file import write_result
from bench.stream import publish_backlog
from broker.kafka.embedded import EmbeddedKafka
from broker.runtime.java import find_java
from broker.runtime.spark import spark_session

_LOOKS_EVERY_S = 5.0
"""The seconds between two refreshes of the first page."""

_MORE_S = 600.0


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the measurement.

    ``queries``: the number of standing queries. ``times``: the number of requests for each page. ``backlog`` and
    ``batch``: the numbers of records of a backlog and of a batch. ``rounds``: the number of rounds with and without
    browsers, each of ``round_s`` seconds. ``browsers``: the number of browsers.
    """

    queries: int
    times: int
    backlog: int
    batch: int
    rounds: int
    round_s: float
    browsers: int


FULL = Size(1_000_000, 20, 9_000_000, 20_000, 20, 4.0, 3)
QUICK = Size(100, 2, 40_000, 500, 2, 0.5, 1)

PAGES = {
    "first page": "/console/",
    "what is new on it": "/console/live",
    "queries": "/console/queries",
    "search: a text that many have": "/console/queries?text=zone+%3C+40",
    "search: an id": "/console/queries?prefix=q99",
    "search: a text that none has": "/console/queries?text=nothing+has+it",
    "search: a label that none has": "/console/queries?label=team%3Dnone",
    "plan": f"/console/plan?stream={STREAM}",
    "a block": f"/console/plan/{STREAM}/0",
    "dead letters": f"/console/dead-letters?stream={STREAM}",
    "metrics": "/metrics",
}


def run(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Measure everything, write ``console.json`` into the folder, and return the content of the file.

    One browser requests the pages one after the other while no records flow. Then a backlog is drained, alternately
    without browsers, and while browsers show the first page and Prometheus scrapes every five seconds. Raises
    RuntimeError if a daemon does not become ready or does not finish.
    """
    size = QUICK if quick else FULL
    spark = spark_session(app_name="asc-bench-console")
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as name, EmbeddedKafka(Path(name) / "kafka") as kafka:
        daemon = DaemonProcess(Path(name), kafka, "console", batch=size.batch, quick=quick)
        daemon.write_subscribers(size.queries)
        with daemon.running() as ready_s:
            pages = [_asked(daemon.address, page, path, size.times) for page, path in tqdm(PAGES.items(), disable=None)]
            looked_at = _drained(spark, daemon, size)
    result = {
        "benchmark": "console",
        "quick": quick,
        "machine": {**machine(), "java": find_java().version},
        "queries": size.queries,
        "ready_s": round(ready_s, 2),
        "pages": pages,
        "stream": looked_at,
    }
    write_result(output_dir, "console", result)
    return result


def table(result: dict[str, Any]) -> str:
    """Return the result as lines of text: one line per page, and the cost of viewing."""
    lines = [f"{result['queries']:,} queries; milliseconds"]
    lines.append(f"{'':>30}  {'first':>7}  {'median':>7}  {'worst':>7}  {'KB':>6}")
    for each in result["pages"]:
        times = "  ".join(f"{each[name] * 1e3:>7.0f}" for name in ("first_s", "median_s", "worst_s"))
        whole = f"  whole search {each['whole_s'] * 1e3:.0f} ms in {each['parts']} parts" if each["parts"] > 1 else ""
        lines.append(f"{each['page']:>30}  {times}  {each['size_bytes'] / 1e3:>6.0f}{whole}")
    stream = result["stream"]
    lines.append(
        f"the stream by itself {stream['alone_records_a_s']:,.0f} records/s, looked at by {stream['browsers']} "
        f"browsers and Prometheus {stream['looked_at_records_a_s']:,.0f}: costs {stream['loss']['share']:.1%} "
        f"({stream['loss']['low']:.1%} to {stream['loss']['high']:.1%})"
    )
    return "\n".join(lines)


def _asked(address: str, page: str, path: str, times: int) -> dict[str, Any]:
    taken: list[float] = []
    with httpx.Client(base_url=address, timeout=_MORE_S, trust_env=False) as client:
        for _ in range(times):
            start_s = time.perf_counter()
            answer = client.get(path).raise_for_status()
            taken.append(time.perf_counter() - start_s)
        parts, start_s = 1, time.perf_counter()
        after = answer
        while "Looking on after" in after.text:
            following = html.unescape(after.text.rpartition('<p hx-get="')[2].partition('"')[0])
            after = client.get(following).raise_for_status()
            parts += 1
        whole_s = taken[-1] + time.perf_counter() - start_s
    return {
        "page": page,
        "path": path,
        "first_s": round(taken[0], 4),
        "median_s": round(median(taken), 4),
        "worst_s": round(max(taken), 4),
        "size_bytes": len(answer.content),
        "parts": parts,
        "whole_s": round(whole_s, 4),
    }


def _drained(spark: SparkSession, daemon: DaemonProcess, size: Size) -> dict[str, Any]:
    """Drain a backlog, and measure the seconds per record alternately without and with browsers."""
    publish_backlog(spark, daemon.bootstrap_servers, daemon.source, size.backlog)
    alone: list[float] = []
    looked_at: list[float] = []
    for _ in tqdm(range(size.rounds), desc="rounds", leave=False, disable=None):
        alone.append(_seconds_a_record(daemon, size, nullcontext()))
        looked_at.append(_seconds_a_record(daemon, size, _looking(daemon, size)))
    return {
        "backlog": size.backlog,
        "browsers": size.browsers,
        "looks_every_s": _LOOKS_EVERY_S,
        "round_s": size.round_s,
        "alone_s_a_record": alone,
        "looked_at_s_a_record": looked_at,
        "alone_records_a_s": round(len(alone) / sum(alone), 1),
        "looked_at_records_a_s": round(len(looked_at) / sum(looked_at), 1),
        "loss": asdict(loss_of(looked_at, alone)),
    }


def _seconds_a_record(daemon: DaemonProcess, size: Size, watching: AbstractContextManager[None]) -> float:
    """Measure the seconds per record from the end of one batch to the end of a later batch."""
    with watching:
        start_s, before = _next_batch(daemon, size.backlog)
        end, after = start_s, before
        while end - start_s < size.round_s:
            end, after = _next_batch(daemon, size.backlog)
    return (end - start_s) / (after - before)


def _next_batch(daemon: DaemonProcess, backlog: int) -> tuple[float, int]:
    """Wait for the running batch, and return the time of its end and the number of records processed by then."""
    before: int = daemon.status()["monitor"]["tuples"]
    if before >= backlog:
        raise RuntimeError(f"{backlog:,} records were too few: give more, or fewer or shorter rounds")
    return daemon.reached(before + 1)


def _looking(daemon: DaemonProcess, size: Size) -> AbstractContextManager[None]:
    return background_load(partial(_look, daemon.address, size.browsers))


def _look(address: str, browsers: int, ended: threading.Event) -> None:
    """Request the live data of the first page for each of ``browsers`` browsers, and the metrics as Prometheus does,
    until ``ended`` is set.
    """
    paths = ["/console/live"] * browsers + ["/metrics"]
    with httpx.Client(base_url=address, timeout=_MORE_S, trust_env=False) as client:
        while True:
            for path in paths:
                client.get(path).raise_for_status()
                if ended.wait(_LOOKS_EVERY_S / len(paths)):
                    return
