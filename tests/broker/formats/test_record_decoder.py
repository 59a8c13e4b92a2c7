"""Records of a source topic become attributes, or have a reason, on a real Spark session."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from broker.config.streams import StreamConfig
from broker.formats.csv import _COLUMNS_MAX
from broker.formats.decoder import ERROR, NAMED_COLUMNS_MAX
from broker.formats.record_decoder import RecordDecoder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

RECORD_DDL = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, timestampType INT, "
    "headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
)
MALFORMED = "value is not a JSON record of the stream's schema"
NO_OBJECT = f"{MALFORMED}: it is no JSON object, or not whole"
NO_INT = f"{MALFORMED}: column 'a' holds no INT"
CSV_MALFORMED = "value is not a CSV record of the stream's schema"
OTHER_COLUMNS = f"{CSV_MALFORMED}: it has fewer or more columns than 2"
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
    (b'{"a": 1', NO_OBJECT),
    (b"null", NO_OBJECT),
    (b"5", NO_OBJECT),
    (b"[]", NO_OBJECT),
    (b'[{"a": 1}]', NO_OBJECT),
    (b'{"a": "abc"}', NO_INT),
    (b'{"a": 99999999999}', NO_INT),
    (b'{"n": 5, "a": [1]}', NO_INT),
    (b'{"n": 5}', f"{MALFORMED}: column 'n' holds no STRUCT<x: INT>"),
    (b'{"n": {"x": "q"}}', f"{MALFORMED}: column 'n.x' holds no INT"),
    (b'{"n": {"x": 1}, "a": "x"}', NO_INT),
    (b"\x00", NO_OBJECT),
    (b'{"other": ' + b"[" * 999 + b"]" * 999 + b', "a": 1}', (1, None, None)),
    (b'{"other": ' + b"[" * 1_000 + b"]" * 1_000 + b', "a": 1}', NO_OBJECT),
    (b'{"n": ' + b'{"x": ' * 100_000 + b"1" + b"}" * 100_001, NO_OBJECT),
]
CSV_VALUES: list[tuple[bytes | None, Any]] = [
    (b"1,x", (1, "x")),
    (b",", (None, None)),
    (b'1,"say ""x"", y"', (1, 'say "x", y')),
    (None, "value is null"),
    (b"", "value is empty"),
    (b"1", OTHER_COLUMNS),
    (b"1,x,y", OTHER_COLUMNS),
    (b"one,x", f"{CSV_MALFORMED}: column 'a' holds no INT"),
    (b"1" + b"," * 20_479, OTHER_COLUMNS),
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
    (b'{"p":1e99999999F99', HUGE),
    (b'{"s": "x", "p" : -1e99999999_', HUGE),
    (b'{"s": ["x",1e99999999x]}', HUGE),
    (b'{"p": "1e9,999,999,9"}', HUGE),
    (b'{"p": 1, "s": "urn:uuid:1e234567-89ab, 1e55555x"}', (Decimal("1.00"), "urn:uuid:1e234567-89ab, 1e55555x")),
]
DECIMAL_CSV_VALUES: list[tuple[bytes | None, Any]] = [
    (b"1.5e2|a,b", (Decimal("150.00"), "a,b")),
    (b"1e5000000|a", HUGE),
    (b'"1e5000000"|a', HUGE),
    (b"1e9,999,999,9|a", HUGE),
    (b"1|a|b", "value has more than 2 CSV columns"),
]


def decoding(stream: StreamConfig) -> RecordDecoder:
    return stream.decoder(stream.fields(), "UTC")


def decoded(spark: SparkSession, stream: StreamConfig, values: list[bytes | None], *columns: str) -> list[Any]:
    rows = [(b"k", value, "t", 0, offset, None, 0, None) for offset, value in enumerate(values)]
    decoder = decoding(stream)
    frame = decoder.decode(spark.createDataFrame(rows, RECORD_DDL))
    found = frame.orderBy("_offset").select(ERROR, *columns, decoder.reason_number().alias("number")).collect()
    for row in found:
        # Whatever the reason is, it has its place among those that are counted.
        assert row[ERROR] == (decoder.reasons[row.number - 1].text if row.number else None)
    return [row[:-1] for row in found]


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


def test_the_first_column_at_fault_is_named_and_only_as_many_as_are_planned_for(spark: SparkSession) -> None:
    schema = ", ".join(f"`c {i}` INT" for i in range(250))
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": schema})
    last = NAMED_COLUMNS_MAX - 1
    beyond = [f'{{"c {place}": "x"}}'.encode() for place in (last, last + 1)]
    found = decoded(spark, stream, [b'{"c 7": "x", "c 3": "y"}', *beyond])
    assert [reason for (reason,) in found] == [
        f"{MALFORMED}: column 'c 3' holds no INT",
        f"{MALFORMED}: column 'c {last}' holds no INT",
        MALFORMED,
    ]
    reasons = decoding(stream).reasons
    assert len({reason.text for reason in reasons}) == len(reasons) < 210
    assert {reason.kind for reason in reasons if reason.column == "c 3"} == {MALFORMED}


def test_a_record_of_csv_has_as_many_columns_as_the_limit_and_no_more(spark: SparkSession) -> None:
    stream = StreamConfig.model_validate({"topic": "t", "format": "csv", "schema": "a INT"})
    values = [b"7" + b"," * (columns - 1) for columns in (_COLUMNS_MAX, _COLUMNS_MAX + 1)]
    (within,), (beyond,) = decoded(spark, stream, values)
    assert within.endswith("it has fewer or more columns than 1")
    assert beyond == f"value has more than {_COLUMNS_MAX} CSV columns"


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


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_the_example_of_a_stream_is_a_record_of_it(spark: SparkSession, kind: str) -> None:
    types = "TINYINT SMALLINT INT BIGINT FLOAT DOUBLE DECIMAL(20,2) BOOLEAN STRING DATE TIMESTAMP TIMESTAMP_NTZ BINARY"
    schema = ", ".join(f"c{place} {name}" for place, name in enumerate(types.split()))
    if kind == "json":
        schema += ", n STRUCT<x: INT>, l ARRAY<INT>"
    else:
        schema = schema.replace(", c12 BINARY", "")
    stream = StreamConfig.model_validate({"topic": "t", "format": kind, "schema": schema})
    decoder = stream.decoder(stream.fields(), "UTC")
    frame = spark.createDataFrame([(None, decoder.example(), "t", 0, 0, None, 0, None)], RECORD_DDL)
    (row,) = decoder.decode(frame).collect()
    assert row[ERROR] is None
    assert (row.c2, row.c5, row.c6, row.c7, row.c8, row.c9) == (1, 1.0, Decimal("1.00"), True, "1", None)


def test_what_is_checked_of_a_text_is_not_within_the_parser(spark: SparkSession) -> None:
    stream = StreamConfig(topic="t", format="json", schema="a INT")
    frame = decoding(stream).decode(spark.createDataFrame([], RECORD_DDL)).select("a", ERROR)
    plan = frame._jdf.queryExecution().optimizedPlan().toString()
    parsing = [line for line in plan.splitlines() if "from_json(" in line]
    assert len(parsing) == 2
    assert not any("isValid" in line for line in parsing)
    assert "isValid" in plan
