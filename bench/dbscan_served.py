"""Part ``served`` of the DBSCAN benchmark: the throughput of a Kafka backlog through a daemon, without DBSCAN queries
and with many.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from asc.operators.dbscan.dbscan_query import OP
from asc.operators.dbscan.points import Floats
from bench.daemon_process import STREAM, DaemonProcess
from bench.dbscan_goals import Figure
from bench.dbscan_points import aircraft
from bench.dbscan_queries import BenchQuery, Ranges
from bench.dbscan_sizes import ServedSize
from bench.publish import send_ready
from broker.kafka.embedded import EmbeddedKafka
from broker.operators.kinds import definition_of
from broker.queries.query import RegisteredQuery

_DDL = "ts TIMESTAMP, n BIGINT, x DOUBLE, y DOUBLE"
_BEGIN = datetime(2026, 6, 1, tzinfo=timezone.utc)
_APART = timedelta(milliseconds=10)
_TOPIC = "dbscan-windows"
MASTER = "local[2]"
"""Spark's master. The goals are those of two cores, whatever the number of cores of the machine."""
_ROUTED = 10
_WINDOWS_S, _READ_S, _PAUSE_S = 1_800.0, 300.0, 0.5
_FETCHED = 10_000


@dataclass(frozen=True, slots=True)
class WindowRate:
    """The throughput of a backlog until all its windows are written: the source records per second, and the number of
    records that the windows produced.
    """

    records_per_s: float
    outputs: int


def served(size: ServedSize, data: Path | None) -> dict[str, Any]:
    """Return the records per second that a daemon routes without DBSCAN queries, and with DBSCAN queries. Also return
    the source records per second until all windows are written.

    All queries have one WHERE. Raises RuntimeError if a window is missing.
    """
    values = aircraft(data, max(size.routed, size.records)).values
    scale = Ranges((0.001, 0.01), (2, 30), (1_000, 5_000), (500, 5_000)).scaled(size.share)
    queries = scale.group(size.queries, 0)
    alone: list[float] = []
    beside: list[float] = []
    windows: list[WindowRate] = []
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as name:
        folder = Path(name)
        backlog = _written(folder / "backlog.ndjson", values[: size.routed])
        points = _written(folder / "points.ndjson", values[: size.records])
        expected = _expected(queries, size.records)
        for turn in range(size.rounds):
            with _daemon(folder / f"alone-{turn}", size, ()) as daemon:
                alone.append(_routed(daemon, backlog, size.routed, windows=0))
            with _daemon(folder / f"beside-{turn}", size, queries) as daemon:
                beside.append(_routed(daemon, backlog, size.routed, windows=1))
            with _daemon(folder / f"windows-{turn}", size, queries) as daemon:
                windows.append(_drained(daemon, points, size.records, expected))
    return {
        "spark_master": MASTER,
        "records_routed": size.routed,
        "records": size.records,
        "queries": len(queries),
        "windows": expected,
        "routed_alone_per_s": alone,
        "routed_beside_windows_per_s": beside,
        "windows_per_s": [rate.records_per_s for rate in windows],
        "outputs_a_record": round(statistics.fmean(rate.outputs for rate in windows) / size.records, 2),
        "rate": statistics.median(rate.records_per_s for rate in windows),
        "routing_ratio": round(statistics.median(b / a for a, b in zip(alone, beside, strict=True)), 4),
    }


def figures_of(part: Mapping[str, Any]) -> Iterator[tuple[str, Figure]]:
    """Yield the figures of part ``served`` that have a goal, each with the name of its goal."""
    if part:
        yield "served-rate", part["rate"]
        yield "served-routing", part["routing_ratio"]


@contextmanager
def _daemon(folder: Path, size: ServedSize, queries: Sequence[BenchQuery]) -> Iterator[DaemonProcess]:
    """Yield a daemon with a separate Kafka, because daemons on the same Kafka would share the feed of a stream."""
    folder.mkdir()
    with EmbeddedKafka(folder / "kafka") as kafka:
        daemon = configured(folder, kafka, size)
        daemon.write_queries([*_routing(daemon), *_standing(queries)])
        yield daemon


def configured(folder: Path, kafka: EmbeddedKafka, size: ServedSize) -> DaemonProcess:
    """Return the daemon of a round, which has not started."""
    return DaemonProcess(folder, kafka, "dbscan", batch=size.batch, master=MASTER, quick=size.is_quick, ddl=_DDL)


def _written(file: Path, values: Floats) -> Path:
    """Write points as JSON lines, and return the file."""
    rows = enumerate(values.tolist())
    file.write_text("".join(f"{_line(row, _BEGIN + row * _APART, x, y)}\n" for row, (x, y) in rows), "utf-8")
    return file


def _line(number: int, at: datetime, x: float, y: float) -> str:
    return json.dumps({"ts": at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), "n": number, "x": x, "y": y})


