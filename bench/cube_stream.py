"""A backlog through a daemon that routes it: without cubes, with one and with twenty."""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench.cube_source import check_totals, cube_query, routing_queries, send_lines, write_lines
from bench.served import Served
from broker.kafka.embedded import EmbeddedKafka
from workloads.sales import NARROW, SALES_DDL, sales, sales_cubes


@dataclass(frozen=True, slots=True)
class StreamSize:
    """Records of the backlog and of a batch, numbers of cubes beside none, rounds, and whether it is no measurement."""

    records: int
    batch: int
    cubes: tuple[int, ...]
    rounds: int
    quick: bool = False


FULL = StreamSize(1_000_000, 100_000, (1, 20), 3)
QUICK = StreamSize(8_000, 2_000, (2,), 1, quick=True)


def stream(size: StreamSize) -> dict[str, Any]:
    """Return the records a second of each number of cubes, in turns with none; the median of the rounds' ratios.

    The first batch, in which code is generated and compiled, is no part of a time. RuntimeError where a cube's totals
    are not those of DuckDB over the records.
    """
    records = sales(size.records, NARROW)
    rates: dict[int, list[float]] = {count: [] for count in (0, *size.cubes)}
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as name, EmbeddedKafka(Path(name) / "kafka") as kafka:
        lines = Path(name) / "sales.ndjson"
        write_lines(records, lines)
        for turn in range(size.rounds):
            for count, own in rates.items():
                served = Served(
                    Path(name),
                    kafka,
                    f"cubes-{count}-{turn}",
                    batch=size.batch,
                    quick=size.quick,
                    ddl=SALES_DDL,
                )
                own.append(_drained(served, lines, count, records))
    return {
        "records": size.records,
        "batch": size.batch,
        "results": [
            {
                "cubes": count,
                "rounds_records_a_s": own,
                "ratio": round(statistics.median(a / b for a, b in zip(own, rates[0], strict=True)), 4),
            }
            for count, own in rates.items()
        ],
    }


def _drained(served: Served, lines: Path, count: int, records: pa.Table) -> float:
    """Return the records a second with so many cubes, which stand before the first record comes."""
    cubes = list(sales_cubes(count)) if count else []
    served.stand_all([*routing_queries(served), *map(cube_query, cubes)])
    send_lines(served, lines)
    with served.running():
        first, begun = served.reached(1)
        end, done = served.reached(records.num_rows)
        for cube in cubes:
            check_totals(served, cube, records)
    return round((done - begun) / (end - first), 1)
