"""The cost of evaluating predicates over a file, compared between the engine and alternatives: a database, data frames,
Spark, and compiled loops.
"""

from __future__ import annotations

import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tqdm import tqdm

from asc.evaluation.executor import match
from asc.plan.compiler import compile_plan
from bench.brute_force import TUPLES_TOGETHER, bounds_of, dense_bounds, early_exit_scan
from bench.machine import machine
from bench.plot import plot_peers
from bench.result_file import write_result
from workloads.synthetic import Workload, alerts_workload, hem_workload, uniform_tuples

Runs = Callable[[Path, Workload], Callable[[], int]]
"""A function that takes a file of tuples and a workload, and returns a function that counts the (tuple, query) pairs of
the file.
"""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the measurement: the numbers of queries, the tuples of the file, and the timed runs. ``limit_s``: the
    longest total time that one contender may take for a number of queries.
    """

    queries: tuple[int, ...]
    rows: int
    repetitions: int
    limit_s: float


FULL = Size((100, 1_000, 10_000, 100_000), 10_000, 3, 40.0)
QUICK = Size((50,), 500, 1, 60.0)

WORKLOADS: Mapping[str, Callable[[int], Workload]] = {"HEM-like": hem_workload, "alerts": alerts_workload}


def run(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Measure everything, write ``peers.json`` and its plot into the folder, and return the content of the JSON file.

    Every contender runs in a separate process with its default number of threads (the engine and the loops: one). The
    time includes reading the file, but not the work that is done once for the queries. A contender that exceeds the
    time limit is stopped, and does not run with more queries. Raises RuntimeError if two contenders differ in the
    number of pairs.
    """
    size = QUICK if quick else FULL
    results: list[dict[str, Any]] = []
    stopped: set[tuple[str, str]] = set()
    cases = [(name, queries) for name in WORKLOADS for queries in size.queries]
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as folder:
        for name, queries in tqdm(cases, leave=False, disable=None):
            workload = WORKLOADS[name](queries)
            path = Path(folder) / f"{name}.parquet"
            pq.write_table(uniform_tuples(size.rows, attributes=workload.attributes, domain=workload.domain), path)
            for contender in CONTENDERS:
                if (name, contender) in stopped:
                    continue
                found = _measured(contender, path, (name, queries), size)
                if found is None:
                    stopped.add((name, contender))
                results.append({"workload": name, "queries": queries, "contender": contender, **(found or {})})
            _check(results, name, queries)
    result = {
        "benchmark": "peers",
        "quick": quick,
        "machine": machine(),
        "versions": {package: _version(package) for package in ("duckdb", "polars", "pyspark", "numba")},
        "rows": size.rows,
        "limit_s": size.limit_s,
        "results": results,
    }
    write_result(output_dir, "peers", result)
    plot_peers(result, output_dir / "peers")
    return result


def table(result: dict[str, Any]) -> str:
    """Return the result as text: microseconds per tuple of each contender, one line per number of queries."""
    rows = result["results"]
    width = max(len(name) for name in CONTENDERS) + 2
    lines = [f"{result['rows']:,} tuples of a Parquet file, us a tuple; -: over {result['limit_s']:.0f} s, stopped", ""]
    lines.append(f"{'workload':<10}{'queries':>9}" + "".join(f"{name:>{width}}" for name in CONTENDERS))
    for name, queries in dict.fromkeys((row["workload"], row["queries"]) for row in rows):
        own = {row["contender"]: row.get("us") for row in rows if (row["workload"], row["queries"]) == (name, queries)}
        times = (own.get(contender) for contender in CONTENDERS)
        shown = (f"{'-' if us is None else f'{us:,.1f}':>{width}}" for us in times)
        lines.append(f"{name:<10}{queries:>9,}" + "".join(shown))
    return "\n".join(lines)


# -- contenders


def _engine(path: Path, workload: Workload) -> Callable[[], int]:
    plan = compile_plan(workload.standing_queries())

    def counted() -> int:
        tuples = pq.read_table(path, use_threads=False)
        return len(match(plan, [tuples[own.sql].combine_chunks() for own in plan.p_attributes], tuples.num_rows))

    return counted


def _values(path: Path) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.stack([column.to_numpy() for column in pq.read_table(path, use_threads=False).columns]).astype(np.int32)


def _brute_force(path: Path, workload: Workload) -> Callable[[], int]:
    low, high = bounds_of(workload)
    alive = np.empty((TUPLES_TOGETHER, workload.queries), dtype=np.uint8)
    return lambda: int(dense_bounds(_values(path), low, high, alive))


