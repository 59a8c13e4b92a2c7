"""The rows of Parquet files, converted to the types of a stream's schema."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from broker.errors import InputError
from broker.files.decoding import Decoding
from broker.files.input_files import parquet_files, stored_schema
from broker.files.row_columns import FILE, REASON, ROW, attributes, quoted

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyspark.sql import Column, DataFrame, SparkSession

_CORRUPT = "__asc_corrupt"
_OF_VALUES = (
    *("dateFormat", "timestampFormat", "timestampNTZFormat", "timeZone", "locale"),
    *("nullValue", "nanValue", "positiveInf", "negativeInf"),
)
"""Options of a stream that decide how a value is written, as opposed to how a line is divided."""


def read_parquet_rows(spark: SparkSession, inputs: Sequence[Path], decoding: Decoding) -> DataFrame:
    """Return the rows of Parquet files with REASON, FILE and ROW. ROW holds the value that cannot be converted to its
    column.

    A value of another type is cast if the result is of the schema's type. A column of texts is parsed like a field of
    CSV, by the options for values.
    """
    from pyspark.sql import functions as sf

    frame = _readable(spark, inputs, decoding)
    types = {field.name.lower(): field.dataType.simpleString() for field in frame.schema.fields}
    places = {name.lower(): quoted(name) for name in frame.columns}
    taken, faults = {}, []
    for field in decoding.schema.arrow:
        name = field.name.lower()
        if name in types:
            value, fits = _taken(sf.col(places[name]), types[name], field.type, decoding)
            taken[name] = value
            if fits is not None:
                reason = sf.lit(f"column {field.name} holds no {_ddl(field.type)}")
                faults.append(sf.when(~fits, sf.struct(reason, sf.col(places[name]).cast("string"))))
    fault = sf.coalesce(*faults, sf.lit(None).cast("struct<col1: string, col2: string>"))
    return frame.select(
        *attributes(taken, decoding.schema),
        fault["col1"].alias(REASON),
        sf.when(fault.isNotNull(), sf.col("_metadata.file_path")).alias(FILE),
        fault["col2"].cast("binary").alias(ROW),
    )


def _readable(spark: SparkSession, inputs: Sequence[Path], decoding: Decoding) -> DataFrame:
    """Return the columns of files as Spark reads them. If Spark cannot read some of them, return only the schema's
    columns.

    Raise InputError if Spark cannot read a column of the schema. One such column makes Spark refuse the whole file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = next((stored for path in inputs for stored in parquet_files(path)), None)
    stored = None if file is None else stored_schema(file)
    unread = {} if stored is None else unread_columns(stored)
    if stored is None or not unread:
        return spark.read.parquet(*map(str, inputs))
    wanted = {field.name.lower() for field in decoding.schema.arrow}
    for name, kind in unread.items():
        if name.lower() in wanted:
            remedy = f"Spark reads no {kind}: leave the column out of the schema, or write it as {_WRITTEN_AS[kind]}"
            raise InputError(f"file {file}, column", name, remedy)
    kept = pa.schema([field for field in stored.to_arrow_schema() if field.name.lower() in wanted])
    with tempfile.TemporaryDirectory(prefix="asc-parquet-") as folder:
        # Write a file with these columns and without rows: Spark's schema of it has the types as which Spark reads
        # them.
        pq.write_table(kept.empty_table(), f"{folder}/empty.parquet")
        schema = spark.read.parquet(f"{folder}/empty.parquet").schema
    return spark.read.schema(schema).parquet(*map(str, inputs))


def unread_columns(schema: pq.ParquetSchema) -> dict[str, str]:
    """Return the columns of a Parquet file that Spark cannot read, by name, each with its type."""
    unread: dict[str, str] = {}
    for place in range(len(schema.names)):
        column = schema.column(place)
        kind = column.logical_type.type
        if kind == "TIMESTAMP" and "nanoseconds" in str(column.logical_type).lower():
            kind = "TIMESTAMP(NANOS)"
        if kind in _WRITTEN_AS:
            unread[column.path.partition(".")[0]] = kind
    return unread


_WRITTEN_AS = {
    "TIMESTAMP(NANOS)": "microseconds (pandas: coerce_timestamps='us')",
    "TIME": "texts or numbers",
    "FLOAT16": "FLOAT",
}
"""Parquet types that Spark refuses, each with a type that Spark reads in its place."""


def _taken(value: Column, stored_type: str, wanted: pa.DataType, decoding: Decoding) -> tuple[Column, Column | None]:
    """Return a value converted to the schema's type, and a condition that the conversion succeeded. The condition is
    None if the conversion always succeeds.
    """
    import pyarrow as pa
    from pyspark.sql import functions as sf

    ddl = _ddl(wanted)
    if stored_type == ddl.lower() or pa.types.is_string(wanted) or pa.types.is_nested(wanted):
        return value.cast(ddl), None
    if stored_type == "string":
        if pa.types.is_binary(wanted):
            return value.cast("binary"), None
        options = {name: text for name, text in decoding.options.items() if name in _OF_VALUES}
        options = {"timeZone": decoding.time_zone, **options, "escape": '"', "columnNameOfCorruptRecord": _CORRUPT}
        line = sf.concat(sf.lit('"'), sf.replace(value, sf.lit('"'), sf.lit('""')), sf.lit('"'))
        parsed = sf.from_csv(line, f"value {ddl}, {_CORRUPT} STRING", options)
        return parsed["value"], parsed[_CORRUPT].isNull()
    cast = value.try_cast(ddl)
    fits = value.isNull() | cast.isNotNull()
    if pa.types.is_integer(wanted) or pa.types.is_date(wanted):
        fits &= cast.try_cast(stored_type).eqNullSafe(value)
    return cast, fits


def _ddl(data_type: pa.DataType) -> str:
    from asc.spark_types import ddl_of_type

    return ddl_of_type(data_type)
