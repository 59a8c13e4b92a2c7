"""Decoding and the outgoing records, on a real Spark session."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from broker.config.config import ConfigError, StreamConfig
from broker.formats.decode import ERROR, decode
from broker.formats.options import wrong_options
from broker.operators.routing import outgoing
from broker.stream.analyser import StreamAnalyser

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


def decoded(spark: SparkSession, stream: StreamConfig, values: list[bytes | None], *columns: str) -> list[Row]:
    rows = [(b"k", value, "t", 0, offset, None, 0, None) for offset, value in enumerate(values)]
    frame = decode(spark.createDataFrame(rows, RECORD_DDL), stream, "UTC")
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
    frame = decode(spark.createDataFrame(rows, RECORD_DDL), stream, "UTC").orderBy("_offset")
    plain, odd = frame.select("value", "topic", "_key", "_topic", "_partition", "_offset", "_headers").collect()
    assert tuple(plain) == (None, None, "k", "t", 0, 0, None)
    assert tuple(odd) == (5, "mine", None, "t", 3, 9, {"h": "2", "bad": None, "none": None})


def test_a_value_is_parsed_once(spark: SparkSession) -> None:
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": "a INT, b INT, c INT"})
    frame = decode(spark.createDataFrame([(b"k", b"{}", "t", 0, 0, None, 0, None)], RECORD_DDL), stream, "UTC")
    assert (
        outgoing(frame.selectExpr("*", _deliveries()), "d", "dead", LIMITS)
        ._jdf.queryExecution()
        .optimizedPlan()
        .toString()
        .count("from_json(")
        == 1
    )


LIMITS = {"one": 1_000_000, "two": 1_000_000, "dead": 1_000_000}


def test_what_is_too_large_for_its_topic_is_a_dead_letter_without_value(spark: SparkSession) -> None:
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": "a INT"})
    value = b'{"a": 1, "x": "' + b"x" * 2_000 + b'"}'
    rows = [
        (b"k", value, "t", 0, 0, None, 0, None),
        (b"k" * 70_000, b'{"a": 1}', "t", 0, 1, None, 0, None),
        (b"k", b'{"a": 0}', "t", 0, 2, None, 0, [("h", b"x" * 20_000)]),
        (b"k", b"{" + b"x" * 50_000, "t", 0, 3, None, 0, None),
    ]
    frame = decode(spark.createDataFrame(rows, RECORD_DDL), stream, "UTC").selectExpr("*", _deliveries())
    limits = {"one": 1_000, "two": 10_000, "dead": 30_000}
    found = [_plain(row) for row in outgoing(frame, "d", "dead", limits).collect()]
    said = "record for topic {} takes {} bytes with its headers, over the limit of {}"

    def dead(offset: int, key: bytes | None, topic: str, size: int) -> tuple[Any, ...]:
        error = said.format(topic, size, limits[topic]).encode()
        return ("dead", key, None, [("asc-error", error), ("asc-source", f"t-0-{offset}".encode())])

    assert found[0][:3] == ("dead", b"k", None)
    assert b"record for topic one takes " in dict(found[0][3])["asc-error"]
    assert found[1] == ("two", b"k", value, [("asc-query", b"r"), ("asc-source", b"t-0-0")])
    sizes = {record: len(record) for record in (rows[1][0], rows[3][1]) if record is not None}
    overhead = 150 + 10 + len("asc-source") + len("t-0-1")
    per_query = 10 + len("asc-query") + 1
    keyed = sizes[rows[1][0]] + len(b'{"a": 1}') + overhead
    assert found[2:4] == [
        dead(1, None, "one", keyed + 2 * per_query),
        dead(1, None, "two", keyed + per_query),
    ]
    reason = 10 + len("asc-error") + len(MALFORMED)
    assert found[4:] == [dead(3, b"k", "dead", 1 + sizes[rows[3][1]] + overhead + reason)]


def _deliveries() -> str:
    one, two = "struct('one' AS topic, array('p', 'q') AS queries)", "struct('two' AS topic, array('r') AS queries)"
    kind = "ARRAY<STRUCT<topic: STRING, queries: ARRAY<STRING>>>"
    return f"CAST(IF(a > 0, array({one}, {two}), array()) AS {kind}) AS d"


def test_outgoing_records(spark: SparkSession) -> None:
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": "a INT"})
    headers = [("h", b"\x00\xff"), ("n", None)]
    rows = [
        (b"\xff", b'{"a": 1}', "t", 0, 0, None, 0, headers),
        (None, b'{"a":  1}', "t", 0, 1, None, 0, None),
        (b"k", b'{"a": 0}', "t", 0, 2, None, 0, None),
        (b"k", None, "t", 1, 3, None, 0, headers),
    ]
    frame = decode(spark.createDataFrame(rows, RECORD_DDL), stream, "UTC")
    found = outgoing(frame.selectExpr("*", _deliveries()), "d", "dead", LIMITS).collect()
    queries = {"one": [("asc-query", b"p"), ("asc-query", b"q")], "two": [("asc-query", b"r")]}
    expected = [
        *[
            (topic, b"\xff", b'{"a": 1}', [*headers, *queries[topic], ("asc-source", b"t-0-0")])
            for topic in ("one", "two")
        ],
        *[(topic, None, b'{"a":  1}', [*queries[topic], ("asc-source", b"t-0-1")]) for topic in ("one", "two")],
        ("dead", b"k", None, [*headers, ("asc-error", b"value is null"), ("asc-source", b"t-1-3")]),
    ]
    assert [_plain(row) for row in found] == expected


def _plain(row: Row) -> tuple[Any, ...]:
    headers = [(h.key, None if h.value is None else bytes(h.value)) for h in row.headers]
    return row.topic, _bytes(row.key), _bytes(row.value), headers


def _bytes(value: bytearray | None) -> bytes | None:
    return None if value is None else bytes(value)


@pytest.mark.parametrize(
    ("record_format", "options", "said"),
    [
        (
            "json",
            {"dateFormat": "bbb"},
            "dateFormat .*'bbb': is no pattern that Spark reads by: Unknown pattern letter",
        ),
        ("json", {"timestampFormat": "yyyy-MM-dd'T"}, "Pattern ends with an incomplete string literal"),
        ("csv", {"timestampFormat": "YYYY"}, "options.timestampFormat .*'YYYY': is no pattern that Spark reads by$"),
        ("csv", {"timestampNTZFormat": "bbb"}, "Fail to recognize ''bbb'' pattern in the DateTimeFormatter[.]$"),
        ("json", {"timeZone": "Nowhere"}, "Spark cannot decode with them: .*The timezone: Nowhere is invalid"),
        ("json", {"allowComments": "maybe"}, 'Spark cannot decode with them: .*For input string: "maybe"'),
        ("csv", {"quote": "ab"}, "quote cannot be more than one character"),
        ("csv", {"sep": "\\x"}, "Unsupported special character for delimiter"),
        ("csv", {"unescapedQuoteHandling": "FOO"}, "No enum constant .*FOO"),
        ("csv", {"ignoreLeadingWhiteSpace": "maybe"}, "flag can be true or false"),
    ],
)
@pytest.mark.parametrize("schema", ["s STRING", "d DATE, t TIMESTAMP"])
def test_an_option_that_spark_cannot_decode_with_is_one_line_at_the_start(
    spark: SparkSession, record_format: str, options: dict[str, str], said: str, schema: str
) -> None:
    stream = StreamConfig.model_validate({"topic": "t", "format": record_format, "schema": schema, "options": options})
    with pytest.raises(ConfigError, match=said) as raised:
        StreamAnalyser(spark, stream, "UTC").check_decoding()
    assert "\n" not in str(raised.value)


def test_options_that_spark_decodes_with_pass(spark: SparkSession) -> None:
    options = {"dateFormat": "dd.MM.yyyy", "timestampFormat": "HH:mm dd/MM/yyyy[.SSS]", "timestampNTZFormat": "yyyy"}
    schema = "d DATE, t TIMESTAMP, n TIMESTAMP_NTZ"
    for more in ({"quote": "'", "sep": ";", "locale": "de-DE"}, {"quote": "", "comment": "#"}):
        model = {"topic": "t", "format": "csv", "schema": schema, "options": {**options, **more}}
        StreamAnalyser(spark, StreamConfig.model_validate(model), "UTC").check_decoding()


@pytest.mark.parametrize(
    ("options", "option", "said"),
    [
        ({"quote": ","}, "quote", "is the separator too"),
        ({"sep": ";", "comment": ";"}, "comment", "is the separator too"),
        ({"sep": '"'}, "sep", "is the quote too"),
        ({"sep": ""}, "sep", "at least one character"),
        ({"escape": "\n"}, "escape", "a line break ends the record"),
        ({"locale": "en_US!"}, "locale", "as en-US"),
        ({"dateFormat": " "}, "dateFormat", "as yyyy-MM-dd"),
    ],
)
def test_options_that_contradict_each_other_are_found_without_spark(
    options: dict[str, str], option: str, said: str
) -> None:
    ((found, _, remedy),) = wrong_options("csv", options)
    assert found == option
    assert said in remedy
