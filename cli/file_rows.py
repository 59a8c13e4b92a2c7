"""The rows of files as Spark reads them, by the rules of a stream: what a stream would not decode is no row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from cli.failure import CommandError
from cli.input_files import check_parquet, csv_header, file_format

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from asc.schema import Schema

REASON, FILE, TEXT = "__asc_reason", "__asc_file", "__asc_text"
"""Columns beside the schema's: why a row cannot be decoded, NULL where it can; its file; the beginning of its text."""

_TEXT_CHARS = 60
_IS_FIRST = "__asc_is_first"
_ROW_OF_PARTITION = (1 << 33) - 1


def read_rows(spark: SparkSession, inputs: Sequence[Path], schema: Schema, time_zone: str) -> DataFrame:
    """The rows of the files, all of one format, with REASON, FILE and TEXT; a column a file lacks is NULL.

    NDJSON and CSV are decoded as the daemon decodes records, a line each; CSV by the names in each file's first line.
    A CSV line with an odd number of quotes is a part of a field with a line break, and no row.
    """
    for path in inputs:
        if path.name.startswith(("_", ".")):
            raise CommandError(
                "file name", str(path), "Spark reads no file whose name begins with '_' or '.': rename it"
            )
    formats = {file_format(path) for path in inputs}
    if len(formats) > 1:
        raise CommandError("files of several formats", ", ".join(sorted(formats)), "match one format at a time")
    format_name = formats.pop()
    if format_name == "parquet":
        return _parquet(spark, inputs, schema)
    if format_name == "ndjson":
        return _decoded(_lines(spark, inputs), "json", schema.ddl(), schema, time_zone)
    frames = [_csv(spark, path, schema, time_zone) for path in inputs]
    return reduce(lambda one, other: one.unionByName(other), frames)


def _parquet(spark: SparkSession, inputs: Sequence[Path], schema: Schema) -> DataFrame:
    from pyspark.sql import functions as sf

    for path in inputs:
        check_parquet(path)
    frame = spark.read.parquet(*map(str, inputs))
    own = {name.lower(): sf.col(quoted(name)) for name in frame.columns}
    nothing = sf.lit(None).cast("string")
    return frame.select(*_attributes(own, schema), nothing.alias(REASON), nothing.alias(FILE), nothing.alias(TEXT))


def _csv(spark: SparkSession, path: Path, schema: Schema, time_zone: str) -> DataFrame:
    """A CSV file: the fields that its first line names, in its order; those the schema does not have are texts."""
    from asc.spark_types import ddl_of_type

    line, names = csv_header(path)
    if line.count('"') % 2:
        raise CommandError("no usable header in file", str(path), "the first line ends inside a quoted name")
    types = {field.name.lower(): ddl_of_type(field.type) for field in schema.arrow}
    if not any(name.lower() in types for name in names):
        raise CommandError("no column of the schema in file", str(path), "the first line must name the columns")
    if len({name.lower() for name in names}) < len(names):
        raise CommandError("no usable header in file", str(path), "the first line must name each column once")
    fields = [f"{quoted(name or '_unnamed')} {types.get(name.lower(), 'STRING')}" for name in names]
    lines = _lines(spark, [path])
    return _decoded(lines.filter(~lines[_IS_FIRST]), "csv", ", ".join(fields), schema, time_zone)


def _lines(spark: SparkSession, paths: Sequence[Path]) -> DataFrame:
    """The lines that are not empty, with FILE, and _IS_FIRST where there is one path."""
    from pyspark.sql import functions as sf

    # The lower bits of the id count the rows of a partition. A file's parts come largest first, of equal size by their
    # place, so the part at the file's beginning is the first of its partition.
    number = sf.monotonically_increasing_id().bitwiseAND(sf.lit(_ROW_OF_PARTITION))
    is_first = (sf.col("_metadata.file_block_start") == 0) & (number == 0)
    lines = spark.read.text(list(map(str, paths)))
    lines = lines.select("value", sf.col("_metadata.file_path").alias(FILE), is_first.alias(_IS_FIRST))
    return lines.filter(sf.trim("value") != "")


def _decoded(lines: DataFrame, record_format: str, fields: str, schema: Schema, time_zone: str) -> DataFrame:
    """Lines as records of a stream with those fields."""
    from pyspark.sql import functions as sf

    from broker.config.streams import StreamConfig
    from broker.formats.decoder import ERROR, RECORD, as_records

    stream = StreamConfig.model_validate({"topic": "rows", "format": record_format, "schema": fields})
    decoder = stream.decoder(stream.fields(), time_zone)
    decoded = decoder.decode(as_records(lines, value=sf.col("value"), topic=sf.col(FILE)))
    names = [field.name.lower() for field in decoder.fields.arrow]
    # By number: a field may be called as one of the record's own attributes, which come after the fields.
    numbered = [f"__asc_{number}" for number in range(len(decoded.columns) - 2)]
    decoded = decoded.toDF(*numbered, RECORD, ERROR)
    own = {name: decoded[number] for name, number in zip(names, numbered, strict=False)}
    text = sf.make_valid_utf8(sf.substring(decoded[RECORD]["value"].cast("string"), 1, _TEXT_CHARS))
    reason = decoded[ERROR]
    if record_format == "csv":
        halved = sf.regexp_count(decoded[RECORD]["value"].cast("string"), sf.lit('"')) % 2 == 1
        reason = sf.when(halved, "line ends inside a quoted field, or begins there").otherwise(reason)
    return decoded.select(
        *_attributes(own, schema),
        reason.alias(REASON),
        decoded[RECORD]["topic"].alias(FILE),
        sf.when(reason.isNotNull(), text).alias(TEXT),
    )


def _attributes(own: Mapping[str, Column], schema: Schema) -> list[Column]:
    """The columns of the schema, in its order and types, from those of a frame by lower name."""
    from pyspark.sql import functions as sf

    from asc.spark_types import ddl_of_type

    nothing = sf.lit(None)
    return [own.get(f.name.lower(), nothing).cast(ddl_of_type(f.type)).alias(f.name) for f in schema.arrow]


def quoted(name: str) -> str:
    """A column's name in backquotes."""
    return "`" + name.replace("`", "``") + "`"
