"""The throughput of a backlog through a daemon that routes records. The benchmark measures the daemon without cubes,
with a query that reads the columns of the cubes, and with cubes.
"""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench.cube_source import check_totals, cube_query, routing_queries, send_lines, write_lines
from bench.daemon_process import STREAM, DaemonProcess
from broker.kafka.embedded import EmbeddedKafka
from broker.queries.query import RegisteredQuery
from workloads.sales import DIMENSIONS, NARROW, SALES_DDL, sales, sales_cubes

_READ = "quantity = 0 AND amount < 0 AND price < 0 AND sold_at < TIMESTAMP '1970-01-01' AND " + " AND ".join(
    f"{name} = 'none'" for name in DIMENSIONS
)
"""A predicate that reads the columns of the cubes, and accepts no record."""


@dataclass(frozen=True, slots=True)
class Load:
    """The queries that a daemon serves in addition to the routing queries: a number of cubes, or one query whose
    predicate reads the columns of the cubes.
    """

    cubes: int
    reads_columns: bool = False


@dataclass(frozen=True, slots=True)
class StreamSize:
    """The size of the measurement. ``records`` and ``batch``: the numbers of records of the backlog and of a batch.
    ``cubes``: the numbers of cubes. ``rounds``: the number of rounds. ``quick``: true for a quick test.
    """

    records: int
    batch: int
    cubes: tuple[int, ...]
    rounds: int
    quick: bool = False


FULL = StreamSize(1_000_000, 100_000, (1, 20), 3)
QUICK = StreamSize(8_000, 2_000, (2,), 1, quick=True)


def stream(size: StreamSize) -> dict[str, Any]:
    """Return the records per second of each load in each round, and its ratio to the records per second without load.
    The ratio is the median over the rounds. The loads run alternately.

    The time excludes the first batch, in which code is generated and compiled. Raises RuntimeError if a cube's totals
    differ from DuckDB's totals over the records.
    """
    records = sales(size.records, NARROW)
    loads = (Load(0), Load(0, reads_columns=True), *map(Load, size.cubes))
    rates: dict[Load, list[float]] = {load: [] for load in loads}
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as name, EmbeddedKafka(Path(name) / "kafka") as kafka:
        lines = Path(name) / "sales.ndjson"
        write_lines(records, lines)
        for turn in range(size.rounds):
            for number, (load, load_rates) in enumerate(rates.items()):
                daemon = DaemonProcess(
                    Path(name),
                    kafka,
                    f"load-{number}-{turn}",
                    batch=size.batch,
                    quick=size.quick,
                    ddl=SALES_DDL,
                )
                load_rates.append(_drained(daemon, lines, load, records))
    return {
        "records": size.records,
        "batch": size.batch,
        "results": [
            {
                **asdict(load),
                "rounds_records_a_s": own,
                "ratio": round(statistics.median(a / b for a, b in zip(own, rates[Load(0)], strict=True)), 4),
            }
            for load, own in rates.items()
        ],
    }


def _drained(daemon: DaemonProcess, lines: Path, load: Load, records: pa.Table) -> float:
    """Return the records per second of a daemon with the queries of ``load``, which are registered before the first
    record arrives.
    """
    cubes = list(sales_cubes(load.cubes)) if load.cubes else []
    reading = [RegisteredQuery("reads", STREAM, _READ, daemon.destinations[0])] if load.reads_columns else []
    daemon.write_queries([*routing_queries(daemon), *reading, *map(cube_query, cubes)])
    send_lines(daemon, lines)
    with daemon.running():
        first, begin_count = daemon.reached(1)
        end, done = daemon.reached(records.num_rows)
        for cube in cubes:
            check_totals(daemon, cube, records)
    return round((done - begin_count) / (end - first), 1)
