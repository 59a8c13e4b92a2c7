"""The cost of sketches in cubes, compared with plain calls of datasketches, with Spark, and with DuckDB."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.frozen import frozen
from asc.operators.cube.asked_measure import asked_measure
from asc.operators.cube.columns import Columns
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.fold import folded
from asc.operators.cube.layout import Layout
from asc.operators.cube.states.distinct import Distinct
from asc.operators.cube.states.quantiles import Quantiles
from asc.schema import Schema
from bench.cpu_time import cpu_s

_DDL = "at TIMESTAMP, cell INT, temp DOUBLE, humidity DOUBLE, station STRING"
_MEASURES = ["corr(temp, humidity) AS r", "quantiles(temp) AS t", "quantiles(humidity) AS h", "distinct(station) AS s"]
_STATIONS = 100_000
_MINUTE_US = 60_000_000
_SEED = 13
_STEP = 200_000
_QUESTIONS = (
    ("quantile(temp, 0.5)", "approx_quantile(temp, 0.5)", "quantile_disc(temp, 0.5)"),
    ("s", "approx_count_distinct(station)", "count(DISTINCT station)"),
)
"""For each question: its measure, the approximate function of DuckDB, and the exact function of DuckDB."""
_HELD_LEAST = 0.8
"""The least share of groups whose exact answer must be within the bounds. The share is far below the probability that
the sketches claim, because a few groups may deviate by chance.
"""


@dataclass(frozen=True, slots=True)
class FoldSize:
    """The size of a fold: the number of records of a batch, the numbers of cells to measure, and the number of
    repetitions.
    """

    batch: int
    cells: tuple[int, ...]
    repetitions: int


@dataclass(frozen=True, slots=True)
class AnswersSize:
    """The size of answers over past records: the number of records, the number of groups (``cells``), the numbers of
    panes to measure, and the number of repetitions.
    """

    records: int
    cells: int
    panes: tuple[int, ...]
    repetitions: int


@dataclass(frozen=True, slots=True)
class ClosedSize:
    """The size of answers from one cell: the number of records of the cell, and the number of repetitions."""

    records: int
    repetitions: int


FOLD_FULL, FOLD_QUICK = FoldSize(200_000, (100, 1_000, 10_000), 5), FoldSize(2_000, (10, 100), 1)
ANSWERS_FULL, ANSWERS_QUICK = AnswersSize(10_000_000, 100, (1, 60), 5), AnswersSize(20_000, 5, (1, 4), 1)
CLOSED_FULL, CLOSED_QUICK = ClosedSize(1_000_000, 2_000), ClosedSize(5_000, 20)


def fold(size: FoldSize) -> dict[str, Any]:
    """Return the times to fold a batch: by the engine, by the engine's sketches without the rest of the fold, by calls
    of datasketches for each cell, and by Spark.

    Raise RuntimeError if Spark's answers are not within the bounds of the engine's.
    """
    spark = _Spark()
    return {"batch": size.batch, "results": [_folded(size, cells, spark) for cells in size.cells]}


def _folded(size: FoldSize, cells: int, spark: _Spark) -> dict[str, Any]:
    records, layout = _records(size.batch, cells, 1), Layout.of(_definition(), Schema.of(_DDL))
    _check(records, spark, cells)
    return {
        "cells": cells,
        "own_s": _fastest(lambda: folded(layout, Columns(records, layout.schema, "UTC")), size.repetitions),
        "sketches_s": _fastest(lambda: _sketched(records, cells), size.repetitions),
        "plain_s": _fastest(lambda: _plain(records, cells), size.repetitions),
        "spark_s": spark.measured(records, size.repetitions),
    }


def answers(size: AnswersSize) -> dict[str, Any]:
    """Return the times to answer a quantile and a distinct count by group: from cubes with different numbers of panes,
    and by DuckDB over all records.

    Raise RuntimeError if too few exact answers are within the bounds.
    """
    import duckdb

    results = []
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        for panes in size.panes:
            records, cube = _records(size.records, size.cells, panes), Cube(_definition(), _DDL)
            for start in range(0, size.records, _STEP):
                cube.fold(records.slice(start, _STEP))
            connection.register("arrow", records.drop_columns(["at"]))
            connection.execute("CREATE OR REPLACE TABLE records AS FROM arrow")
            results += [{"panes": panes, **_asked(cube, connection, size, own)} for own in _QUESTIONS]
    return {"records": size.records, "cells": size.cells, "results": results}


def _asked(cube: Cube, connection: Any, size: AnswersSize, question: tuple[str, str, str]) -> dict[str, Any]:
    """Return the times that the cube and DuckDB take to answer one question."""

    def grouped(call: str) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = connection.execute(f"SELECT cell, {call} FROM records GROUP BY cell").fetchall()
        return rows

    function, sql, exact = question
    body = {"by": ["cell"], "measures": [function]}
    truth = dict(grouped(exact))
    held = [
        row[function]["low"] <= truth[row["group"]["cell"]] <= row[function]["high"] for row in cube.query(body)["rows"]
    ]
    if len(held) != size.cells or statistics.mean(held) < _HELD_LEAST:
        raise RuntimeError(f"{function}: {sum(held)} of {size.cells} exact answers are within the bounds")
    return {
        "function": function,
        "own_s": _fastest(partial(cube.query, body), size.repetitions),
        "duckdb_s": _fastest(partial(grouped, sql), size.repetitions),
    }


def closed(size: ClosedSize) -> dict[str, Any]:
    """Return the times to answer questions from the stored states of one closed cell, in this process."""
    cube = Cube(_definition(), _DDL)
    cube.fold(_records(size.records, 1, 1))
    layout, states = cube.layout, cube.cells.states
    results = []
    for text, goal_ms in (("quantile(temp, 0.5)", 0.05), ("rank(temp, 0.3)", 0.05), ("s", 0.2)):
        measure = layout.answered(asked_measure(text, layout.definition))
        measure.of(states)
        seconds = []
        for _ in range(size.repetitions):
            begin_s = time.perf_counter()
            measure.of(states)
            seconds.append(time.perf_counter() - begin_s)
        results.append({"function": text, "own_s": statistics.median(seconds), "goal_ms": goal_ms})
    return {"records": size.records, "results": results}


class _Spark:
    """The contender Spark. It runs one aggregation by cell on one core, over a batch that is cached in memory."""

    def __init__(self) -> None:
        from broker.runtime.spark import spark_session

        options = {"spark.sql.shuffle.partitions": "1", "spark.ui.enabled": "false"}
        self._session = spark_session(
            app_name="asc-bench-sketches", master="local[1]", driver_memory="2g", options=options, connector=False
        )

    def measured(self, records: pa.Table, repetitions: int) -> float:
        """Return the least time of an aggregation."""
        frame = self._grouped(records)
        return _fastest(lambda: frame.write.format("noop").mode("overwrite").save(), repetitions, cpu_s)

    def answers(self, records: pa.Table) -> dict[int, tuple[float, int]]:
        """Return the median of temperatures and the estimated number of stations of each cell."""
        rows = self._grouped(records).selectExpr("cell", "t", "hll_sketch_estimate(s) AS s").collect()
        return {row["cell"]: (row["t"], row["s"]) for row in rows}

    def _grouped(self, records: pa.Table) -> Any:
        from pyspark.sql import functions as sf

        frame = self._session.createDataFrame(records.drop_columns(["at"]).to_pandas()).coalesce(1).cache()
        frame.count()
        return frame.groupBy("cell").agg(
            sf.expr("corr(temp, humidity) AS r"),
            sf.expr("approx_percentile(temp, 0.5) AS t"),
            sf.expr("approx_percentile(humidity, 0.5) AS h"),
            sf.expr("hll_sketch_agg(station, 12) AS s"),
        )


def _check(records: pa.Table, spark: _Spark, cells: int) -> None:
    """Raise RuntimeError if Spark's answers are not near those of the engine, or not for the same cells."""
    cube = Cube(_definition(), _DDL)
    cube.fold(records)
    rows = cube.query({"by": ["cell"], "measures": ["t", "s"], "limit": 100_000})["rows"]
    theirs = spark.answers(records)
    near = [
        row["t"]["min"] <= theirs[row["group"]["cell"]][0] <= row["t"]["max"]
        and abs(row["s"]["estimate"] - theirs[row["group"]["cell"]][1]) <= 0.1 * row["s"]["estimate"]
        for row in rows
    ]
    if len(theirs) != len(rows) or not all(near):
        raise RuntimeError(f"{cells} cells: Spark's answers are near in {sum(near)} of {len(rows)} cells")


