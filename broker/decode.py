"""From the records of a source topic to attributes, in the JVM: what a predicate may name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker.config import StreamConfig

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

RECORD = "__asc_record"
"""Column of the record as it came: struct of key, value, headers, topic, partition, offset."""

ERROR = "__asc_error"
"""Column of the reason why a record cannot be decoded; NULL where it can."""

_DECODED = "__asc_decoded"
_CORRUPT = "__asc_corrupt"
_DEFAULTS = {"json": {}, "csv": {"escape": '"'}}
# RFC 4180 doubles a quote inside quotes; Spark's own default is a backslash.


def decode(records: DataFrame, stream: StreamConfig, time_zone: str) -> DataFrame:
    """The attributes of Kafka records (``includeHeaders``), as columns, with RECORD and ERROR beside them.

    Fields that a record lacks are NULL. A value that is null, empty, not UTF-8, or not of the schema has a reason in
    ERROR; its fields are then NULL or hold what could be read, and mean nothing.
    """
    from pyspark.sql import functions as sf

    text = sf.expr("CASE WHEN is_valid_utf8(CAST(value AS STRING)) THEN CAST(value AS STRING) END")
    fields = stream.fields()
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
        parse(text, schema, options).alias(_DECODED),
        *_record_attributes(),
    )
    # The attributes are read from a projection of their own, so that a value is parsed once, not once a field.
    return decoded.select(
        *(decoded[_DECODED].getField(name).alias(name) for name in names),
        *("_key", "_topic", "_partition", "_offset", "_timestamp", "_headers", RECORD),
        _reason(stream.format).alias(ERROR),
    )


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


def _reason(record_format: str) -> Column:
    from pyspark.sql import functions as sf

    value = f"{RECORD}.value"
    malformed = f"value is not a {record_format.upper()} record of the stream's schema"
    return sf.expr(
        f"""CASE WHEN {value} IS NULL THEN 'value is null'
                 WHEN trim(CAST({value} AS STRING)) = '' THEN 'value is empty'
                 WHEN NOT is_valid_utf8(CAST({value} AS STRING)) THEN 'value is not UTF-8 text'
                 WHEN {_DECODED} IS NULL OR {_DECODED}.{_CORRUPT} IS NOT NULL THEN "{malformed}" END"""
    )
