"""The rate and latency of cube queries over HTTP while records flow, and the latency that these queries add to the
routing of records.
"""

from __future__ import annotations

import multiprocessing
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from bench.daemon_process import DaemonProcess
from bench.stream import publish_backlog
from bench.traffic import receiving, send_paced
from broker.kafka.embedded import EmbeddedKafka
from broker.runtime.spark import spark_session

_QUERIES = 10
_LAST_S = 3.0
_ASKED: Mapping[str, Any] = {"by": ["zone"], "live": True}
_REQUEST_S = 60.0


@dataclass(frozen=True, slots=True)
class HttpSize:
    """The size of the measurement of answers.

    ``backlog``: the number of records before the measurement. ``widths``: for each cube, the width of the interval of
    the column ``a`` that a cell covers. ``clients``: the number of clients. ``rate``: the records per second.
    ``queries_a_s``: the queries per second of all paced clients together. ``seconds``: the duration of a load.
    ``rounds``: the number of rounds with and without queries. ``quick``: true for a quick test.
    """

    backlog: int
    widths: Mapping[str, int]
    clients: int
    rate: float
    queries_a_s: float
    seconds: float
    rounds: int
    quick: bool = False


TEN, HUNDRED = "10,000 cells", "100,000 cells"
FULL = HttpSize(1_000_000, {TEN: 10_000, HUNDRED: 1_000}, 4, 2_000, 100.0, 30.0, 2)
QUICK = HttpSize(5_000, {TEN: 100_000, HUNDRED: 50_000}, 2, 100, 20.0, 4.0, 1, quick=True)


def http(size: HttpSize) -> dict[str, Any]:
    """Return the figures of queries to each cube, and the latency of routing with and without these queries.

    All cells are in a single open pane of a day, and each answer sums all cells by the hundred zones. The clients are
    threads of a separate process. They query at a fixed rate ("paced"), which shows how much the queries slow down
    routing at this rate, and without pause ("flat out"). Raises RuntimeError if the answers do not count every record
    once, or if paced clients are not answered in time.
    """
    spark = spark_session(app_name="asc-bench-cube")
    routing: dict[str, list[float]] = {"alone": [], "paced": [], "flat out": []}
    asked: dict[str, list[dict[str, Any]]] = {name: [] for name in size.widths}
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as name, EmbeddedKafka(Path(name) / "kafka") as kafka:
        daemon = DaemonProcess(Path(name), kafka, "http", quick=size.quick)
        daemon.write_subscribers(_QUERIES)
        with receiving(daemon.bootstrap_servers, daemon.destinations) as receiver, daemon.running():
            for number, width in enumerate(size.widths.values()):
                dimensions = [["zone"], [f"(a div {width})"]]
                daemon.put_cube(
                    f"cube-{number}", "true", dimensions=dimensions, measures=["count(*) AS records"], grain_s=86_400
                )
            publish_backlog(spark, daemon.bootstrap_servers, daemon.source, size.backlog)
            daemon.reached(sent := size.backlog)

            def loaded() -> float:
                receiver.taken()
                nonlocal sent
                sent += send_paced(daemon.bootstrap_servers, daemon.source, size.rate, size.seconds)
                receiver.settle(_LAST_S)
                return float(np.median(receiver.taken().latency))

            receiver.settle(_LAST_S)
            loaded()
            for _ in range(size.rounds):
                routing["alone"].append(round(loaded(), 4))
                with _clients(daemon, "cube-0", size.clients, size.queries_a_s) as answers_s:
                    routing["paced"].append(round(loaded(), 4))
                _check_pace(_figures(answers_s[0], size.clients), size.queries_a_s)
                with _clients(daemon, "cube-0", size.clients) as answers_s:
                    routing["flat out"].append(round(loaded(), 4))
                asked[TEN].append(_figures(answers_s[0], size.clients))
            for clients in (size.clients, 1):
                with _clients(daemon, "cube-1", clients) as answers_s:
                    loaded()
                asked[HUNDRED].append(_figures(answers_s[0], clients))
            cells = [_checked(daemon, f"cube-{number}", sent) for number in range(len(size.widths))]
    paced, flat_out = (
        statistics.median(own / other for own, other in zip(routing[name], routing["alone"], strict=True))
        for name in ("paced", "flat out")
    )
    return {
        "rate": size.rate,
        "queries_a_s": size.queries_a_s,
        "routing_p50_s": routing,
        "routing_ratio": round(paced, 4),
        "routing_ratio_flat_out": round(flat_out, 4),
        "results": [
            {"cube": name, "cells": own, "runs": asked[name]} for name, own in zip(size.widths, cells, strict=True)
        ],
    }


