"""The rate of the backfill of a standing cube, compared with DuckDB, which reads and inserts the same lines. The
benchmark also measures how much a backfill slows a stream that routes a backlog.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench.cube_contenders import GRAIN_S
from bench.cube_source import check_totals, cube_query, routing_queries, send_lines, write_lines
from bench.daemon_process import STREAM, DaemonProcess
from broker.kafka.embedded import EmbeddedKafka
from broker.operators.cube.definition import StandingCube
from broker.queries.query import RegisteredQuery, default_topic
from workloads.sales import DIMENSIONS, MEASURES, NARROW, SALES_DDL, SalesCube, sales

_CUBE = SalesCube("half", "amount < 500", DIMENSIONS)
"""A cube that accepts half of the records."""

_STORED = ("sold_at", *DIMENSIONS, "amount", "price")
"""The columns that the cube reads, and that DuckDB inserts."""

_DONE_S = 900.0
_PAUSE_S = 0.1


@dataclass(frozen=True, slots=True)
class BackfillSize:
    """The size of the measurement. ``past``: the number of records that the backfill reads. ``backlog`` and ``batch``:
    the numbers of records of the backlog and of a live batch. ``rounds``: the number of rounds. ``quick``: true for a
    quick test, whose times are not meaningful.
    """

    past: int
    backlog: int
    batch: int
    rounds: int
    quick: bool = False


FULL = BackfillSize(1_000_000, 3_000_000, 100_000, 2)
QUICK = BackfillSize(4_000, 4_000, 2_000, 1, quick=True)


def backfill(size: BackfillSize) -> dict[str, Any]:
    """Return the records per second of a backfill of an idle stream, and of DuckDB on one thread, in each round. Also
    return the records per second at which the stream routes a backlog, during a backfill and without a backfill.

    The rate of a backfill excludes its first batch, in which code is generated and compiled. The ratios are the medians
    over the rounds. Raises RuntimeError if a cube's totals differ from DuckDB's totals over the records.
    """
    records = sales(max(size.past, size.backlog), NARROW)
    runs: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as name, EmbeddedKafka(Path(name) / "kafka") as kafka:
        folder = Path(name)
        past, backlog = records.slice(0, size.past), records.slice(0, size.backlog)
        for lines, own in (("past.ndjson", past), ("backlog.ndjson", backlog)):
            write_lines(own, folder / lines)
        for turn in range(size.rounds):
            alone = _backfilled(_daemon(folder, kafka, f"idle-{turn}", size), folder / "past.ndjson", past, size)
            inserted = _inserted(folder / "past.ndjson", folder / f"sales-{turn}.duckdb", size.past)
            now, _ = _routed(_daemon(folder, kafka, f"now-{turn}", size), folder, "now", size)
            beside, read = _routed(_daemon(folder, kafka, f"earliest-{turn}", size), folder, "earliest", size)
            routed = {"routed_alone_a_s": now, "routed_beside_a_s": beside, "read_beside": read}
            runs.append({"backfill_records_a_s": alone, "duckdb_records_a_s": inserted, **routed})
    return {
        "past": size.past,
        "backlog": size.backlog,
        "batch": size.batch,
        "where": _CUBE.where,
        "runs": runs,
        "ratio": round(statistics.median(own["backfill_records_a_s"] / own["duckdb_records_a_s"] for own in runs), 4),
        "routing_ratio": round(
            statistics.median(own["routed_beside_a_s"] / own["routed_alone_a_s"] for own in runs), 4
        ),
    }


def _daemon(folder: Path, kafka: EmbeddedKafka, name: str, size: BackfillSize) -> DaemonProcess:
    return DaemonProcess(folder, kafka, name, batch=size.batch, quick=size.quick, ddl=SALES_DDL)


def _backfilled(daemon: DaemonProcess, lines: Path, records: pa.Table, size: BackfillSize) -> float:
    """Return the records per second of the backfill of a cube that is registered after all records."""
    send_lines(daemon, lines)
    with daemon.running():
        daemon.reached(size.past)
        operator = {"dimensions": [[name] for name in _CUBE.dimensions], "measures": list(MEASURES)}
        daemon.put_cube(_CUBE.id, _CUBE.where, **operator, time="sold_at", grain_s=GRAIN_S, **{"from": "earliest"})
        # Spark generates and compiles code during the first batch. So the time begins after the first batch, if there
        # are further batches.
        begin_s, left = _at_most(daemon, size.past - 1)
        end_s, _ = _at_most(daemon, 0) if left else (time.monotonic(), 0)
        check_totals(daemon, _CUBE, records)
    return round((left or size.past) / max(end_s - begin_s, _PAUSE_S), 1)


def _at_most(daemon: DaemonProcess, most: int) -> tuple[float, int]:
    """Wait until at most ``most`` offsets are left to be read. Return the time of the last look, and the number."""
    give_up = time.monotonic() + _DONE_S
    while (left := daemon.backfill_left(_CUBE.id)) > most:
        if time.monotonic() > give_up:
            raise RuntimeError(f"{left:,} offsets were not read in {_DONE_S:.0f} s")
        time.sleep(_PAUSE_S)
    return time.monotonic(), left


def _inserted(lines: Path, file: Path, count: int) -> float:
    """Return the records per second at which DuckDB reads lines of JSON and inserts their columns, on one thread."""
    import duckdb

    with duckdb.connect(str(file)) as connection:
        connection.execute("SET threads = 1")
        begin_s = time.monotonic()
        read = f"read_json('{lines}', format = 'newline_delimited')"
        connection.execute(f"CREATE TABLE sales AS SELECT {', '.join(_STORED)} FROM {read}")
        seconds = time.monotonic() - begin_s
    return round(count / seconds, 1)


def _routed(daemon: DaemonProcess, folder: Path, begin: str, size: BackfillSize) -> tuple[float, int]:
    """Return the records per second of a backlog that a daemon routes, with a cube that begins ``now``, or is
    backfilled meanwhile. Also return the number of past offsets that the backfill has read meanwhile.
    """
    send_lines(daemon, folder / "past.ndjson")
    with daemon.running():
        daemon.reached(size.past)
    own = cube_query(_CUBE)
    assert isinstance(own.operator, StandingCube)
    operator = StandingCube.parse({**own.operator.plain(), "from": begin})
    cube = RegisteredQuery(own.id, STREAM, own.where, default_topic(own.id), operator=operator)
    daemon.write_queries([*routing_queries(daemon), cube])
    send_lines(daemon, folder / "backlog.ndjson")
    with daemon.running():
        first_s, begun = daemon.reached(1)
        end_s, done = daemon.reached(size.backlog)
        # For a cube that begins now, all past records are still to be read, so the difference is 0.
        read = size.past - min(size.past, daemon.backfill_left(_CUBE.id))
    return round((done - begun) / max(end_s - first_s, _PAUSE_S), 1), read
