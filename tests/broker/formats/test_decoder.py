"""Records of a source topic become attributes, or have a reason, on a real Spark session."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from broker.config.streams import StreamConfig
from broker.formats.decoder import ERROR, RecordDecoder

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

pytestmark = pytest.mark.spark

RECORD_DDL = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, timestampType INT, "
    "headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
)
MALFORMED = "value is not a JSON record of the stream's schema"
JSON_VALUES: list[tuple[bytes | None, Any]] = [
    (b'{"a": 1, "b": "x", "n": {"x": 2}}', (1, "x", 2)),
    (b"{}", (None, None, None)),
    (b'{"a": null, "other": [1, {}]}', (None, None, None)),
    ('{"b": "bl\u00e5 \U0001f600"}'.encode(), (None, "bl\u00e5 \U0001f600", None)),
    (None, "value is null"),
    (b"", "value is empty"),
    (b"  ", "value is empty"),
    (b"\xff\xfe", "value is not UTF-8 text"),
    (b'{"b": "\xff"}', "value is not UTF-8 text"),
    (b'{"a": 1', MALFORMED),
    (b"null", MALFORMED),
    (b"5", MALFORMED),
    (b"[]", MALFORMED),
    (b'[{"a": 1}]', MALFORMED),
    (b'{"a": "abc"}', MALFORMED),
    (b'{"a": 99999999999}', MALFORMED),
    (b'{"n": {"x": "q"}}', MALFORMED),
    (b"\x00", MALFORMED),
]
CSV_VALUES: list[tuple[bytes | None, Any]] = [
    (b"1,x", (1, "x")),
    (b",", (None, None)),
    (b'1,"say ""x"", y"', (1, 'say "x", y')),
    (None, "value is null"),
    (b"", "value is empty"),
    (b"1", "value is not a CSV record of the stream's schema"),
    (b"1,x,y", "value is not a CSV record of the stream's schema"),
    (b"one,x", "value is not a CSV record of the stream's schema"),
    (b"1" + b"," * 20_479, "value is not a CSV record of the stream's schema"),
    (b"1" + b"," * 20_480, "value has more than 20480 CSV columns"),
    (b"1" + b"," * 900_000, "value has more than 20480 CSV columns"),
]
HUGE = "value holds a number with an exponent beyond 999"
DECIMAL_JSON_VALUES: list[tuple[bytes | None, Any]] = [
    (b'{"p": 1.5e2, "s": "a"}', (Decimal("150.00"), "a")),
    (b'{"p": 1, "s": "7f1e23456789-0e55555-x"}', (Decimal("1.00"), "7f1e23456789-0e55555-x")),
    (b'{"p":1e5000000}', HUGE),
    (b'{"p":-1.5E+5000000}', HUGE),
    (b'{"p": "1e-5000000"}', HUGE),
    ('{"p": "1e٥٥٥٥٥٥٥"}'.encode(), HUGE),
    (b'{"a": [1,2,3,4e99999]}', HUGE),
]
DECIMAL_CSV_VALUES: list[tuple[bytes | None, Any]] = [
    (b"1.5e2|a,b", (Decimal("150.00"), "a,b")),
    (b"1e5000000|a", HUGE),
    (b'"1e5000000"|a', HUGE),
    (b"1|a|b", "value has more than 2 CSV columns"),
]


def decoding(stream: StreamConfig) -> RecordDecoder:
    return stream.decoder(stream.fields(), "UTC")


def decoded(spark: SparkSession, stream: StreamConfig, values: list[bytes | None], *columns: str) -> list[Row]:
    rows = [(b"k", value, "t", 0, offset, None, 0, None) for offset, value in enumerate(values)]
    frame = decoding(stream).decode(spark.createDataFrame(rows, RECORD_DDL))
    return frame.orderBy("_offset").select(ERROR, *columns).collect()


@pytest.mark.parametrize(
    ("record_format", "schema", "columns", "cases"),
    [
        ("json", "a INT NOT NULL, b STRING, n STRUCT<x: INT>", ("a", "b", "n.x"), JSON_VALUES),
        ("json", "p DECIMAL(9, 2), s STRING", ("p", "s"), DECIMAL_JSON_VALUES),
        ("csv", "a INT, b STRING", ("a", "b"), CSV_VALUES),
        ("csv |", "p DECIMAL(9, 2), s STRING", ("p", "s"), DECIMAL_CSV_VALUES),
    ],
)
def test_values_are_decoded_or_have_a_reason(
    spark: SparkSession,
    record_format: str,
    schema: str,
    columns: tuple[str, ...],
    cases: list[tuple[bytes | None, Any]],
) -> None:
    record_format, _, separator = record_format.partition(" ")
    options = {"sep": separator, "maxColumns": 2} if separator else {}
    stream = StreamConfig.model_validate({"topic": "t", "format": record_format, "schema": schema, "options": options})
    found = decoded(spark, stream, [value for value, _ in cases], *columns)
    for (value, expected), (reason, *fields) in zip(cases, found, strict=True):
        if isinstance(expected, str):
            assert reason == expected, value
        else:
            assert (reason, tuple(fields)) == (None, expected), value


def test_the_record_itself_can_be_asked_for(spark: SparkSession) -> None:
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": "value INT, topic STRING"})
    headers = [("h", b"1"), ("h", b"2"), ("bad", b"\xff"), ("none", None)]
    rows = [
        (b"\xff", b'{"value": 5, "topic": "mine"}', "t", 3, 9, None, 0, headers),
        (b"k", b"{}", "t", 0, 0, None, 0, None),
    ]
    frame = decoding(stream).decode(spark.createDataFrame(rows, RECORD_DDL)).orderBy("_offset")
    plain, odd = frame.select("value", "topic", "_key", "_topic", "_partition", "_offset", "_headers").collect()
    assert tuple(plain) == (None, None, "k", "t", 0, 0, None)
    assert tuple(odd) == (5, "mine", None, "t", 3, 9, {"h": "2", "bad": None, "none": None})
