"""Standing queries over files, by Spark."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

import click

from cli.decoding import Decoding
from cli.failure import CommandError
from cli.file_rows import FILE, REASON, ROW, read_rows
from cli.found_rows import FoundRows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession

    from asc.schema import Schema

POLL_S = 0.2
_TEXT_CHARS = 60
_PLACE = "__asc_place"
_OPTIONS = {"spark.sql.adaptive.enabled": "false"}
# Adaptive execution drops what it finds to have no rows, and with it what was observed on the way there.


def match_by_spark(
    inputs: Sequence[Path], format_name: str, decoding: Decoding, queries: Mapping[str, str], output: Path | None
) -> FoundRows:
    """Match the rows of the files with the queries, in one pass; with ``output`` write the accepted ones there as
    NDJSON, with their ``queries``. Errors: AscError.
    """
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    from broker.failure import one_line, root_cause
    from broker.runtime.spark import spark_session

    progress = partial(click.echo, err=True)
    spark = spark_session(
        app_name="asc-match", time_zone=decoding.time_zone, options=_OPTIONS, connector=False, progress=progress
    )
    try:
        found = _matched(spark, read_rows(spark, inputs, format_name, decoding), decoding.schema, queries, output)
    except (PySparkException, Py4JError) as error:
        # Spark says in a second line which pattern it refuses.
        reason = one_line(" ".join(str(root_cause(error)).split()))
        raise CommandError("Spark fails on", ", ".join(map(str, inputs)), reason) from error
    return FoundRows(
        found["rows"], found["accepted"], found["by_query"], found["undecodable"], _in_words(found["first"])
    )


def _matched(
    spark: SparkSession, rows: DataFrame, schema: Schema, queries: Mapping[str, str], output: Path | None
) -> dict[str, Any]:
    """Counts, and as ``first`` the JSON of the first row that cannot be decoded."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as sf

    import broker

    read, accepted = Observation("read"), Observation("accepted")
    count = sf.count(sf.lit(1)).alias("rows")
    place = sf.struct(sf.monotonically_increasing_id(), FILE, REASON, ROW)
    # As JSON: an observation's structs stay in the JVM.
    first = sf.to_json(sf.min(sf.when(sf.col(REASON).isNotNull(), sf.col(_PLACE))))
    seen = rows.withColumn(_PLACE, place).observe(
        read, count, sf.count(REASON).alias("undecodable"), first.alias("first")
    )
    decoded = seen.filter(sf.col(REASON).isNull()).drop(REASON, FILE, ROW, _PLACE)
    matched = broker.match(decoded, queries, crs=schema.crs, layers=schema.layers).observe(accepted, count)
    by_query: dict[str, int] = {}
    with _progress(spark):
        if output is None:
            ids = matched.select(sf.explode("queries").alias("query"))
            found = {row["query"]: row["count"] for row in ids.groupBy("query").count().collect()}
            by_query = {query_id: found.get(query_id, 0) for query_id in queries}
        else:
            matched.write.json(str(output), compression="gzip")
    return {**_observed(spark, read), "accepted": _observed(spark, accepted)["rows"], "by_query": by_query}


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
    """The first row that cannot be decoded: its file, the reason, the beginning of its text."""
    if first is None:
        return None
    place = json.loads(first)
    text = base64.b64decode(place.get(ROW) or "").decode("utf-8", "replace")[:_TEXT_CHARS]
    return f"{unquote(urlparse(place[FILE]).path)}: {place[REASON]}: {text}"


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
