"""The outgoing records, on a real Spark session."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from broker.config.sections import REQUEST_BYTES, KafkaConfig
from broker.config.streams import StreamConfig
from broker.formats.record_decoder import RecordDecoder
from broker.matching.matches_text import AFTER_TOPIC, BETWEEN_IDS, BETWEEN_TOPICS
from broker.operators.outgoing import outgoing as projections

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

pytestmark = pytest.mark.spark

RECORD_DDL = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, timestampType INT, "
    "headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
)
MALFORMED = "value is not a JSON record of the stream's schema"


AT = datetime(2013, 1, 31, 8, 0, 5, 123_000, tzinfo=timezone.utc)
STAMP = ("asc-timestamp", b"1359619205123")


def decoding(stream: StreamConfig) -> RecordDecoder:
    return stream.decoder(stream.fields(), "UTC")


def outgoing(matched: DataFrame, deliveries: str, dead_letter_topic: str, limits: dict[str, int]) -> DataFrame:
    for columns in projections(deliveries, dead_letter_topic, limits):
        matched = matched.select(*columns)
    return matched


LIMITS = {"one": 1_000_000, "two": 1_000_000, "dead": 1_000_000}


def test_what_is_too_large_for_its_topic_is_a_dead_letter_without_value(spark: SparkSession) -> None:
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": "a INT"})
    value = b'{"a": 1, "x": "' + b"x" * 2_000 + b'"}'
    rows = [
        (b"k", value, "t", 0, 0, AT, 0, None),
        (b"k" * 70_000, b'{"a": 1}', "t", 0, 1, AT, 0, None),
        (b"k", b'{"a": 0}', "t", 0, 2, AT, 0, [("h", b"x" * 20_000)]),
        (b"k", b"{" + b"x" * 50_000, "t", 0, 3, AT, 0, None),
    ]
    frame = decoding(stream).decode(spark.createDataFrame(rows, RECORD_DDL)).selectExpr("*", _deliveries())
    limits = {"one": 1_000, "two": 10_000, "dead": 30_000}
    found = [_plain(row) for row in outgoing(frame, "d", "dead", limits).collect()]
    said = "record for topic {} takes {} bytes with its headers, over the limit of {}"

    def dead(offset: int, key: bytes | None, topic: str, size: int) -> tuple[Any, ...]:
        error = said.format(topic, size, limits[topic]).encode()
        return ("dead", key, None, [("asc-error", error), ("asc-source", f"t-0-{offset}".encode()), STAMP])

    assert found[0][:3] == ("dead", b"k", None)
    assert b"record for topic one takes " in dict(found[0][3])["asc-error"]
    assert found[1] == ("two", b"k", value, [("asc-query", b"r"), ("asc-source", b"t-0-0"), STAMP])
    sizes = {record: len(record) for record in (rows[1][0], rows[3][1]) if record is not None}
    overhead = 180 + 2 * 20 + len("t-0-1")
    per_query = 20
    keyed = sizes[rows[1][0]] + len(b'{"a": 1}') + overhead
    assert found[2:4] == [
        dead(1, None, "one", keyed + 2 * per_query + len(" p q")),
        dead(1, None, "two", keyed + per_query + len(" r")),
    ]
    reason = 20 + len(f"{MALFORMED}: it is no JSON object, or not whole")
    assert found[4:] == [dead(3, b"k", "dead", 1 + sizes[rows[3][1]] + overhead + reason)]


def test_a_record_is_as_large_as_the_limit_of_its_topic_and_no_larger(spark: SparkSession) -> None:
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": "a INT"})
    around = len(b'{"a": 1, "x": ""}') + 1 + 180 + 2 * 20 + len("t-0-0") + 20 + len(" r")
    values = [b'{"a": 1, "x": "' + b"x" * (REQUEST_BYTES - around + more) + b'"}' for more in (0, 1)]
    rows = [(b"k", value, "t", 0, offset, AT, 0, None) for offset, value in enumerate(values)]
    frame = decoding(stream).decode(spark.createDataFrame(rows, RECORD_DDL)).selectExpr("*", _deliveries())
    limits = {"one": 4 * REQUEST_BYTES, "two": KafkaConfig().request_bytes, "dead": 4 * REQUEST_BYTES}
    sent = outgoing(frame, "d", "dead", limits).where("topic <> 'one'").selectExpr("topic", "octet_length(value) n")
    assert [tuple(row) for row in sent.collect()] == [("two", len(values[0])), ("dead", None)]


def _deliveries() -> str:
    text = BETWEEN_TOPICS.join((f"one{AFTER_TOPIC}p{BETWEEN_IDS}q", f"two{AFTER_TOPIC}r"))
    return f"IF(a > 0, '{text}', NULL) AS d"


def _plain(row: Row) -> tuple[Any, ...]:
    headers = [(h.key, None if h.value is None else bytes(h.value)) for h in row.headers]
    return row.topic, _bytes(row.key), _bytes(row.value), headers


def _bytes(value: bytearray | None) -> bytes | None:
    return None if value is None else bytes(value)
