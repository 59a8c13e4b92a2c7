"""The latency of a record through a daemon, from the producer's clock to the consumer's, by load and number of
queries.
"""

from __future__ import annotations

import tempfile
import threading
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from bench.background_load import background_load
from bench.daemon_process import DaemonProcess
from bench.machine import machine
from bench.micro_batch import VARIANTS, floor
from bench.plot_latency import plot_latency
from bench.result_file import write_result
from bench.traffic import Received, Seconds, make_topics, receiving, send_paced, spread
from broker.kafka.embedded import EmbeddedKafka
from broker.runtime.java import find_java
from broker.runtime.spark import spark_session
from workloads.subscribers import DELIVERIES

_WARM_S = 20.0
"""The warm-up of a load in seconds, which is at most a third of the load. The latency of the load excludes records
created during the warm-up.
"""

_FIRST_S = 1.0
_FEWEST = 0.9
"""The least share of the expected deliveries that must arrive. A smaller share is no random variation: deliveries are
late or lost.
"""

_LAST_S = 5.0
"""The seconds without a delivery after which all deliveries count as received."""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the measurement.

    ``queries``: the numbers of standing queries. ``rates``: the loads in records per second, each of which lasts
    ``seconds``. ``changed_rate``: the load during which ``changes`` queries are changed. This load runs with the first
    number of queries that is not smaller than ``changes``. ``single_rates``: loads of a few records per second, with
    the smallest number of queries. ``floor_rates``: the loads, in records per second, with which the smallest possible
    Spark job is measured.
    """

    queries: tuple[int, ...]
    rates: tuple[float, ...]
    seconds: float
    changed_rate: float
    changes: int
    single_rates: tuple[float, ...]
    floor_rates: tuple[float, ...]


FULL = Size((10, 1_000, 100_000), (100, 2_000), 45.0, 2_000, 1_000, (2,), (2, 100))
QUICK = Size((10,), (100,), 10.0, 100, 10, (), (100,))


def run(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Measure everything, write ``latency.json`` and its plot into the folder, and return the content of the file.

    For each number of queries and each load, a daemon starts with queries that are stored in its registry. The load
    begins when the daemon is ready. Kafka is warm. The result also has the minimum: the latency of the smallest Spark
    jobs that read from Kafka, call Python and write. Raises RuntimeError if a daemon does not become ready, or delivers
    nothing.
    """
    size = QUICK if quick else FULL
    runs = []
    loads = len(size.queries) * len(size.rates) + len(size.single_rates) + 1
    steps = tqdm(total=loads, desc="loads", leave=False, disable=None)
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as name, EmbeddedKafka(Path(name) / "kafka") as kafka:
        _use(kafka, size)
        changed = next(queries for queries in size.queries if queries >= size.changes)
        for queries in size.queries:
            daemon = DaemonProcess(Path(name), kafka, f"queries-{queries}", quick=quick)
            daemon.write_subscribers(queries)
            for rate in (*(size.single_rates if queries == size.queries[0] else ()), *size.rates):
                runs.append(_loaded(daemon, queries, rate, size.seconds))
                steps.update()
            if queries == changed:
                runs.append(_loaded(daemon, queries, size.changed_rate, size.seconds, size.changes))
                steps.update()
        spark = spark_session(app_name="asc-bench-latency")
        seconds = size.seconds / 3
        floors = [
            floor(spark, kafka, variant, rate=rate, seconds=seconds, name=f"floor-{rate:g}")
            for variant in VARIANTS
            for rate in size.floor_rates
        ]
    steps.close()
    result = {
        "benchmark": "latency",
        "quick": quick,
        "machine": {**machine(), "java": find_java().version},
        "records": "JSON, 12 columns, some 150 bytes; 40 % accepted, 1.5 deliveries a record, ten topics",
        "seconds": size.seconds,
        "results": runs,
        "floor": floors,
    }
    write_result(output_dir, "latency", result)
    plot_latency(result, output_dir / "latency")
    return result


