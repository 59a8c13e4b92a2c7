"""Routed records, on a real Spark session."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from broker.config.streams import StreamConfig
from broker.formats.record_decoder import RecordDecoder
from broker.matching.matches_text import AFTER_SHAPES, AFTER_TOPIC, BETWEEN_IDS, BETWEEN_TOPICS
from broker.operators.outgoing import outgoing as projections

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

pytestmark = pytest.mark.spark

RECORD_DDL = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, timestampType INT, "
    "headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
)


AT = datetime(2013, 1, 31, 8, 0, 5, 123_000, tzinfo=timezone.utc)
STAMP = ("asc-timestamp", b"1359619205123")


def decoding(stream: StreamConfig) -> RecordDecoder:
    return stream.decoder(stream.fields(), "UTC")


def outgoing(matched: DataFrame, deliveries: str, dead_letter_topic: str, limits: dict[str, int]) -> DataFrame:
    for columns in projections(deliveries, dead_letter_topic, limits):
        matched = matched.select(*columns)
    return matched


LIMITS = {"one": 1_000_000, "two": 1_000_000, "dead": 1_000_000}


def test_a_value_is_parsed_once(spark: SparkSession) -> None:
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": "a INT, b INT, c INT"})
    frame = decoding(stream).decode(spark.createDataFrame([(b"k", b"{}", "t", 0, 0, None, 0, None)], RECORD_DDL))
    plan = outgoing(frame.selectExpr("*", _deliveries()), "d", "dead", LIMITS)._jdf.queryExecution().optimizedPlan()
    parsers = re.findall(r"from_json\(StructField\(a,(\w+)", plan.toString())
    # And into texts once more, in one place, where a record is malformed.
    assert sorted(parsers) == ["IntegerType", "StringType"]


def _deliveries() -> str:
    text = BETWEEN_TOPICS.join((f"one{AFTER_TOPIC}p{BETWEEN_IDS}q", f"two{AFTER_TOPIC}r"))
    return f"IF(a > 0, '{text}', NULL) AS d"


def test_outgoing_records(spark: SparkSession) -> None:
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": "a INT"})
    headers = [("h", b"\x00\xff"), ("n", None)]
    rows = [
        (b"\xff", b'{"a": 1}', "t", 0, 0, AT, 0, headers),
        (None, b'{"a":  1}', "t", 0, 1, AT, 0, None),
        (b"k", b'{"a": 0}', "t", 0, 2, AT, 0, None),
        (b"k", None, "t", 1, 3, AT, 0, headers),
    ]
    frame = decoding(stream).decode(spark.createDataFrame(rows, RECORD_DDL))
    found = outgoing(frame.selectExpr("*", _deliveries()), "d", "dead", LIMITS).collect()
    queries = {"one": [("asc-query", b"p"), ("asc-query", b"q")], "two": [("asc-query", b"r")]}
    expected = [
        *[
            (topic, b"\xff", b'{"a": 1}', [*headers, *queries[topic], ("asc-source", b"t-0-0"), STAMP])
            for topic in ("one", "two")
        ],
        *[(topic, None, b'{"a":  1}', [*queries[topic], ("asc-source", b"t-0-1"), STAMP]) for topic in ("one", "two")],
        ("dead", b"k", None, [*headers, ("asc-error", b"value is null"), ("asc-source", b"t-1-3"), STAMP]),
    ]
    assert [_plain(row) for row in found] == expected


def test_shapes_of_joins_are_headers_of_their_own(spark: SparkSession) -> None:
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": "a INT"})
    rows = [(b"k", b'{"a": 1}', "t", 0, number, AT, 0, None if number else [("h", b"1")]) for number in range(2)]
    both = f"one{AFTER_TOPIC}over/Ø 1{BETWEEN_IDS}over/b{AFTER_SHAPES}late{BETWEEN_IDS}over"
    text = BETWEEN_TOPICS.join((both, f"two{AFTER_TOPIC}r"))
    frame = decoding(stream).decode(spark.createDataFrame(rows, RECORD_DDL)).selectExpr("*", f"'{text}' AS d")
    found = [_plain(row) for row in outgoing(frame, "d", "dead", LIMITS).collect()]
    shapes = [("asc-shape", "over/Ø 1".encode()), ("asc-shape", b"over/b")]
    queries = [("asc-query", b"late"), ("asc-query", b"over")]
    for number, own in enumerate(([("h", b"1")], [])):
        source = ("asc-source", f"t-0-{number}".encode())
        assert found[2 * number] == ("one", b"k", b'{"a": 1}', [*own, *shapes, *queries, source, STAMP])
        assert found[2 * number + 1] == ("two", b"k", b'{"a": 1}', [*own, ("asc-query", b"r"), source, STAMP])
    # None is left out: what is too large with them is a dead letter.
    limits = {**LIMITS, "one": 250}
    (first, *_) = [_plain(row) for row in outgoing(frame, "d", "dead", limits).collect()]
    assert first[0] == "dead"
    assert b"record for topic one takes" in dict(first[3])["asc-error"]


def _plain(row: Row) -> tuple[Any, ...]:
    headers = [(h.key, None if h.value is None else bytes(h.value)) for h in row.headers]
    return row.topic, _bytes(row.key), _bytes(row.value), headers


def _bytes(value: bytearray | None) -> bytes | None:
    return None if value is None else bytes(value)
