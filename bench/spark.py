"""A Parquet input through ``broker.match``, beside what Spark alone would do and the bare transport into Python."""

from __future__ import annotations

import json
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import LongType, StringType, StructField, StructType
from tqdm import tqdm

import broker
from asc.plan.compiler import compile_plan
from asc.plan.plan import Query
from asc.predicate import normalise
from bench.machine import machine
from bench.parquet_input import FILES, parquet_frame
from bench.plot import plot_spark
from bench.timed import timed
from broker.matching.dataframe import schema_of
from broker.runtime.java import find_java
from broker.runtime.spark import spark_session
from workloads.synthetic import Workload, d1_workload, uniform_tuples

TIME_LIMIT_S = 60.0
"""A run that takes longer is stopped, and its contender is not run again with so many predicates."""

MATCH = "broker.match"
BARE = "identity mapInArrow (the bare transport)"
FILTER = "filter(transform(array of predicates))"

TERMS = 5
"""Comparisons a predicate, all on different columns."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured: rows of the input, numbers of predicates, warm runs of each contender."""

    rows: int
    predicates: tuple[int, ...]
    repetitions: int


FULL = Size(1_000_000, (10, 100, 1_000), 7)
QUICK = Size(100_000, (10, 100), 2)


@dataclass(slots=True)
class Contender:
    """One way to do the work. ``pairs`` counts the (row, query) pairs of its result; None where it finds none.

    ``in_python``: it runs in Spark's Python workers, which Spark ends after an idle minute; so a run that is not
    measured goes right before each one that is.
    """

    name: str
    frame: Callable[[], DataFrame]
    pairs: Callable[[DataFrame], int] | None
    in_python: bool = False
    seconds: list[float] = field(default_factory=list)
    found: int | None = None
    stopped: bool = False

    def result(self) -> dict[str, Any]:
        measured = {"median_s": statistics.median(self.seconds), "runs_s": self.seconds} if self.seconds else {}
        return {"pairs": self.found, "stopped_after_s": TIME_LIMIT_S if self.stopped else None, **measured}