def _scan(path: Path, workload: Workload) -> Callable[[], int]:
    first = np.searchsorted(workload.owner, np.arange(workload.queries + 1))
    return lambda: int(early_exit_scan(_values(path), first, workload.attribute, workload.low, workload.high))


def _joined_sql(workload: Workload, tuples: str, queries: str) -> str:
    """Return SQL that joins the table ``tuples`` with the table ``queries``, and counts the pairs. The table
    ``queries`` has the least and the greatest accepted value of each attribute.
    """
    inside = (f"t.{name} BETWEEN q.low{i} AND q.high{i}" for i, name in enumerate(workload.names))
    return f"SELECT count(*) FROM {tuples} t JOIN {queries} q ON {' AND '.join(inside)}"


def _queries_file(path: Path, workload: Workload) -> Path:
    low, high = bounds_of(workload)
    columns = {f"{end}{i}": own for end, rows in (("low", low), ("high", high)) for i, own in enumerate(rows)}
    found = path.with_name(f"{path.stem}-queries.parquet")
    pq.write_table(pa.table(columns), found)
    return found


def _duckdb(path: Path, workload: Workload) -> Callable[[], int]:
    import duckdb

    queries = _queries_file(path, workload)
    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    connection.execute(f"CREATE TABLE queries AS SELECT * FROM '{queries}'")
    sql = _joined_sql(workload, f"'{path}'", "queries")
    return lambda: int(connection.execute(sql).fetchall()[0][0])


def _polars(path: Path, workload: Workload) -> Callable[[], int]:
    import polars as pl

    starts = np.searchsorted(workload.owner, np.arange(workload.queries + 1)).tolist()
    attribute, low, high = (array.tolist() for array in (workload.attribute, workload.low, workload.high))
    counts = [
        pl.all_horizontal([pl.col(workload.names[attribute[i]]).is_between(low[i], high[i]) for i in range(start, end)])
        .sum()
        .alias(f"q{query}")
        for query, (start, end) in enumerate(pairwise(starts))
    ]
    return lambda: int(pl.scan_parquet(path).select(counts).collect().sum_horizontal()[0])


def _spark(path: Path, workload: Workload) -> Callable[[], int]:
    from broker.runtime.spark import spark_session

    spark = spark_session(app_name="asc-bench-peers")
    spark.read.parquet(str(_queries_file(path, workload))).createOrReplaceTempView("queries")
    sql = _joined_sql(workload, f"parquet.`{path}`", "queries")
    return lambda: int(spark.sql(sql.replace("SELECT", "SELECT /*+ BROADCAST(q) */", 1)).collect()[0][0])


CONTENDERS: Mapping[str, Runs] = {
    "asc": _engine,
    "brute force": _brute_force,
    "scan": _scan,
    "DuckDB, a join": _duckdb,
    "Polars, an expression each": _polars,
    "Spark, a join": _spark,
}


# -- running them


def _measured(contender: str, path: Path, case: tuple[str, int], size: Size) -> dict[str, Any] | None:
    """Run a contender in a separate process. Return the median microseconds per tuple, the number of pairs found, and
    the seconds of each run. Return None if the contender was stopped.
    """
    context = multiprocessing.get_context("spawn")
    own, others = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(others, contender, path, case, size.repetitions), daemon=True)
    process.start()
    others.close()
    try:
        answer = own.recv() if own.poll(size.limit_s) else None
    except EOFError:
        raise RuntimeError(f"{contender}, {case}: its process has ended: see the lines above") from None
    finally:
        process.kill()
        process.join()
    if answer is None:
        return None
    pairs, seconds = answer
    return {"us": round(statistics.median(seconds) / size.rows * 1e6, 3), "pairs": pairs, "runs_s": seconds}


def _run(connection: Connection, contender: str, path: Path, case: tuple[str, int], repetitions: int) -> None:
    name, queries = case
    work = CONTENDERS[contender](path, WORKLOADS[name](queries))
    pairs, seconds = work(), []
    for _ in range(repetitions):
        start = time.perf_counter()
        work()
        seconds.append(round(time.perf_counter() - start, 5))
    connection.send((pairs, seconds))


def _check(results: list[dict[str, Any]], name: str, queries: int) -> None:
    pairs_by_contender = {
        row["contender"]: row["pairs"]
        for row in results
        if (row["workload"], row["queries"]) == (name, queries) and "pairs" in row
    }
    if len(set(pairs_by_contender.values())) > 1:
        raise RuntimeError(f"{name}, {queries} queries: the numbers of pairs differ: {pairs_by_contender}")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
