"""The rows of Parquet files as a stream of the schema would have them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cli.decoding import Decoding
from cli.file_rows import FILE, REASON, ROW, attributes, quoted

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

_CORRUPT = "__asc_corrupt"
_OF_VALUES = (
    *("dateFormat", "timestampFormat", "timestampNTZFormat", "timeZone", "locale"),
    *("nullValue", "nanValue", "positiveInf", "negativeInf"),
)
"""Options of a stream that say how a value is written, not how a line is divided."""


def read_parquet_rows(spark: SparkSession, inputs: Sequence[Path], decoding: Decoding) -> DataFrame:
    """The rows of Parquet files with REASON, FILE and ROW, which holds the value that does not go into its column.

    A column of another type is cast where its value is one of the schema's type. A column of texts is read as a field
    of CSV is, by the options for values.
    """
    from pyspark.sql import functions as sf

    frame = spark.read.parquet(*map(str, inputs))
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


def _taken(value: Column, given: str, wanted: pa.DataType, decoding: Decoding) -> tuple[Column, Column | None]:
    """A value as the schema has it, and whether it is one of its type; None where each is."""
    import pyarrow as pa
    from pyspark.sql import functions as sf

    ddl = _ddl(wanted)
    if given == ddl.lower() or pa.types.is_string(wanted) or pa.types.is_nested(wanted):
        return value.cast(ddl), None
    if given == "string":
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
        fits &= cast.try_cast(given).eqNullSafe(value)
    return cast, fits


def _ddl(data_type: pa.DataType) -> str:
    from asc.spark_types import ddl_of_type

    return ddl_of_type(data_type)
