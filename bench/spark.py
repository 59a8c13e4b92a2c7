"""The time of ``broker.match`` over a Parquet input, compared with plain Spark and with only the transfer of rows to
Python.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import LongType, StringType, StructField, StructType

import broker
from asc.plan.compiler import compile_plan
from asc.plan.plan import Query
from asc.predicate import normalise
from bench.machine import machine
from bench.paired_stats import ratio_of
from bench.parquet_input import FILES, parquet_frame
from bench.plot import plot_spark
from bench.result_file import write_result
from bench.spark_contender import Contender, run_in_turns
from bench.timed import timed
from broker.matching.dataframe import schema_of
from broker.runtime.java import find_java
from broker.runtime.spark import spark_session
from workloads.synthetic import Workload, alerts_workload, d1_workload, uniform_tuples

MATCH = "broker.match"
BARE = "identity mapInArrow (the bare transport)"
FILTER = "filter(transform(array of predicates))"

TERMS = 5
"""The number of comparisons in a predicate, all on different columns."""


GOALS = {1_000: 1.1, 100_000: 2.5}
"""The goals by number of alerts: the largest ratio of the seconds of ``broker.match`` to the seconds of the bare
transport.
"""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the measurement: the number of rows of the input, and the number of measured runs of each contender.
    ``predicates``: the numbers of predicates for all contenders. ``many``: the numbers of alerts. With alerts, only
    ``broker.match`` and the bare transport run, which transfers rows to Python without matching.
    """

    rows: int
    predicates: tuple[int, ...]
    many: tuple[int, ...]
    repetitions: int


FULL = Size(1_000_000, (10, 100, 1_000), (1_000, 10_000, 100_000), 7)
QUICK = Size(100_000, (10, 100), (1_000,), 2)