def table(result: dict[str, Any]) -> str:
    """Return the result as lines of text: one line per number of queries and load, followed by the minimum."""
    heads = ("queries", 8), ("records/s", 9), ("ready", 7), ("first", 8), ("p50", 8), ("p99", 8), ("worst", 8)
    lines = ["  ".join(f"{head:>{width}}" for head, width in heads)]
    for each in result["results"]:
        first, *others = (each[name] * 1e3 for name in ("first_worst_s", "p50_s", "p99_s", "worst_s"))
        shown = "  ".join(f"{ms:>5.0f} ms" for ms in (first, *others))
        amid = (
            f"  amid {each['changes']:,} changes, each {each['change_p50_s'] * 1e3:.0f} ms" if each["changes"] else ""
        )
        lines.append(f"{each['queries']:>8,}  {each['rate']:>9,.0f}  {each['ready_s']:>5.1f} s  {shown}{amid}")
    lines.append("")
    for each in result["floor"]:
        shown = f"p50 {each['p50_s'] * 1e3:.0f} ms, p99 {each['p99_s'] * 1e3:.0f} ms"
        lines.append(f"the smallest job of Spark, {each['variant']}: {shown} at {each['rate']:,.0f} records/s")
    return "\n".join(lines)


def timeline(found: Received, start: float, seconds: float) -> list[dict[str, float]]:
    """Return the spread of the latencies for each second of a load. A delivery belongs to the second in which its
    record was created.
    """
    found_in = (found.between(start + second, start + second + 1).latency for second in range(int(seconds)))
    return [{"second": second, **spread(each)} for second, each in enumerate(found_in) if len(each)]


def histogram(latency: Seconds) -> dict[str, list[float]]:
    """Return a histogram of latencies from 10 ms to 100 s. ``counts``: the number of latencies between each two
    neighbouring values of ``edges_s``.
    """
    edges = np.geomspace(0.01, 100, 81)
    counts, _ = np.histogram(np.clip(latency, edges[0], edges[-1]), edges)
    return {"edges_s": [round(edge, 4) for edge in edges.tolist()], "counts": counts.tolist()}


def _loaded(daemon: DaemonProcess, queries: int, rate: float, seconds: float, changes: int = 0) -> dict[str, Any]:
    with receiving(daemon.bootstrap_servers, daemon.destinations) as receiver, daemon.running() as ready_s:
        took: list[float] = []
        with background_load(partial(_change, daemon, changes, seconds, took)):
            sent = send_paced(daemon.bootstrap_servers, daemon.source, rate, seconds)
        receiver.settle(_LAST_S)
        received = receiver.taken()
        phases = daemon.status()["phases"]
    if len(received.sent) < _FEWEST * DELIVERIES * sent:
        raise RuntimeError(f"{len(received.sent):,} deliveries of {sent:,} records have come: some are missing")
    # A sender takes a while to start.
    start = float(received.sent.min())
    steady = received.between(start + min(_WARM_S, seconds / 3), start + seconds).latency
    return {
        "queries": queries,
        "rate": rate,
        "changes": len(took),
        "change_p50_s": round(float(np.median(took)), 4) if took else None,
        "sent": sent,
        "deliveries": len(received.sent),
        "ready_s": round(ready_s, 2),
        "first_worst_s": spread(received.between(0, start + _FIRST_S).latency)["worst_s"],
        **spread(steady),
        "histogram": histogram(steady),
        "timeline": timeline(received, start, seconds),
        "phases": phases,
    }


def _change(daemon: DaemonProcess, changes: int, seconds: float, took: list[float], ended: threading.Event) -> None:
    """Register or replace queries ``changes`` times, spread over ``seconds``. For each change, append the seconds until
    the API's answer to ``took``.
    """
    begin = time.monotonic()
    for number in range(changes):
        if ended.wait(max(0.0, begin + seconds * number / changes - time.monotonic())):
            return
        start = time.monotonic()
        daemon.change(number)
        took.append(time.monotonic() - start)


def _use(kafka: EmbeddedKafka, size: Size) -> None:
    """Warm Kafka up by sending records for some seconds, because a Kafka that has just started is slow."""
    make_topics(kafka.bootstrap_servers, "used")
    with receiving(kafka.bootstrap_servers, ["used"]) as receiver:
        send_paced(kafka.bootstrap_servers, "used", size.changed_rate, size.seconds / 5)
        receiver.settle(1.0)
