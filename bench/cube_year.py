"""The time of a cube's answer by month over a year, with panes of an hour. The benchmark compares answers from a view,
answers from the base cuboid, and DuckDB.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from asc.frozen import frozen
from asc.operators.cube.cells import Cells, joined
from asc.operators.cube.view import View
from bench.cube_commit import of_different_groups
from bench.cube_keeper import KeptCubes, kept_cubes
from bench.cube_tables import check_equal, rolled_up
from bench.timed import medians_in_turns, timed
from broker.operators.cube.partial import Partial
from workloads.sales import DIMENSIONS, HOUR_US, MEASURES, WIDE

_HOURS, _DAY_HOURS = 8_760, 24
_KEYS = ("pane", "region")
_GRAIN_S = 3_600


@dataclass(frozen=True, slots=True)
class YearSize:
    """The size of the measurement: the number of cells of a pane, the number of months, the number of raw records that
    DuckDB groups, and the number of runs.
    """

    cells: int
    months: int
    raw_records: int
    repetitions: int


FULL = YearSize(5_000, 12, 10_000_000, 7)
QUICK = YearSize(50, 2, 10_000, 1)


def year(size: YearSize) -> dict[str, Any]:
    """Measure one cuboid by month: from a view of days, and without views.

    Without views, each month is a separate question, so that its cells fit into memory; the figure is the sum. DuckDB
    groups raw records that are spread over the same hours. Raise RuntimeError if an answer differs from another.
    """
    borders = [datetime(2013, 1 + month, 1, tzinfo=timezone.utc) for month in range(min(size.months, 11) + 1)]
    if size.months == 12:
        borders.append(datetime(2014, 1, 1, tzinfo=timezone.utc))
    first, end = (round(own.timestamp()) // _GRAIN_S for own in (borders[0], borders[-1]))
    batch = of_different_groups(size.cells, WIDE)
    by_region = View(tuple(int(name == "region") for name in DIMENSIONS), _DAY_HOURS)
    asked = {"by": ["region"], "grain": "1M", "from": _text(borders[0]), "to": _text(borders[-1]), "limit": 100_000}
    months = [{**asked, "from": _text(begin), "to": _text(following)} for begin, following in pairwise(borders)]
    base = {"by": list(DIMENSIONS), "grain_s": _GRAIN_S}
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as name:
        path = Path(name) / "cubes.sqlite"
        with kept_cubes(path, [DIMENSIONS], grain_s=_GRAIN_S, pins=[by_region]) as kept:
            built_s = timed(lambda: _build(kept, batch, first, end))
        size_bytes = sum(each.stat().st_size for each in Path(name).iterdir())
        with kept_cubes(path, [DIMENSIONS], grain_s=_GRAIN_S, pins=[by_region]) as kept:
            first_s = timed(lambda: kept.ask(asked))
            answer = kept.ask(asked)
            rows: list[Mapping[str, Any]] = []
            start_s = time.process_time()
            for month in months:
                rows += kept.ask({**month, "answer_from": base})["rows"]
            base_s = time.process_time() - start_s
            own = rolled_up(_table(answer["rows"]), _KEYS)
            check_equal("the answer without views", own, rolled_up(_table(rows), _KEYS), _KEYS)
            own_s, duckdb_s = _contest(kept, asked, batch, size, (first, end))
    return {
        "panes": end - first,
        "cells": size.cells * (end - first),
        "raw_records": size.raw_records,
        "answered_by": answer["answered_by"],
        "file_bytes": size_bytes,
        "built_s": round(built_s, 2),
        "first_s": round(first_s, 5),
        "own_s": round(own_s, 5),
        "base_s": round(base_s, 4),
        "duckdb_s": round(duckdb_s, 5),
    }


def _build(kept: KeptCubes, batch: pa.Table, first: int, end: int) -> None:
    """Commit the cells of the batch in each pane, a day at a time."""
    (partial,) = kept.partials(batch).values()
    cells, here = partial.cells, int(partial.cells.panes[0])
    for day in range(first, end, _DAY_HOURS):
        panes = range(day, day + _DAY_HOURS)
        parts = [replace(cells, panes=frozen(cells.panes + (pane - here))) for pane in panes]
        whole: Cells = joined(kept.layout(), parts)
        partials = {kept.id(): Partial(whole, dict.fromkeys(panes, batch.num_rows))}
        kept.commit(partials, batch.num_rows * _DAY_HOURS, (day + _DAY_HOURS) * HOUR_US - 1)
    kept.close_panes((end + 1) * HOUR_US)
    kept.keeper.views.fill(600.0)


def _contest(
    kept: KeptCubes, asked: Mapping[str, Any], batch: pa.Table, size: YearSize, panes: tuple[int, int]
) -> tuple[float, float]:
    """Return the median seconds that asc and DuckDB take to answer a question. The two run alternately."""
    import duckdb

    copies = size.raw_records // batch.num_rows
    hours = np.linspace(*panes, copies, endpoint=False).astype(np.int64)
    # Remove the time zone, because DuckDB would need an additional package to group times with a zone.
    given = batch.set_column(0, "sold_at", batch["sold_at"].cast(pa.timestamp("us")))
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.register("given", given)
        connection.register("hours", pa.table({"hour": pa.array(hours * HOUR_US, pa.timestamp("us"))}))
        shifted = "hour + (sold_at - date_trunc('hour', sold_at)) AS sold_at"
        connection.execute(f"CREATE TABLE raw AS SELECT given.* REPLACE ({shifted}) FROM given, hours")
        keys = "date_trunc('month', sold_at) AS pane, region"
        sql = f"SELECT {keys}, {', '.join(MEASURES)} FROM raw GROUP BY ALL"
        contenders = {"asc": lambda: kept.ask(asked), "DuckDB": lambda: connection.execute(sql).fetchall()}
        own = rolled_up(_table(kept.ask(asked)["rows"]), ("region",))
        other = rolled_up(connection.execute(sql).to_arrow_table(), ("region",))
        for here, there in zip(own.to_pylist(), other.to_pylist(), strict=True):
            if here["records"] * copies != there["records"] * (panes[1] - panes[0]) or here["most"] != there["most"]:
                raise RuntimeError(f"{here['region']}: asc answers {here}, and DuckDB {there}")
        medians = medians_in_turns(contenders, size.repetitions, time.process_time)
    return medians["asc"], medians["DuckDB"]


def _table(rows: list[Mapping[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist([{**row["group"], **row} for row in rows])


def _text(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")
