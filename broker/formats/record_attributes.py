"""The record's own attributes, such as ``_key`` and ``_offset``, which a predicate may name in addition to the fields
of the schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column

    from asc.schema import Schema

RECORD_DDL = (
    "_key STRING, _topic STRING, _partition INT, _offset BIGINT, _timestamp TIMESTAMP, _headers MAP<STRING, STRING>"
)
"""The names and types of the record's own attributes."""

RESERVED_ATTRIBUTES = ("_key", "_topic", "_partition", "_offset", "_timestamp", "_headers")
"""The names of the record's own attributes. No field may have one of these names."""


def attributes_of(fields: Schema) -> Schema:
    """Return the fields and the record's own attributes. Predicates may name all of them.

    >>> from asc.schema import Schema
    >>> [attribute.name for attribute in attributes_of(Schema.from_ddl("delay INT")).attributes][:2]
    ['delay', '_key']
    """
    from asc.schema import Schema

    return Schema.from_ddl(f"{fields.ddl()}, {RECORD_DDL}")


def record_columns() -> list[Column]:
    """Return the record's own attributes as columns over Spark's Kafka source. Bytes that are not UTF-8 are NULL."""
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
