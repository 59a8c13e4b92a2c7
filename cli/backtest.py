"""Standing queries over files, by Spark: what ``asc match`` does."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

import click

from cli.failure import CommandError
from cli.file_rows import FILE, REASON, TEXT, read_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession

    from asc.schema import Schema

POLL_S = 0.2
_PLACE = "__asc_place"
_OPTIONS = {"spark.sql.adaptive.enabled": "false"}
# Adaptive execution drops what it finds to have no rows, and with it what was observed on the way there.


@dataclass(frozen=True, slots=True)
class Backtest:
    """What a run found. ``by_query`` is empty where the accepted rows were written instead of counted.

    ``rows`` counts what was read, ``undecodable`` what of it was left out; ``first_undecodable`` says which row was the
    first, and why, in one line.
    """

    rows: int
    accepted: int
    by_query: Mapping[str, int]
    undecodable: int
    first_undecodable: str | None


def run_backtest(
    inputs: Sequence[Path], schema: Schema, queries: Mapping[str, str], output: Path | None, *, time_zone: str
) -> Backtest:
    """Match the rows of the files with the queries, in one pass.

    With ``output`` the accepted rows are written there as NDJSON, with their ``queries``; else they are counted for
    each query. What a stream of that schema would not decode is left out and counted. Errors: AscError.
    """
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    from broker.runtime.spark import spark_session

    if output is not None and output.exists():
        raise CommandError("output", str(output), "exists already: remove it, or name another folder")
    if sys.stderr.isatty():
        click.echo("starting Spark ...", err=True)
    spark = spark_session(
        app_name="asc-match", time_zone=time_zone, options=_OPTIONS, progress=partial(click.echo, err=True)
    )
    try:
        return _matched(spark, read_rows(spark, inputs, schema, time_zone), queries, output)
    except (PySparkException, Py4JError) as error:
        reason = str(error).strip().split("\n", 1)[0]
        raise CommandError("Spark fails on", ", ".join(map(str, inputs)), reason) from error


def _matched(spark: SparkSession, rows: DataFrame, queries: Mapping[str, str], output: Path | None) -> Backtest:
    from pyspark.sql import Observation
    from pyspark.sql import functions as sf

    import broker

    read, accepted = Observation("read"), Observation("accepted")
    count = sf.count(sf.lit(1)).alias("rows")
    place = sf.struct(sf.monotonically_increasing_id(), FILE, REASON, TEXT)
    # As JSON: an observation's structs stay in the JVM.
    first = sf.to_json(sf.min(sf.when(sf.col(REASON).isNotNull(), sf.col(_PLACE))))
    seen = rows.withColumn(_PLACE, place).observe(
        read, count, sf.count(REASON).alias("undecodable"), first.alias("first")
    )
    decoded = seen.filter(sf.col(REASON).isNull()).drop(REASON, FILE, TEXT, _PLACE)
    matched = broker.match(decoded, queries).observe(accepted, count)
    by_query = {}
    with _progress(spark):
        if output is None:
            ids = matched.select(sf.explode("queries").alias("query"))
            found = {row["query"]: row["count"] for row in ids.groupBy("query").count().collect()}
            by_query = {query_id: found.get(query_id, 0) for query_id in queries}
        else:
            matched.write.json(str(output), compression="gzip")
    found, taken = _observed(spark, read), _observed(spark, accepted)
    return Backtest(found["rows"], taken["rows"], by_query, found["undecodable"], _in_words(found["first"]))


def _observed(spark: SparkSession, observation: Observation) -> dict[str, Any]:
    """What was observed in an action that is over; CommandError where nothing was, for ``get`` would wait for ever."""
    context, own = spark.sparkContext._jsc, observation._jo
    if context is None or own is None:
        raise CommandError("Spark", "stopped", "run the command again")
    context.sc().listenerBus().waitUntilEmpty()  # the counts come after the rows
    if not own.future().isCompleted():
        raise CommandError("Spark", "counted no rows", "it left them out of its plan: run the command with --debug")
    return observation.get


def _in_words(first: str | None) -> str | None:
    if first is None:
        return None
    place = json.loads(first)
    return f"{unquote(urlparse(place[FILE]).path)}: {place[REASON]}: {place[TEXT]}"


@contextmanager
def _progress(spark: SparkSession) -> Iterator[None]:
    """A bar of the tasks done, on a terminal, while Spark works."""
    from tqdm import tqdm

    tracker = spark.sparkContext.statusTracker()
    ended = threading.Event()

    def follow(bar: tqdm[None]) -> None:
        while not ended.wait(POLL_S):
            infos = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            total = sum(info.numTasks for info in infos if info)
            if total:
                bar.total = total
                bar.n = sum(info.numCompletedTasks for info in infos if info)
                bar.refresh()

    with tqdm(desc="matching", unit="task", disable=None) as bar:
        thread = threading.Thread(target=follow, args=(bar,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
