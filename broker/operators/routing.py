"""From matched records to the records that are written: one for each destination topic, and dead letters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from broker.formats.decoder import ERROR, RECORD
from broker.matching.matches_text import AFTER_TOPIC, BETWEEN_IDS, BETWEEN_TOPICS
from broker.operators.headers import EXCESS, HEADER_ERROR, HEADER_QUERY, HEADER_SOURCE, HEADER_TIMESTAMP

if TYPE_CHECKING:
    from pyspark.sql import Column

_NO_HEADERS = "CAST(array() AS ARRAY<STRUCT<key: STRING, value: BINARY>>)"
_SOURCE = f"concat({RECORD}.topic, '-', {RECORD}.partition, '-', {RECORD}.offset)"
_TIMESTAMP = f"CAST(unix_millis({RECORD}.timestamp) AS STRING)"
# The ids of queries are not longer than what the target has beside the topic, and a header's name of ours has 10 bytes,
# but for the timestamp's, which is in the constant.
# Texts joined rather than a lambda that adds up: what has a lambda is not compiled with what is around it.
_BYTES = f"""180L + coalesce(octet_length(key), 0) + coalesce(octet_length(value), 0)
    + 20L * size(headers) - 10L * greatest(size({RECORD}.headers), 0)
    + octet_length(target) - octet_length(topic) + coalesce(octet_length({ERROR}), 0) + octet_length(source)
    + CASE WHEN size({RECORD}.headers) > 0 THEN octet_length(array_join({RECORD}.headers.key, ''))
        + octet_length(array_join(CAST({RECORD}.headers.value AS ARRAY<STRING>), '')) ELSE 0 END"""
# Never less than the estimate that Kafka's producer holds against its own limit.

_EXCESS_HEADERS = f"""array(struct('{HEADER_ERROR}' AS key, encode(excess, 'utf-8') AS value),
                            struct('{HEADER_SOURCE}' AS key, encode(source, 'utf-8') AS value),
                            struct('{HEADER_TIMESTAMP}' AS key, encode(timestamp, 'utf-8') AS value))"""
_KEPT_KEY_BYTES = 65_536


def routing(deliveries: str, dead_letter_topic: str, limits: Mapping[str, int]) -> tuple[tuple[Column, ...], ...]:
    """What to select of matched records, one projection over the other, for the records to write: ``topic``, ``key``,
    ``value``, ``headers``.

    ``deliveries`` names the column of topics and queries as one text (:mod:`broker.matching.matches_text`). Key and
    value are byte for byte those of the source record; its headers come first, then ``asc-query`` for each query, then
    ``asc-source`` and ``asc-timestamp``: Spark's sink has no column for a record's time. A record with a reason in
    ERROR goes to the dead-letter topic and nowhere else.

    ``limits`` holds the largest record, in bytes, of each topic: for what is larger, a dead letter without value and
    without the record's own headers says so.
    """
    from pyspark.sql import functions as sf

    targets = sf.expr(
        f"""CASE WHEN {ERROR} IS NULL THEN split({deliveries}, '{BETWEEN_TOPICS}')
                 ELSE array('{dead_letter_topic}') END"""
    )
    exploded = (sf.col(RECORD), sf.col(ERROR), sf.explode(targets).alias("target"))
    records = (
        sf.substring_index("target", AFTER_TOPIC, 1).alias("topic"),
        sf.col(f"{RECORD}.key").alias("key"),
        sf.col(f"{RECORD}.value").alias("value"),
        _headers().alias("headers"),
        sf.expr(_SOURCE).alias("source"),
        sf.expr(_TIMESTAMP).alias("timestamp"),
        *map(sf.col, ("target", RECORD, ERROR)),
    )
    own = map(sf.col, ("topic", "key", "value", "headers", "source", "timestamp"))
    sized = (*own, sf.expr(_BYTES).alias("bytes"))
    checked = (sf.col("*"), _excess(limits).alias("excess"))
    fits = sf.col("excess").isNull()
    written = (
        sf.when(fits, sf.col("topic")).otherwise(sf.lit(dead_letter_topic)).alias("topic"),
        sf.when(fits | (sf.octet_length("key") <= _KEPT_KEY_BYTES), sf.col("key")).alias("key"),
        sf.when(fits, sf.col("value")).alias("value"),
        sf.when(fits, sf.col("headers")).otherwise(sf.expr(_EXCESS_HEADERS)).alias("headers"),
    )
    return exploded, records, sized, checked, written


def usual_limit(limits: Mapping[str, int]) -> tuple[int, dict[str, int]]:
    """The limit that most topics have, for the broker creates them with it, and those of the others.

    It is all that the way of the records hangs on: a topic more with the usual limit changes nothing.
    """
    usual = max(limits.values())
    return usual, {topic: limit for topic, limit in limits.items() if limit != usual}


def _excess(limits: Mapping[str, int]) -> Column:
    from pyspark.sql import functions as sf

    usual, others = usual_limit(limits)
    limit = sf.lit(usual).cast("bigint")
    if others:
        by_topic = sf.from_json(sf.lit(json.dumps(others)), "map<string, bigint>")
        limit = sf.coalesce(sf.element_at(by_topic, sf.col("topic")), limit)
    said = sf.concat(
        *(sf.lit(EXCESS), sf.col("topic"), sf.lit(" takes "), sf.col("bytes").cast("string")),
        *(sf.lit(" bytes with its headers, over the limit of "), limit.cast("string")),
    )
    return sf.when((sf.col("bytes") > min(limits.values())) & (sf.col("bytes") > limit), said)


def _headers() -> Column:
    from pyspark.sql import functions as sf

    queries = f"split(substring_index(target, '{AFTER_TOPIC}', -1), '{BETWEEN_IDS}')"
    of_queries = f"arrays_zip(array_repeat('{HEADER_QUERY}', size({queries})), CAST({queries} AS ARRAY<BINARY>))"
    return sf.expr(
        f"""concat(coalesce({RECORD}.headers, {_NO_HEADERS}),
                   CASE WHEN {ERROR} IS NULL THEN CAST({of_queries} AS ARRAY<STRUCT<key: STRING, value: BINARY>>)
                        ELSE array(struct('{HEADER_ERROR}' AS key, encode({ERROR}, 'utf-8') AS value)) END,
                   array(struct('{HEADER_SOURCE}' AS key, encode({_SOURCE}, 'utf-8') AS value),
                         struct('{HEADER_TIMESTAMP}' AS key, encode({_TIMESTAMP}, 'utf-8') AS value)))"""
    )