def run(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Measure everything, write ``spark.json`` and its plot into the folder, and return the content of the file.

    The contenders run alternately, so that a slow minute of the machine affects all contenders. Raises RuntimeError if
    two contenders disagree on the number of matches.

    All contenders run up to 1,000 predicates of D1, where plain Spark exceeds the time limit. With up to 100,000
    alerts, only ``broker.match`` and the bare transport run. Alerts wait for rare values: 41 of 100,000 alerts accept a
    row. Alerts are ranges of ints, so the same 20 columns cross into Python. The mixed workload is not used: 900 of its
    100,000 queries accept a row, and most of the time would be the time to write ids.
    """
    size = QUICK if quick else FULL
    spark = spark_session(
        app_name="asc-bench-spark",
        driver_memory="6g",
    )
    # Otherwise Spark would log a warning for each task of a cancelled run.
    spark.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as folder:
        frame = parquet_frame(spark, Path(folder, "d1"), uniform_tuples(size.rows))
        sets = {str(count): d1_workload(count, predicates=(TERMS, TERMS)) for count in size.predicates}
        results = {count: _compared(spark, frame, own, size.repetitions) for count, own in sets.items()}
        compiling_s = {count: _compiling_s(frame, own, size.repetitions) for count, own in sets.items()}
        alerts = {str(count): alerts_workload(count) for count in size.many}
        wide = uniform_tuples(size.rows, domain=max(own.domain for own in alerts.values()))
        frame = parquet_frame(spark, Path(folder, "alerts"), wide)
        many = {count: _compared_many(spark, frame, own, size.repetitions) for count, own in alerts.items()}
        # Measure a single compilation, because it takes seconds.
        compiling_many_s = {count: _compiling_s(frame, own, 1) for count, own in alerts.items()}
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
        "many_predicates": "alerts_workload(seed=1)",
        "many": many,
        "compiling_many_s": compiling_many_s,
        "many_ratios": many_ratios(many),
    }
    write_result(output_dir, "spark", result)
    plot_spark(result, output_dir / "spark")
    return result


def table(result: dict[str, Any]) -> str:
    """Return the result as lines of text: seconds per run, and the ratio of each contender to ``broker.match``.

    Below are the ratios at the largest number of predicates and, for many alerts, the ratios to the bare transport.
    ``>`` marks the times of stopped runs.
    """
    lines = [f"{result['input']['rows']:,} rows x {result['input']['columns']} int columns, Parquet; medians", ""]
    lines += _rows(result["results"], MATCH, "x broker.match")
    lines += ["", _compiling_text("predicates", result["compiling_s"]), _ratios_text(result["ratios"]), ""]
    lines += _rows(result["many"], BARE, "x transport")
    lines += ["", _compiling_text("alerts", result["compiling_many_s"]), *map(_many_ratio_text, result["many_ratios"])]
    return "\n".join(lines)


def _rows(results: dict[str, Any], base_name: str, title: str) -> list[str]:
    lines = [f"{'predicates':>10}  {'plan':<38} {'seconds':>9}  {title:>14}  {'matches':>11}"]
    for count, contenders in results.items():
        base = contenders[base_name].get("median_s")
        for name, measured in contenders.items():
            seconds = measured.get("median_s")
            more = "" if seconds else "> "
            seconds = seconds or measured["stopped_after_s"]
            shown = f"{more}{seconds:.2f}".rjust(9)
            ratio = f"{more}{seconds / base:.2f}".rjust(14) if base else " " * 14
            pairs = f"{measured['pairs']:11,}" if measured["pairs"] is not None else ""
            lines.append(f"{int(count):>10,}  {name:<38} {shown}  {ratio}  {pairs}".rstrip())
    return lines


def _compiling_text(what: str, compiling_s: dict[str, float]) -> str:
    shown = ", ".join(f"{int(count):,} in {seconds:.2f} s" for count, seconds in compiling_s.items())
    return f"{what} compiled from text, beside it: {shown}"


def ratios(results: dict[str, Any]) -> dict[str, Any]:
    """Return two ratios of times at the largest number of predicates. ``match_to_bare``: ``broker.match`` to the bare
    transport, from paired runs. ``filter_to_match``: plain Spark's filter to ``broker.match``, from medians.

    ``over``: true if the filter was stopped, so that its time is a lower bound. A ratio is None if it lacks a time
    because a contender was stopped.
    """
    count = max(results, key=int)
    matched, filtered = (results[count][name] for name in (MATCH, FILTER))
    ours = matched.get("median_s")
    spark_s = filtered.get("median_s") or filtered["stopped_after_s"]
    return {
        "predicates": int(count),
        "match_to_bare": matched["to_bare"]["ratio"] if "to_bare" in matched else None,
        "filter_to_match": spark_s / ours if ours else None,
        "over": "median_s" not in filtered,
    }


def many_ratios(many: dict[str, Any]) -> list[dict[str, Any]]:
    """Return, for each number of alerts, the ratio of ``broker.match`` to the bare transport from paired runs, and
    whether the ratio meets the goal.

    ``met`` is None if the number of alerts has no goal. A number of alerts is excluded if either of the two contenders
    was stopped.
    """
    rows = []
    for count, measured in many.items():
        to_bare, goal = measured[MATCH].get("to_bare"), GOALS.get(int(count))
        if to_bare is not None:
            met = None if goal is None else to_bare["ratio"] <= goal
            rows.append({"predicates": int(count), **to_bare, "goal": goal, "met": met})
    return rows


def _many_ratio_text(found: dict[str, Any]) -> str:
    measured = f"{found['ratio']:.2f} ({found['low']:.2f} .. {found['high']:.2f})"
    said = "" if found["goal"] is None else f"; within {found['goal']}: {'met' if found['met'] else 'not met'}"
    return f"broker.match / bare transport at {found['predicates']:,} alerts: {measured}{said}"


def _ratios_text(row: dict[str, Any]) -> str:
    to_bare, to_match = row["match_to_bare"], row["filter_to_match"]
    ours = "stopped" if to_bare is None else f"{to_bare:.2f}"
    # Truncate the ratio instead of rounding it, so that the ratio is certainly "over" the printed number.
    spark = "stopped" if to_match is None else f"over {int(to_match)}" if row["over"] else f"{to_match:.0f}"
    return f"broker.match / bare transport at {row['predicates']:,}: {ours}; filter(transform) / broker.match: {spark}"


def _compared(spark: SparkSession, frame: DataFrame, workload: Workload, repetitions: int) -> dict[str, Any]:
    contenders = list(_contenders(frame, workload))
    run_in_turns(spark, contenders, repetitions, f"{workload.queries} predicates")
    return _results(contenders)


def _compared_many(spark: SparkSession, frame: DataFrame, alerts: Workload, repetitions: int) -> dict[str, Any]:
    contenders = list(_engine_and_transport(frame, _named(alerts)))
    run_in_turns(spark, contenders, repetitions, f"{alerts.queries} alerts")
    return _results(contenders)


def _results(contenders: list[Contender]) -> dict[str, Any]:
    """Return the matches and the times of each contender. ``broker.match`` also has the ratio to the bare transport,
    from paired runs.
    """
    results = {contender.name: contender.result() for contender in contenders}
    own, base = (next(each.seconds for each in contenders if each.name == name) for name in (MATCH, BARE))
    if own and len(own) == len(base):
        results[MATCH]["to_bare"] = asdict(ratio_of(own, base))
    return results


def _contenders(frame: DataFrame, workload: Workload) -> Iterator[Contender]:
    queries = _named(workload)
    yield from _engine_and_transport(frame, queries)
    yield Contender(FILTER, lambda: _filtered(frame, queries), _listed)
    yield Contender("broadcast nested-loop join", lambda: _joined(frame, workload), lambda joined: joined.count())


def _engine_and_transport(frame: DataFrame, queries: dict[str, str]) -> Iterator[Contender]:
    # The plan is compiled and shipped once, as a job does.
    matched = broker.match(frame, queries)
    yield Contender(MATCH, lambda: matched, _listed, in_python=True)
    yield Contender(BARE, lambda: frame.mapInArrow(_same, frame.schema), None, in_python=True)


def _named(workload: Workload) -> dict[str, str]:
    return {f"q{number:06d}": text for number, text in enumerate(workload.texts())}


def _compiling_s(frame: DataFrame, workload: Workload, repetitions: int) -> float:
    """Measure the median seconds to compile the texts of predicates into a plan. ``broker.match`` compiles before Spark
    begins.
    """
    schema = schema_of(frame)
    texts = workload.texts()

    def compiled() -> None:
        compile_plan([Query(f"q{number:06d}", normalise(text, schema)) for number, text in enumerate(texts)])

    return round(statistics.median(timed(compiled) for _ in range(repetitions)), 4)


def _same(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
    yield from batches


def _filtered(frame: DataFrame, queries: dict[str, str]) -> DataFrame:
    """Return the rows for which some predicate holds, each with an array of the ids of all predicates that hold."""
    ids = ", ".join(f"if({text}, '{query_id}', NULL)" for query_id, text in queries.items())
    accepted = sf.expr(f"filter(transform(array({ids}), id -> id), id -> id IS NOT NULL)")
    return frame.withColumn("queries", accepted).filter("size(queries) > 0")


def _joined(frame: DataFrame, workload: Workload) -> DataFrame:
    """Return the join of the DataFrame with a table of the predicates' bounds: one row per match."""
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