def _figures(latency: list[float], clients: int) -> dict[str, Any]:
    *each, elapsed_s = latency
    p50, p99 = np.percentile(each, (50, 99)).tolist()
    rate = round(len(each) / elapsed_s, 1)
    return {"clients": clients, "queries_a_s": rate, "p50_s": round(p50, 5), "p99_s": round(p99, 5)}


def _check_pace(figures: Mapping[str, Any], queries_a_s: float) -> None:
    """Raise RuntimeError if the clients with a fixed rate got fewer answers per second than nine tenths of
    this rate.
    """
    if figures["queries_a_s"] < 0.9 * queries_a_s:
        raise RuntimeError(f"clients got {figures['queries_a_s']} answers a second, and asked {queries_a_s}")


def _checked(daemon: DaemonProcess, cube: str, sent: int) -> int:
    """Return the number of cells that an answer reads. Raise RuntimeError if the counts of all zones do not add up to
    the number of records sent.
    """
    daemon.reached(sent)
    give_up = time.monotonic() + _REQUEST_S
    while True:
        found = daemon.ask(cube, by=["zone"], limit=1_000)
        counted = sum(row["records"] for row in found["rows"])
        if counted == sent:
            return int(found["answered_by"][0]["cells"])
        if time.monotonic() > give_up:
            raise RuntimeError(f"{cube} counts {counted:,} records, and {sent:,} were sent")
        time.sleep(0.1)


@contextmanager
def _clients(
    daemon: DaemonProcess, cube: str, clients: int, queries_a_s: float | None = None
) -> Iterator[list[list[float]]]:
    """Run clients that query a cube during the block, together at the rate ``queries_a_s``. If the rate is None, each
    client sends its next query as soon as the last one is answered.

    At the end of the block, the list contains the seconds of each query, followed by the seconds of all queries
    together.
    """
    context = multiprocessing.get_context("spawn")
    connection, others = context.Pipe()
    process = context.Process(target=_asking, args=(others, daemon.address, cube, clients, queries_a_s), daemon=True)
    process.start()
    others.close()
    found: list[list[float]] = []
    try:
        connection.recv()
        yield found
        connection.send(None)
        found.append(connection.recv())
    except EOFError:
        raise RuntimeError("the process that asks has ended: see the lines above") from None
    finally:
        process.join(timeout=10)
        process.kill()


def _asking(connection: Connection, address: str, cube: str, clients: int, queries_a_s: float | None) -> None:
    interval_s = 0.0 if queries_a_s is None else clients / queries_a_s
    ended = threading.Event()
    latency: list[list[float]] = [[] for _ in range(clients)]

    def asks(answers_s: list[float]) -> None:
        with httpx.Client(base_url=address, timeout=_REQUEST_S, trust_env=False) as client:
            due = time.perf_counter()
            while not ended.is_set():
                start_s = time.perf_counter()
                client.post(f"/v1/queries/{cube}/cube/query", json=_ASKED).raise_for_status()
                answers_s.append(time.perf_counter() - start_s)
                # A late client sends its requests without pause until it has caught up. Then it sends them at their due
                # times again.
                due += interval_s
                ended.wait(max(0.0, due - time.perf_counter()))

    threads = [threading.Thread(target=asks, args=(own,)) for own in latency]
    start_s = time.perf_counter()
    for thread in threads:
        thread.start()
    connection.send(None)
    connection.recv()
    elapsed_s = time.perf_counter() - start_s
    ended.set()
    for thread in threads:
        thread.join()
    connection.send([*(each for own in latency for each in own), elapsed_s])
