"""The types of casts, and intervals, as they are read."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.errors import PredicateError
from asc.predicate.limits import Limits
from asc.predicate.syntax.interval_type import CALENDAR, DAY_TIME, interval_type
from asc.predicate.syntax.parser import parse

MAP_OF_STRUCTS = pa.map_(pa.string(), pa.struct([("x", pa.int32()), ("y z", pa.int64())]))


@pytest.mark.parametrize(
    ("text", "data_type"),
    [
        ("CAST(a AS bigint)", pa.int64()),
        ("CAST(a AS DEC(5, 2))", pa.decimal128(5, 2)),
        ("CAST(a AS VARCHAR(5))", pa.string()),
        ("a::CHAR(3)", pa.string()),
        ("TRY_CAST(a AS timestamp_ntz)", pa.timestamp("us")),
        ("CAST(a AS INTERVAL)", CALENDAR),
        ("CAST(a AS interval Day to second)", DAY_TIME),
        ("a::INTERVAL", CALENDAR),
        ("a::INTERVAL YEAR", interval_type("YEAR", "YEAR")),
        ("CAST(a AS array<Array<INT>>)", pa.list_(pa.list_(pa.int32()))),
        ("a::MAP<STRING, STRUCT<x: INT, `y z` BIGINT>>", MAP_OF_STRUCTS),
    ],
)
def test_types(text: str, data_type: pa.DataType) -> None:
    assert parse(text, Limits(), "UTC")[0].value[0] == data_type


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("CAST(a AS INTERVAL SECOND TO DAY)", "from a larger to a smaller unit"),
        ("CAST(a AS INTERVAL DAY TO)", "expected"),
        ("CAST(a AS INTERVAL DAYS)", "expected"),
        ("CAST(a AS ARRAY<nonsense>)", "nonsense"),
        ("CAST(a AS ARRAY<INT)", "ARRAY<INT>"),
        ("CAST(a AS ARRAY<INT>= 1)", "ARRAY<INT>"),
        ("CAST(a AS MAP<INT>)", "expected"),
        ("CAST(a AS STRING COLLATE UNICODE)", "COLLATE name"),
        ("CAST(a AS VARCHAR)", r"expected \("),
        ("CAST(a AS DECIMAL(39, 0))", "1..38"),
        ("CAST(a AS nonsense)", "cast to unsupported type"),
    ],
)
def test_refusals(text: str, part: str) -> None:
    with pytest.raises(PredicateError, match=part):
        parse(text, Limits(), "UTC")


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("INTERVAL 1 DAY", "INTERVAL '1' DAY"),
        ("interval '1' day", "INTERVAL '1' DAY"),
        ("INTERVAL -'1' DAY", "INTERVAL '-1' DAY"),
        ("INTERVAL -'-1' DAY", "INTERVAL '1' DAY"),
        ("INTERVAL + 1 DAY - 2 HOURS", "INTERVAL '1' DAY '-2' HOURS"),
        ("INTERVAL '1 2' DAY TO HOUR", "INTERVAL '1 2' DAY TO HOUR"),
        ("INTERVAL '1 day 2 hours'", "INTERVAL '1' DAY '2' HOURS"),
    ],
)
def test_intervals(text: str, sql: str) -> None:
    node, _ = parse(text, Limits(), "UTC")
    assert (node.op, node.value.sql) == ("interval", sql)


@pytest.mark.parametrize("text", ["interval", "interval - 1", "interval * 2", "interval.x", "interval IS NULL"])
def test_columns_named_interval(text: str) -> None:
    node, _ = parse(text, Limits(), "UTC")
    while node.args:
        node = node.args[0]
    assert (node.op, node.value[0]) == ("column", "interval")
