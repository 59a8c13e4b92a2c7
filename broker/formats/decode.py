"""From the records of a source topic to attributes, in the JVM: what a predicate may name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from broker.config.config import StreamConfig
from broker.formats.options import CSV_COLUMNS_MAX

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

RECORD = "__asc_record"
"""Column of the record as it came: struct of key, value, headers, topic, partition, offset."""

ERROR = "__asc_error"
"""Column of the reason why a record cannot be decoded; NULL where it can."""

KAFKA_FIELDS = (
    *(("key", "BINARY"), ("value", "BINARY"), ("topic", "STRING"), ("partition", "INT"), ("offset", "BIGINT")),
    *(("timestamp", "TIMESTAMP"), ("timestampType", "INT")),
    ("headers", "ARRAY<STRUCT<key: STRING, value: BINARY>>"),
)
"""The columns of Spark's Kafka source, ``includeHeaders``: name and type."""

_DECODED = "__asc_decoded"
_CORRUPT = "__asc_corrupt"
_UNPARSED = "__asc_unparsed"
_DEFAULTS = {"json": {}, "csv": {"escape": '"', "maxColumns": str(CSV_COLUMNS_MAX)}}
# RFC 4180 doubles a quote inside quotes; Spark's own default is a backslash.

_HUGE_EXPONENT = r"(?<![\p{Alnum}_.-])[-+]?[\p{Nd}.]++[eE][-+]?\p{Nd}{4,}+(?![\p{Alnum}_.-])"
# A number as a token of its own: digits with an e between them inside an identifier are none.


def decode(records: DataFrame, stream: StreamConfig, time_zone: str) -> DataFrame:
    """The attributes of Kafka records (``includeHeaders``), as columns, with RECORD and ERROR beside them.

    Fields that a record lacks are NULL. A value that is null, empty, not UTF-8, or not of the schema has a reason in
    ERROR; its fields are then NULL or hold what could be read, and mean nothing.
    """
    from pyspark.sql import functions as sf

    fields = stream.fields()
    text = sf.col("value").cast("string")
    unparsed = _unparsed(sf.col("value"), stream)
    schema = f"{fields.ddl()}, {_CORRUPT} STRING"
    options = {
        "timeZone": time_zone,
        **_DEFAULTS[stream.format],
        **stream.options,
        "mode": "PERMISSIVE",
        "columnNameOfCorruptRecord": _CORRUPT,
    }
    parse = sf.from_json if stream.format == "json" else sf.from_csv
    names = [field.name for field in fields.arrow]
    decoded = records.select(
        sf.struct("key", "value", "headers", "topic", "partition", "offset").alias(RECORD),
        unparsed.alias(_UNPARSED),
        parse(sf.when(unparsed.isNull(), text), schema, options).alias(_DECODED),
        *_record_attributes(),
    )
    # The attributes are read from a projection of their own, so that a value is parsed once, not once a field.
    return decoded.select(
        *(decoded[_DECODED].getField(name).alias(name) for name in names),
        *("_key", "_topic", "_partition", "_offset", "_timestamp", "_headers", RECORD),
        _reason(stream.format).alias(ERROR),
    )


def as_records(rows: DataFrame, **fields: Column) -> DataFrame:
    """Rows as Kafka records with those fields (KAFKA_FIELDS), cast to their types; the others are NULL."""
    from pyspark.sql import functions as sf

    return rows.select(*(fields.get(name, sf.lit(None)).cast(kind).alias(name) for name, kind in KAFKA_FIELDS))


def _record_attributes() -> list[Column]:
    from pyspark.sql import functions as sf

    value = "try_validate_utf8(CAST(h.value AS STRING))"
    headers = f"map_from_entries(transform(headers, h -> struct(h.key AS key, {value} AS value)))"
    return [
        sf.expr("try_validate_utf8(CAST(key AS STRING))").alias("_key"),
        sf.col("topic").alias("_topic"),
        sf.col("partition").alias("_partition"),
        sf.col("offset").alias("_offset"),
        sf.col("timestamp").alias("_timestamp"),
        sf.expr(headers).alias("_headers"),
    ]


def _unparsed(value: Column, stream: StreamConfig) -> Column:
    """Why a value is not even given to the parser, NULL where it is: nothing may throw there, or take for ever."""
    from pyspark.sql import functions as sf

    text = value.cast("string")
    reason = (
        sf.when(value.isNull(), "value is null")
        .when(sf.trim(text) == "", "value is empty")
        .when(~sf.is_valid_utf8(text), "value is not UTF-8 text")
    )
    if stream.format == "csv":
        # The parser throws at a column too many, whatever the mode. Separators inside quotes are counted with them.
        separator = _separator(stream.options)
        most = int(stream.options.get("maxColumns", CSV_COLUMNS_MAX))
        spare = sf.length(text) - sf.length(sf.replace(text, sf.lit(separator), sf.lit("")))
        reason = reason.when(spare >= most * len(separator), f"value has more than {most} CSV columns")
    if any(map(_has_decimal, (field.type for field in stream.fields().arrow))):
        # A decimal is written out in full before it is found not to fit.
        huge = sf.rlike(text, sf.lit(_HUGE_EXPONENT))
        reason = reason.when(huge, "value holds a number with an exponent beyond 999")
    return reason


def _separator(options: Mapping[str, str]) -> str:
    text = options.get("sep", options.get("delimiter", ","))
    escapes = {"t": "\t", "r": "\r", "b": "\b", "f": "\f", "u0000": "\0"}
    return re.sub(r"\\(u0000|.)", lambda found: escapes.get(found[1], found[1]), text)


def _has_decimal(kind: pa.DataType) -> bool:
    import pyarrow as pa

    children = [kind.field(i).type for i in range(kind.num_fields)]
    return pa.types.is_decimal(kind) or any(map(_has_decimal, children))


def _reason(record_format: str) -> Column:
    from pyspark.sql import functions as sf

    malformed = f"value is not a {record_format.upper()} record of the stream's schema"
    return sf.expr(
        f"""coalesce({_UNPARSED},
                     CASE WHEN {_DECODED} IS NULL OR {_DECODED}.{_CORRUPT} IS NOT NULL THEN "{malformed}" END)"""
    )
