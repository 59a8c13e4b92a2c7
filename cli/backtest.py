"""Standing queries over files, by Spark: what ``asc match`` does."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cli.failure import CommandError
from cli.input_files import check_parquet, csv_header, file_format

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from asc.schema import Schema

POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class Backtest:
    """What a run found. ``by_query`` is empty where the accepted rows were written instead of counted."""

    rows: int
    accepted: int
    by_query: Mapping[str, int]


def run_backtest(
    inputs: Sequence[Path], schema: Schema, queries: Mapping[str, str], output: Path | None, *, time_zone: str
) -> Backtest:
    """Match the rows of the files with the queries, in one pass.

    With ``output`` the accepted rows are written there as NDJSON, with their ``queries``; else they are counted for
    each query. Only the columns that are needed are read. Errors: AscError.
    """
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    from broker.runtime.spark import spark_session

    if output is not None and output.exists():
        raise CommandError("output", str(output), "exists already: remove it, or name another folder")
    spark = spark_session(app_name="asc-match", time_zone=time_zone)
    try:
        return _matched(spark, read_rows(spark, inputs, schema), queries, output)
    except (PySparkException, Py4JError) as error:
        reason = str(error).strip().split("\n", 1)[0]
        raise CommandError("Spark fails on", ", ".join(map(str, inputs)), reason) from error


def _matched(spark: SparkSession, rows: DataFrame, queries: Mapping[str, str], output: Path | None) -> Backtest:
    from pyspark.sql import Observation
    from pyspark.sql import functions as sf

    import broker

    read, accepted = Observation("read"), Observation("accepted")
    count = sf.count(sf.lit(1)).alias("rows")
    matched = broker.match(rows.observe(read, count), queries).observe(accepted, count)
    by_query = {}
    with _progress(spark):
        if output is None:
            ids = matched.select(sf.explode("queries").alias("query"))
            found = {row["query"]: row["count"] for row in ids.groupBy("query").count().collect()}
            by_query = {query_id: found.get(query_id, 0) for query_id in queries}
        else:
            matched.write.json(str(output), compression="gzip")
    return Backtest(read.get["rows"], accepted.get["rows"], by_query)


def read_rows(spark: SparkSession, inputs: Sequence[Path], schema: Schema) -> DataFrame:
    """The rows of the files, all of one format, as a DataFrame of that schema; a column a file lacks is NULL."""
    from pyspark.sql.types import StructType

    formats = {file_format(path) for path in inputs}
    if len(formats) > 1:
        raise CommandError("files of several formats", ", ".join(sorted(formats)), "match one format at a time")
    paths = [str(path) for path in inputs]
    struct = StructType.fromDDL(schema.ddl())
    assert isinstance(struct, StructType)
    format_name = formats.pop()
    if format_name == "parquet":
        for path in inputs:
            check_parquet(path)
        return _as_schema(spark.read.parquet(*paths), struct)
    if format_name == "ndjson":
        return spark.read.schema(struct).json(paths)
    frames = [spark.read.csv(str(path), schema=_csv_struct(path, struct), header=True) for path in inputs]
    matched = [_as_schema(frame, struct) for frame in frames]
    all_rows = matched[0]
    for frame in matched[1:]:
        all_rows = all_rows.unionByName(frame)
    return all_rows


def _csv_struct(path: Path, struct: StructType) -> StructType:
    """The schema in the order of a file's header: Spark goes by position. Other columns are read as text."""
    from pyspark.sql.types import StringType, StructField, StructType

    fields = {field.name.lower(): field for field in struct}
    header = csv_header(path)
    if not any(name.lower() in fields for name in header):
        raise CommandError("no column of the schema in file", str(path), "the first line must name the columns")
    return StructType([fields.get(name.lower()) or StructField(name, StringType()) for name in header])


def _as_schema(frame: DataFrame, struct: StructType) -> DataFrame:
    """The columns of the schema, in its order and types; what the frame lacks is NULL."""
    from pyspark.sql import functions as sf

    own = {name.lower(): name for name in frame.columns}
    columns = []
    for field in struct:
        name = own.get(field.name.lower())
        column = sf.lit(None) if name is None else frame[f"`{name.replace('`', '``')}`"]
        if name is None or frame.schema[name].dataType != field.dataType:
            column = column.cast(field.dataType)
        columns.append(column.alias(field.name))
    return frame.select(columns)


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
