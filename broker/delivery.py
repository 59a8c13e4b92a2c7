"""From matched records to the records that are written: one for each destination topic, and dead letters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker.decode import ERROR, RECORD

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

HEADER_QUERY = "asc-query"
HEADER_SOURCE = "asc-source"
HEADER_ERROR = "asc-error"

_NO_HEADERS = "CAST(array() AS ARRAY<STRUCT<key: STRING, value: BINARY>>)"


def outgoing(matched: DataFrame, deliveries: str, dead_letter_topic: str) -> DataFrame:
    """The records to write: ``topic``, ``key``, ``value``, ``headers``.

    ``deliveries`` names the column array<struct<topic: string, queries: array<string>>>, queries sorted. Key and value
    are byte for byte those of the source record; its headers come first, then ``asc-query`` for each query, then
    ``asc-source``. A record with a reason in ERROR goes to the dead-letter topic and nowhere else.
    """
    from pyspark.sql import functions as sf

    targets = sf.expr(
        f"""CASE WHEN {ERROR} IS NULL THEN {deliveries}
                 ELSE array(struct('{dead_letter_topic}' AS topic, CAST(array() AS ARRAY<STRING>) AS queries)) END"""
    )
    exploded = matched.select(RECORD, ERROR, sf.explode(targets).alias("target"))
    return exploded.select(
        sf.col("target.topic").alias("topic"),
        sf.col(f"{RECORD}.key").alias("key"),
        sf.col(f"{RECORD}.value").alias("value"),
        _headers().alias("headers"),
    )


def _headers() -> Column:
    from pyspark.sql import functions as sf

    source = f"concat({RECORD}.topic, '-', {RECORD}.partition, '-', {RECORD}.offset)"
    return sf.expr(
        f"""concat(coalesce({RECORD}.headers, {_NO_HEADERS}),
                   transform(target.queries, q -> struct('{HEADER_QUERY}' AS key, encode(q, 'utf-8') AS value)),
                   CASE WHEN {ERROR} IS NULL THEN {_NO_HEADERS}
                        ELSE array(struct('{HEADER_ERROR}' AS key, encode({ERROR}, 'utf-8') AS value)) END,
                   array(struct('{HEADER_SOURCE}' AS key, encode({source}, 'utf-8') AS value)))"""
    )
