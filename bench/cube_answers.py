"""The time of a cube's answer with five cuboids over sixty panes, compared with DuckDB over the raw records."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench.cube_contenders import ENGINE
from bench.cube_fold import WORKLOADS
from bench.cube_keeper import KeptCubes, kept_cubes
from bench.cube_tables import check_equal, rolled_up
from bench.timed import medians_in_turns, timed
from workloads.sales import BEGIN_US, DIMENSIONS, HOUR_US, MEASURES, sales

CUBOIDS = (("region",), ("product",), ("region", "channel"), ("shop", "status"), ("product", "channel"))
_BATCH = 100_000
_LIMIT = 100_000
_EACH, _SETS = "five GROUP BYs", "GROUPING SETS"


@dataclass(frozen=True, slots=True)
class AnswersSize:
    """The size of the measurement. ``records``: the number of different records. ``times``: the numbers of copies of
    each record. ``repetitions``: the number of runs.
    """

    records: int
    times: tuple[int, ...]
    repetitions: int


FULL = AnswersSize(1_000_000, (1, 10), 7)
QUICK = AnswersSize(5_000, (1, 2), 1)


def answers(size: AnswersSize) -> list[dict[str, Any]]:
    """Measure the time of an answer. Return one entry per workload and number of raw records.

    Raises RuntimeError if DuckDB has different groups. The larger inputs have more copies of the same records. So the
    number of cells stays constant, and the figures show how DuckDB's time grows with the number of raw records.
    """
    found = []
    for workload, values in WORKLOADS.items():
        records = sales(size.records, values)
        found += [{"workload": workload, **_contest(records, times, size.repetitions)} for times in size.times]
    return found


def _contest(records: pa.Table, times: int, repetitions: int) -> dict[str, Any]:
    import duckdb

    asked = {"by": [list(cuboid) for cuboid in CUBOIDS], "limit": _LIMIT}
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as name, duckdb.connect() as connection:
        path = Path(name) / "cubes.sqlite"
        with kept_cubes(path, [DIMENSIONS]) as kept:
            _fill(kept, records, times)
            cells = kept.cells
        connection.execute("SET threads = 1")
        without_zone = records.set_column(0, "sold_at", records["sold_at"].cast(pa.timestamp("us")))
        connection.register("given", without_zone)
        connection.execute(f"CREATE TABLE raw AS SELECT given.* FROM given, range({times})")
        statements = {_EACH: [_grouped(f"GROUP BY {', '.join(own)}", own) for own in CUBOIDS], _SETS: [_in_sets()]}
        with kept_cubes(path, [DIMENSIONS]) as kept:
            first_s = timed(lambda: kept.ask(asked), time.process_time)
            answer = kept.ask(asked)
            _check(answer, connection, statements[_EACH])
            methods = {method: _asking(connection, several) for method, several in statements.items()}
            contenders = {ENGINE: lambda: kept.ask(asked), **methods}
            median_s = medians_in_turns(contenders, repetitions, time.process_time)
    (read,) = {(each["panes"], each["cells"]) for each in answer["answered_by"]}
    return {
        "raw_records": records.num_rows * times,
        "panes": read[0],
        "cells": cells,
        "rows": len(answer["rows"]),
        "first_s": round(first_s, 5),
        "own_s": round(median_s[ENGINE], 5),
        "duckdb_s": round(min(median_s[_EACH], median_s[_SETS]), 5),
        "duckdb_ways_s": {method: round(median_s[method], 5) for method in statements},
    }


def _fill(kept: KeptCubes, records: pa.Table, times: int) -> None:
    """Commit each batch of records ``times`` times, and close the panes of the records."""
    for begin in range(0, records.num_rows, _BATCH):
        batch = records.slice(begin, _BATCH)
        partials = kept.partials(batch)
        for _ in range(times):
            kept.commit(partials, batch.num_rows, None)
    kept.close_panes(BEGIN_US + 2 * HOUR_US)


def _grouped(group_by: str, names: Sequence[str]) -> str:
    return f"SELECT {', '.join(names)}, {', '.join(MEASURES)} FROM raw {group_by}"


def _in_sets() -> str:
    sets = ", ".join(f"({', '.join(cuboid)})" for cuboid in CUBOIDS)
    return _grouped(f"GROUP BY GROUPING SETS ({sets})", list(dict.fromkeys(name for own in CUBOIDS for name in own)))


def _asking(connection: Any, statements: Sequence[str]) -> Any:
    return lambda: [connection.execute(statement).fetchall() for statement in statements]


def _check(answer: Mapping[str, Any], connection: Any, statements: Sequence[str]) -> None:
    """Check that each cuboid of an answer equals DuckDB's result."""
    for cuboid, statement in zip(CUBOIDS, statements, strict=True):
        rows = [row for row in answer["rows"] if set(row["group"]) == set(cuboid)]
        own = pa.Table.from_pylist([{**row["group"], **row} for row in rows])
        other = connection.execute(statement).to_arrow_table()
        check_equal(f"cuboid {cuboid}", rolled_up(own, cuboid), rolled_up(other, cuboid), cuboid)
