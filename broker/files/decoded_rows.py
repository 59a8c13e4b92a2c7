"""The rows of files that Spark decodes, and statistics of all rows."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

from broker.errors import InputError
from broker.files.decoding import Decoding
from broker.files.file_rows import read_rows
from broker.files.row_columns import FILE, REASON, ROW
from broker.runtime.progress import Progress, print_to_stderr

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession

NUMBER, IS_DECODED = "__asc_number", "__asc_is_decoded"
"""Columns of numbered rows: a number that ascends with the rows, and whether the row could be decoded."""

POLL_S = 0.2
_TEXT_CHARS = 60
_PLACE = "__asc_place"
_OPTIONS = {"spark.sql.adaptive.enabled": "false"}
# Adaptive execution removes parts of a query that have no rows, together with the observations in them.


@dataclass(frozen=True, slots=True)
class SeenRows:
    """Statistics of the rows that were read: their number, the number of undecodable rows, and a description of the
    first one.
    """

    rows: int
    undecodable: int
    first_undecodable: str | None


@dataclass(frozen=True, slots=True)
class DecodedRows:
    """A DataFrame of the decodable rows of files, with the schema's columns. If rows are numbered, it has all rows,
    with NUMBER and IS_DECODED. :attr:`seen` is available after a Spark action on the DataFrame has ended.
    """

    spark: SparkSession
    frame: DataFrame
    observation: Observation

    @property
    def seen(self) -> SeenRows:
        """Return the statistics of all rows. Raise InputError if no statistics exist."""
        found = observed(self.spark, self.observation)
        return SeenRows(found["rows"], found["undecodable"], _in_words(found["first"]))


@contextmanager
def decoded_rows(
    inputs: Sequence[Path],
    format_name: str,
    decoding: Decoding,
    *,
    app_name: str,
    progress: str,
    numbered: bool = False,
    report: Progress = print_to_stderr,
) -> Iterator[DecodedRows]:
    """Yield the rows of files in a Spark session, with a progress bar of finished tasks. ``progress`` is the bar's
    label.

    ``numbered``: yield all rows, also undecodable ones, with NUMBER and IS_DECODED. Errors of Spark become InputError.
    """
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    from broker.failure import one_line, root_cause
    from broker.runtime.spark import spark_session

    spark = spark_session(
        app_name=app_name, time_zone=decoding.time_zone, options=_OPTIONS, connector=False, progress=report
    )
    try:
        rows = _observing(spark, read_rows(spark, inputs, format_name, decoding), numbered=numbered)
        with _progress(spark, progress):
            yield rows
    except (PySparkException, Py4JError) as error:
        # Spark says in a second line which pattern it refuses.
        reason = one_line(" ".join(str(root_cause(error)).split()))
        raise InputError("Spark fails on", ", ".join(map(str, inputs)), reason) from error


def _observing(spark: SparkSession, rows: DataFrame, *, numbered: bool) -> DecodedRows:
    """Return the decodable rows, with an observation that counts all rows and finds the first undecodable row."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as sf

    read = Observation("read")
    place = sf.struct(sf.monotonically_increasing_id(), FILE, REASON, ROW)
    # As JSON: an observation's structs stay in the JVM.
    first = sf.to_json(sf.min(sf.when(sf.col(REASON).isNotNull(), sf.col(_PLACE))))
    count = sf.count(sf.lit(1)).alias("rows")
    seen = rows.withColumn(_PLACE, place).observe(
        read, count, sf.count(REASON).alias("undecodable"), first.alias("first")
    )
    is_decoded = sf.col(REASON).isNull()
    if numbered:
        seen = seen.withColumn(NUMBER, sf.col(_PLACE)["col1"]).withColumn(IS_DECODED, is_decoded)
    else:
        seen = seen.filter(is_decoded)
    return DecodedRows(spark, seen.drop(REASON, FILE, ROW, _PLACE), read)


def observed(spark: SparkSession, observation: Observation) -> dict[str, Any]:
    """Return the result of an observation after its action has ended.

    Raise InputError if there is no result, because Spark's ``get`` would wait forever.
    """
    context, own = spark.sparkContext._jsc, observation._jo
    if context is None or own is None:
        raise InputError("Spark", "stopped", "run the command again")
    context.sc().listenerBus().waitUntilEmpty()  # the counts come after the rows
    if not own.future().isCompleted():
        raise InputError("Spark", "counted no rows", "it left them out of its plan: run the command with --debug")
    return observation.get


def _in_words(first: str | None) -> str | None:
    """Return a description of the first undecodable row: its file, the reason, and the beginning of its text."""
    if first is None:
        return None
    place = json.loads(first)
    text = base64.b64decode(place.get(ROW) or "").decode("utf-8", "replace")[:_TEXT_CHARS]
    return f"{unquote(urlparse(place[FILE]).path)}: {place[REASON]}: {text}"


@contextmanager
def _progress(spark: SparkSession, description: str) -> Iterator[None]:
    """Show a bar of the tasks done, on a terminal, while Spark works."""
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

    with tqdm(desc=description, unit="task", disable=None) as bar:
        thread = threading.Thread(target=follow, args=(bar,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