def _routing(own: DaemonProcess) -> Iterator[RegisteredQuery]:
    """Yield ten queries, each of which routes a share of the records."""
    for number in range(_ROUTED):
        yield RegisteredQuery(f"route-{number}", STREAM, f"n % {_ROUTED} = {number}", own.destinations[number])


def _standing(queries: Sequence[BenchQuery]) -> Iterator[RegisteredQuery]:
    for place, query in enumerate(queries):
        plain = {"name": "dbscan", "attributes": ["x", "y"], "eps": query.eps, "min_samples": query.min_samples}
        windows = {"time": "ts", "window_points": query.window, "slide_points": query.slide}
        operator = definition_of({**plain, **windows})
        yield RegisteredQuery(f"dbscan-{place}", STREAM, "n >= 0", _TOPIC, operator=operator)


def _expected(queries: Sequence[BenchQuery], records: int) -> int:
    """Return the number of windows of all queries that end within ``records`` points."""
    return sum((records - query.window) // query.slide + 1 for query in queries if query.window <= records)


def _routed(daemon: DaemonProcess, backlog: Path, records: int, *, windows: int) -> float:
    """Return the records per second that a daemon routes. The time begins when the daemon has written ``windows``
    windows.

    The first batch, in which code is generated and compiled, is no part of the time. Raises RuntimeError if the backlog
    is routed before the windows are written.
    """
    send_ready(daemon.bootstrap_servers, daemon.source, backlog)
    with daemon.running():
        daemon.reached(1)
        _await_windows(daemon, windows)
        first, begin_count = daemon.reached(1)
        end, done = daemon.reached(records)
    if done == begin_count:
        raise RuntimeError(f"{records:,} records were routed before the first window: give more records")
    return round((done - begin_count) / (end - first), 1)


def _drained(daemon: DaemonProcess, points: Path, records: int, expected: int) -> WindowRate:
    """Return the source records per second from the time when the daemon is ready until all windows are written."""
    send_ready(daemon.bootstrap_servers, daemon.source, points)
    with daemon.running():
        ready = time.monotonic()
        daemon.reached(records)
        last, outputs = _last_window(daemon, expected)
    return WindowRate(round(records / (last - ready), 1), outputs)


def _last_window(daemon: DaemonProcess, expected: int) -> tuple[float, int]:
    """Return the time at which the last of ``expected`` windows was written, and the number of records written until
    then.

    Records dated a day later, which no query accepts, advance the watermark. The returned time is the newest timestamp
    of the records in the topic of windows. The topic is read only after all windows are written, because an earlier
    reader would take processor time from the daemon.
    """
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": daemon.bootstrap_servers})
    later = _line(-1, _BEGIN + timedelta(days=1), 0.0, 0.0).encode()

    def move_watermark() -> None:
        producer.produce(daemon.source, later)
        producer.flush()

    _await_windows(daemon, expected, move_watermark)
    last_ms, outputs = _read(daemon.bootstrap_servers, _TOPIC, expected)
    return time.monotonic() - (time.time() - last_ms / 1_000), outputs


def _await_windows(own: DaemonProcess, expected: int, between: Callable[[], None] = lambda: None) -> None:
    """Wait until the daemon has written ``expected`` windows. Call ``between`` after each check that finds fewer
    windows.
    """
    give_up = time.monotonic() + _WINDOWS_S
    while (written := _windows_written(own)) < expected:
        if time.monotonic() > give_up:
            raise RuntimeError(f"{written:,} of {expected:,} windows were there after {_WINDOWS_S:.0f} s")
        between()
        time.sleep(_PAUSE_S)


def _windows_written(own: DaemonProcess) -> int:
    """Return the number of windows that the daemon reports as written."""
    written: int = own.status()["operators"].get(OP, {}).get("outputs", {}).get("window", 0)
    return written


def _read(bootstrap_servers: str, topic: str, expected: int) -> tuple[int, int]:
    """Read a topic until ``expected`` windows are read. Return the newest timestamp of the records in milliseconds, and
    the number of records read.

    Raises RuntimeError if a window is missing.
    """
    from confluent_kafka import Consumer

    consumer = Consumer(
        {"bootstrap.servers": bootstrap_servers, "group.id": topic, "auto.offset.reset": "earliest"}
        | {"enable.auto.commit": False}
    )
    consumer.subscribe([topic])
    windows, outputs, last_ms, give_up = 0, 0, 0, time.monotonic() + _READ_S
    try:
        while windows < expected:
            if time.monotonic() > give_up:
                raise RuntimeError(f"{windows:,} of {expected:,} windows were read within {_READ_S:.0f} s")
            for message in consumer.consume(_FETCHED, timeout=0.1):
                value = None if message.error() else message.value()
                if value is not None:
                    outputs += 1
                    windows += b'"record":"window"' in value
                    last_ms = max(last_ms, message.timestamp()[1])
        return last_ms, outputs
    finally:
        consumer.close()
