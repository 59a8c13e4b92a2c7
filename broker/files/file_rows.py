"""The rows of files, read by Spark under the rules of a stream: a row that the stream would not decode counts as
undecodable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from broker.files.decoding import Decoding
from broker.files.input_checks import csv_columns
from broker.files.row_columns import FILE, REASON, ROW, attributes, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from broker.formats.record_decoder import RecordDecoder

_IS_FIRST = "__asc_is_first"
_ROW_OF_PARTITION = (1 << 33) - 1


def read_rows(spark: SparkSession, inputs: Sequence[Path], format_name: str, decoding: Decoding) -> DataFrame:
    """Return the rows of files, all in one format, with REASON, FILE and ROW. A column that a file lacks is NULL.

    NDJSON and CSV lines are decoded as the daemon decodes records. The first line of each CSV file names its columns. A
    CSV line with an odd number of quotes is part of a field with a line break, and undecodable. For Parquet see
    :mod:`broker.files.parquet_rows`.
    """
    if format_name == "parquet":
        from broker.files.parquet_rows import read_parquet_rows

        return read_parquet_rows(spark, inputs, decoding)
    if format_name == "ndjson":
        return _decoded(_lines(spark, inputs), decoder_of(inputs[0], format_name, decoding), decoding)
    return reduce(
        lambda one, other: one.unionByName(other), (_csv(spark, path, format_name, decoding) for path in inputs)
    )


def decoder_of(path: Path, format_name: str, decoding: Decoding) -> RecordDecoder:
    """Return the decoder from the lines of a file to columns. CSV columns that the schema lacks are texts."""
    from asc.spark_types import ddl_of_type
    from broker.config.streams import StreamConfig
    from broker.formats.format import Given
    from broker.formats.registry import RECORD_FORMATS

    fields, record_format = decoding.schema.ddl(), "json"
    if format_name == "csv":
        types = {field.name.lower(): ddl_of_type(field.type) for field in decoding.schema.arrow}
        names = csv_columns(path, decoding.schema, decoding.options)
        record_format = "csv"
        fields = ", ".join(f"{quoted(name or '_unnamed')} {types.get(name.lower(), 'STRING')}" for name in names)
    stream = StreamConfig.model_validate(
        {"topic": "rows", "format": record_format, "schema": fields, "options": dict(decoding.options)}
    )
    format_ = RECORD_FORMATS[record_format]
    return format_.decoder(stream.fields(), stream.options, decoding.time_zone, Given())


def _csv(spark: SparkSession, path: Path, format_name: str, decoding: Decoding) -> DataFrame:
    lines = _lines(spark, [path])
    return _decoded(lines.filter(~lines[_IS_FIRST]), decoder_of(path, format_name, decoding), decoding)


def _lines(spark: SparkSession, paths: Sequence[Path]) -> DataFrame:
    """Return the lines that are not empty, with FILE. If there is one path, add _IS_FIRST."""
    from pyspark.sql import functions as sf

    # The lower bits of the id count the rows of a partition. Spark sorts parts by descending size, and equal parts by
    # their offset. So the part at the beginning of the file is the first of its partition.
    number = sf.monotonically_increasing_id().bitwiseAND(sf.lit(_ROW_OF_PARTITION))
    is_first = (sf.col("_metadata.file_block_start") == 0) & (number == 0)
    lines = spark.read.text(list(map(str, paths)))
    lines = lines.select("value", sf.col("_metadata.file_path").alias(FILE), is_first.alias(_IS_FIRST))
    return lines.filter(sf.trim("value") != "")


def _decoded(lines: DataFrame, decoder: RecordDecoder, decoding: Decoding) -> DataFrame:
    """Return lines decoded as records of a stream with the decoder's fields."""
    from pyspark.sql import functions as sf

    from broker.formats.decoder import ERROR, RECORD, as_records

    decoded = decoder.decode(as_records(lines, value=sf.col("value"), topic=sf.col(FILE)))
    names = [field.name.lower() for field in decoder.fields.arrow]
    # Columns get numbers, because a field may have the name of a metadata attribute; those come after the fields.
    numbered = [f"__asc_{number}" for number in range(len(decoded.columns) - 2)]
    decoded = decoded.toDF(*numbered, RECORD, ERROR)
    columns = {name: decoded[number] for name, number in zip(names, numbered, strict=False)}
    value, reason = decoded[RECORD]["value"], decoded[ERROR]
    quote = decoding.options.get("quote", '"')
    if decoder.parser.name == "csv" and quote and decoding.options.get("escape", quote) == quote:
        halved = sf.regexp_count(value.cast("string"), sf.lit(re.escape(quote))) % 2 == 1
        reason = sf.when(halved, "line ends inside a quoted field, or begins there").otherwise(reason)
    return decoded.select(
        *attributes(columns, decoding.schema),
        reason.alias(REASON),
        decoded[RECORD]["topic"].alias(FILE),
        sf.when(reason.isNotNull(), value).alias(ROW),
    )
