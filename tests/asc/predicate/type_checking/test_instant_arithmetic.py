"""Intervals, dates and timestamps in sums: the text that Spark gets, its type, and what is refused."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.errors import PredicateError
from asc.predicate.expressions.expression import Expression
from asc.predicate.limits import Limits
from asc.predicate.syntax.interval_type import DAY_TIME, DAYS
from asc.predicate.syntax.literal import TIMESTAMP, TIMESTAMP_NTZ
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.typer import Typer
from asc.schema import Schema

SCHEMA = Schema.from_ddl(
    "n INT, big BIGINT, s STRING, day DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ, place STRUCT<t: DATE>"
)


def typed(text: str) -> Expression:
    node, source = parse(text, Limits(), "UTC")
    return Typer(source, SCHEMA).of(node)


@pytest.mark.parametrize(
    ("text", "sql", "data_type"),
    [
        ("ts + INTERVAL 1 HOUR", "try_add(ts, INTERVAL '1' HOUR)", TIMESTAMP),
        ("INTERVAL 1 HOUR + ts", "try_add(INTERVAL '1' HOUR, ts)", TIMESTAMP),
        ("ntz - INTERVAL 1 MONTH", "try_subtract(ntz, INTERVAL '1' MONTH)", TIMESTAMP_NTZ),
        ("day + INTERVAL 1 DAY", "try_add(day, INTERVAL '1' DAY)", pa.date32()),
        ("day + INTERVAL 1 MONTH", "try_add(day, INTERVAL '1' MONTH)", pa.date32()),
        ("day - INTERVAL 1 HOUR", "try_subtract(TRY_CAST(day AS TIMESTAMP), INTERVAL '1' HOUR)", TIMESTAMP),
        ("DATE '2013-07-04' + INTERVAL 1 HOUR", "try_add(DATE '2013-07-04', INTERVAL '1' HOUR)", TIMESTAMP),
        ("ts - ntz", "try_subtract(ts, TRY_CAST(ntz AS TIMESTAMP))", DAY_TIME),
        ("day - day", "try_subtract(day, day)", DAYS),
        ("day + (- INTERVAL 1 DAY)", "try_add(day, - INTERVAL '1' DAY)", pa.date32()),
        ("ts - ts", "try_subtract(ts, ts)", DAY_TIME),
        ("try_add(day, INTERVAL 1 MONTH)", "try_add(day, INTERVAL '1' MONTH)", pa.date32()),
        ("try_subtract(day, 1)", "day - 1", pa.date32()),
        ("day + n", "day + n", pa.date32()),
        ("day - NULL", "day - NULL", pa.date32()),
        ("s - INTERVAL 1 DAY", "try_subtract(s, INTERVAL '1' DAY)", pa.string()),
        ("1 + day", "1 + day", pa.date32()),
        ("extract(year FROM day)", "extract(YEAR FROM day)", pa.int32()),
        ("extract(MINUTE FROM s)", "extract(MINUTE FROM s)", pa.int32()),
        ("date_part('SECS', ts)", "extract(SECS FROM ts)", pa.decimal128(8, 6)),
        ("extract(HOUR FROM day)", "extract(HOUR FROM TRY_CAST(day AS TIMESTAMP))", pa.int32()),
        ("extract(DAY FROM ts - ts)", "extract(DAY FROM try_subtract(ts, ts))", pa.int32()),
        ("day - (day - day)", "try_subtract(day, try_subtract(day, day))", pa.date32()),
        ("day + (ts - ts)", "try_add(TRY_CAST(day AS TIMESTAMP), try_subtract(ts, ts))", TIMESTAMP),
        ("day - CAST(s AS INTERVAL)", "try_add(day - CAST(s AS INTERVAL), 0)", pa.date32()),
        ("ts + CAST(s AS INTERVAL)", "try_add(ts, CAST(s AS INTERVAL))", TIMESTAMP),
        ("s + CAST(s AS INTERVAL)", "try_add(s, CAST(s AS INTERVAL))", pa.string()),
        ("INTERVAL 1 HOUR + s", "try_add(INTERVAL '1' HOUR, s)", pa.string()),
        ("s - day", "try_subtract(s, day)", DAYS),
        ("extract(hrs FROM INTERVAL 1 HOUR)", "extract(HRS FROM INTERVAL '1' HOUR)", pa.int8()),
        ("date_part('SECOND', make_interval(n))", "extract(SECOND FROM make_interval(n))", pa.decimal128(8, 6)),
        ("date_part(NULL, ts)", "date_part(NULL, ts)", pa.float64()),
        ("dateadd(DAY, 1, ntz)", "try_add(timestampadd(DAY, 1, ntz), INTERVAL '0' SECOND)", TIMESTAMP_NTZ),
        (
            "timestampadd(MONTH, big, day)",
            "try_add(timestampadd(MONTH, big, TRY_CAST(day AS TIMESTAMP)), INTERVAL '0' SECOND)",
            TIMESTAMP,
        ),
        ("timestampdiff(HOUR, ntz, s)", "timestampdiff(HOUR, TRY_CAST(ntz AS TIMESTAMP), s)", pa.int64()),
        (
            "timestampdiff(MICROSECOND, ts, s)",
            "CAST(CAST(try_to_binary(CAST(timestampdiff(MICROSECOND, ts, s) AS STRING), 'utf-8') AS STRING) AS BIGINT)",
            pa.int64(),
        ),
        ("timestampdiff(DAY, DATE '2013-01-01', DATE '2013-01-02')", None, pa.int64()),
    ],
)
def test_text_and_type(text: str, sql: str | None, data_type: pa.DataType | None) -> None:
    found = typed(text)
    assert found.type == data_type
    assert found.sql == (sql or text)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("ts + 1", "TIMESTAMP [+] INT"),
        ("day + big", "whole days"),
        ("1 - day", "INT - DATE"),
        ("n + INTERVAL 1 DAY", "INT [+] INTERVAL"),
        ("s + INTERVAL 1 MONTH", "STRING [+] INTERVAL"),
        ("extract(CENTURY FROM ts)", "YEAR, MONTH"),
        ("extract(YEAR FROM n)", "CAST it"),
        ("date_part(s, ts)", "name a field"),
        ("date_part('YEAR')", "takes 2 arguments"),
        ("timestampadd(DAY, ts, ts)", "use an integer"),
        ("timestampadd(DAY, 1, n)", "CAST it to DATE or TIMESTAMP"),
        ("timestampdiff(DAY, n, ts)", "CAST it to DATE or TIMESTAMP"),
        ("extract(HOUR FROM day - day)", "it has DAY"),
        ("extract(WEEK FROM make_interval(n))", "it has YEAR, MONTH"),
        ("INTERVAL 1 DAY - day", "INTERVAL DAY - DATE"),
        ("NULL + ts", "VOID [+] TIMESTAMP"),
        ("ts - ts > 5", "compare it with an INTERVAL"),
        ("ts - ts > '1 day'", "compare it with an INTERVAL"),
    ],
)
def test_refusals(text: str, part: str) -> None:
    with pytest.raises(PredicateError, match=part):
        typed(text)