def _definition() -> CubeDefinition:
    return CubeDefinition.parse(
        {"dimensions": [["cell"]], "measures": _MEASURES, "time": "at", "grain_s": 60}, needs_time=False
    )


def _records(count: int, cells: int, panes: int) -> pa.Table:
    """Return random records, ordered by time."""
    random = np.random.default_rng(_SEED)
    temp = random.normal(size=count)
    stations = pa.array([f"station-{number}" for number in range(_STATIONS)])
    return pa.table(
        {
            "at": pa.array(np.arange(count) * panes // count * _MINUTE_US, pa.timestamp("us", "UTC")),
            "cell": pa.array(random.integers(0, cells, count), pa.int32()),
            "temp": temp,
            "humidity": temp + random.normal(size=count),
            "station": stations.take(pa.array(random.integers(0, _STATIONS, count))),
        }
    )


def _sketched(records: pa.Table, cells: int) -> None:
    """Fold the three sketches of a batch, as a cube does."""
    places = frozen(records["cell"].to_numpy())
    rows = frozen(np.arange(records.num_rows))
    for state, name in ((Quantiles(), "temp"), (Quantiles(), "humidity"), (Distinct(), "station")):
        state.fold(state.values(records[name].combine_chunks()), rows, places, cells)


def _plain(records: pa.Table, cells: int) -> list[bytes]:
    """Fold the three sketches of a batch by calls of datasketches for each cell, over values sorted by cell."""
    import datasketches

    places = records["cell"].to_numpy()
    order: npt.NDArray[np.int64] = np.argsort(places, kind="stable")
    bounds = np.searchsorted(places[order], np.arange(cells + 1)).tolist()
    states = []
    for name in ("temp", "humidity"):
        values = records[name].to_numpy()[order]
        for start, stop in pairwise(bounds):
            sketch = datasketches.kll_doubles_sketch(200)
            sketch.update(values[start:stop])
            states.append(sketch.serialize())
    texts = records["station"].take(pa.array(order)).to_pylist()
    for start, stop in pairwise(bounds):
        sketch = datasketches.hll_sketch(12, datasketches.tgt_hll_type.HLL_4)
        for text in texts[start:stop]:
            sketch.update(text)
        states.append(sketch.serialize_compact())
    return states


def _fastest(work: Callable[[], Any], repetitions: int, clock: Callable[[], float] = time.process_time) -> float:
    """Return the least time of some runs in seconds, after a run that is not measured. The time of a run is the shorter
    of its elapsed time and its processor time, which ``clock`` measures.
    """
    work()
    least = float("inf")
    for _ in range(repetitions):
        begin_s, begin_cpu_s = time.perf_counter(), clock()
        work()
        least = min(least, time.perf_counter() - begin_s, clock() - begin_cpu_s)
    return least