def run(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Measure everything and write ``spark.json`` and its plot into the folder; the result is what the file holds.

    The contenders take turns, so that a slow minute of the machine hits all of them. Raises RuntimeError where two of
    them disagree on the number of matches.
    """
    size = QUICK if quick else FULL
    spark = spark_session(
        app_name="asc-bench-spark",
        driver_memory="6g",
    )
    # Each task of a run that is stopped would be warned of.
    spark.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as folder:
        frame = parquet_frame(spark, Path(folder), uniform_tuples(size.rows))
        results = {str(count): _compared(spark, frame, count, size.repetitions) for count in size.predicates}
        compiling_s = {str(count): _compiling_s(frame, count, size.repetitions) for count in size.predicates}
    result = {
        "benchmark": "spark",
        "quick": quick,
        "machine": {**machine(), "java": find_java().version},
        "input": {"rows": size.rows, "columns": 20, "format": "parquet", "files": FILES, "sink": "noop"},
        "predicates": f"{TERMS} comparisons each, d1_workload(seed=1)",
        "session": {"master": spark.sparkContext.master},
        "results": results,
        "compiling_s": compiling_s,
        "ratios": ratios(results),
    }
    output_dir.mkdir(parents=True, exist_ok=True)
    (output_dir / "spark.json").write_text(json.dumps(result, indent=2) + "\n")
    plot_spark(result, output_dir / "spark")
    return result


def table(result: dict[str, Any]) -> str:
    """The result as lines of text: seconds a run, and how many times as long as ``broker.match`` it took; at the end
    the ratios at the largest number of predicates.

    ``>`` stands before what was stopped.
    """
    lines = [f"{result['input']['rows']:,} rows x {result['input']['columns']} int columns, Parquet; medians", ""]
    lines.append(f"{'predicates':>10}  {'plan':<38} {'seconds':>9}  {'x broker.match':>14}  {'matches':>9}")
    for count, contenders in result["results"].items():
        base = contenders[MATCH].get("median_s")
        for name, measured in contenders.items():
            seconds = measured.get("median_s")
            more = "" if seconds else "> "
            seconds = seconds or measured["stopped_after_s"]
            shown = f"{more}{seconds:.2f}".rjust(9)
            ratio = f"{more}{seconds / base:.2f}".rjust(14) if base else " " * 14
            pairs = f"{measured['pairs']:9,}" if measured["pairs"] is not None else f"{'':>9}"
            lines.append(f"{int(count):>10,}  {name:<38} {shown}  {ratio}  {pairs}".rstrip())
    compiling = ", ".join(f"{int(count):,} in {seconds:.2f} s" for count, seconds in result["compiling_s"].items())
    lines += ["", f"predicates compiled from text, beside it: {compiling}", _ratios_text(result["ratios"])]
    return "\n".join(lines)


def ratios(results: dict[str, Any]) -> dict[str, Any]:
    """At the largest number of predicates: seconds of ``broker.match`` over the bare transport's, and of Spark's own
    filter over those of ``broker.match``. ``over``: the filter was stopped, and takes longer than that.

    A ratio is None where what it rests on was stopped.
    """
    count = max(results, key=int)
    matched, bare, filtered = (results[count][name] for name in (MATCH, BARE, FILTER))
    ours, transport = matched.get("median_s"), bare.get("median_s")
    spark_s = filtered.get("median_s") or filtered["stopped_after_s"]
    return {
        "predicates": int(count),
        "match_to_bare": ours / transport if ours and transport else None,
        "filter_to_match": spark_s / ours if ours else None,
        "over": "median_s" not in filtered,
    }


def _ratios_text(found: dict[str, Any]) -> str:
    to_bare, to_match = found["match_to_bare"], found["filter_to_match"]
    ours = "stopped" if to_bare is None else f"{to_bare:.2f}"
    # Cut off, not rounded: "over" has to be true.
    spark = "stopped" if to_match is None else f"over {int(to_match)}" if found["over"] else f"{to_match:.0f}"
    return (
        f"broker.match / bare transport at {found['predicates']:,}: {ours}; filter(transform) / broker.match: {spark}"
    )


def _compared(spark: SparkSession, frame: DataFrame, count: int, repetitions: int) -> dict[str, Any]:
    contenders = list(_contenders(frame, d1_workload(count, predicates=(TERMS, TERMS))))
    steps = tqdm(total=len(contenders) * (repetitions + 1), desc=f"{count} predicates", leave=False, disable=None)
    for contender in contenders:
        # The first run warms up and counts.
        _within_limit(spark, contender, lambda: _count(contender))  # noqa: B023  (called before the next turn)
        steps.update()
    found = {contender.name: contender.found for contender in contenders if contender.found is not None}
    if len(set(found.values())) > 1:
        raise RuntimeError(f"the plans disagree on the number of matches: {found}")
    for _ in range(repetitions):
        for contender in contenders:
            if not contender.stopped:
                if contender.in_python:
                    _drain(contender.frame())
                seconds = _within_limit(spark, contender, lambda: _drain(contender.frame()))  # noqa: B023
                if seconds is not None:
                    contender.seconds.append(round(seconds, 4))
            steps.update()
    steps.close()
    return {contender.name: contender.result() for contender in contenders}


def _contenders(frame: DataFrame, workload: Workload) -> Iterator[Contender]:
    queries = {f"q{number:06d}": text for number, text in enumerate(workload.texts())}
    # The plan is compiled and shipped once, as a job does.
    matched = broker.match(frame, queries)
    yield Contender(MATCH, lambda: matched, _listed, in_python=True)
    yield Contender(BARE, lambda: frame.mapInArrow(_same, frame.schema), None, in_python=True)
    yield Contender(FILTER, lambda: _filtered(frame, queries), _listed)
    yield Contender("broadcast nested-loop join", lambda: _joined(frame, workload), lambda joined: joined.count())


def _compiling_s(frame: DataFrame, count: int, repetitions: int) -> float:
    """Seconds from the texts to a plan, what ``broker.match`` does before it has Spark look at them; the median."""
    schema = schema_of(frame)
    texts = d1_workload(count, predicates=(TERMS, TERMS)).texts()

    def compiled() -> None:
        compile_plan([Query(f"q{number:06d}", normalise(text, schema)) for number, text in enumerate(texts)])

    return round(statistics.median(timed(compiled) for _ in range(repetitions)), 4)


def _same(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
    yield from batches


def _filtered(frame: DataFrame, queries: dict[str, str]) -> DataFrame:
    """All predicates as one array of ids, those that do not hold filtered out."""
    ids = ", ".join(f"if({text}, '{query_id}', NULL)" for query_id, text in queries.items())
    accepted = sf.expr(f"filter(transform(array({ids}), id -> id), id -> id IS NOT NULL)")
    return frame.withColumn("queries", accepted).filter("size(queries) > 0")


def _joined(frame: DataFrame, workload: Workload) -> DataFrame:
    """The predicates as a table of bounds, joined by all of them: one row a match."""
    names = [f"a{number}" for number in range(workload.attributes)]
    rows = [
        [f"q{number:06d}", *[0] * len(names), *[workload.domain - 1] * len(names)] for number in range(workload.queries)
    ]
    bounds = (workload.owner, workload.attribute, workload.low, workload.high)
    for owner, attribute, low, high in zip(*(array.tolist() for array in bounds), strict=True):
        rows[owner][1 + attribute] = low
        rows[owner][1 + len(names) + attribute] = high
    limits = [StructField(f"{side}_{name}", LongType()) for side in ("low", "high") for name in names]
    predicates = frame.sparkSession.createDataFrame(rows, StructType([StructField("id", StringType()), *limits]))
    condition = " AND ".join(f"{name} BETWEEN low_{name} AND high_{name}" for name in names)
    return frame.join(sf.broadcast(predicates), sf.expr(condition)).select(*names, "id")


def _listed(matched: DataFrame) -> int:
    return int(matched.agg(sf.sum(sf.size("queries"))).collect()[0][0] or 0)


def _count(contender: Contender) -> None:
    if contender.pairs is None:
        _drain(contender.frame())
    else:
        contender.found = contender.pairs(contender.frame())


def _drain(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _within_limit(spark: SparkSession, contender: Contender, work: Callable[[], None]) -> float | None:
    """Seconds the work took; None, and the contender marked, where it was stopped at the limit."""
    group = "asc-bench"
    spark.sparkContext.setJobGroup(group, contender.name)
    expired = threading.Event()

    def stop() -> None:
        expired.set()
        spark.sparkContext.cancelJobGroup(group)

    timer = threading.Timer(TIME_LIMIT_S, stop)
    timer.start()
    start = time.perf_counter()
    try:
        work()
    except Exception:
        if not expired.is_set():
            raise
        contender.stopped = True
        return None
    finally:
        timer.cancel()
    return time.perf_counter() - start
