"""Intervals, dates and timestamps in sums: the text that Spark gets, its type, and what is refused."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.errors import PredicateError
from asc.predicate.expression import Expression
from asc.predicate.interval_type import DAY_TIME, DAYS
from asc.predicate.limits import Limits
from asc.predicate.literal import TIMESTAMP, TIMESTAMP_NTZ
from asc.predicate.parser import parse
from asc.predicate.typer import Typer
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
        ("day - day", "try_subtract(day, day)", DAY_TIME),
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
        ("extract(DAY FROM ts - ts)", "extract(DAY FROM try_subtract(ts, ts))", None),
        (
            "dateadd(DAY, 1, ntz)",
            "timestampadd(DAY, 1, if(year(ntz) BETWEEN -140000 AND 140000, ntz, NULL))",
            TIMESTAMP_NTZ,
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
        ("INTERVAL 1 DAY * 2", "INTERVAL [*] INT"),
        ("day + (day - day)", "add a constant one to a date"),
        ("timestampadd(DAY, n, ts)", "a constant integer"),
        ("timestampadd(DAY, 100001, ts)", "a constant integer"),
        ("timestampadd(DAY, 1, coalesce(ts, ts + INTERVAL 1 DAY))", "give it columns"),
        ("timestampdiff(DAY, s, ts)", "CAST it to DATE or TIMESTAMP"),
        ("extract(CENTURY FROM ts)", "YEAR, MONTH"),
        ("extract(YEAR FROM n)", "CAST it"),
        ("date_part(s, ts)", "name a field"),
        ("date_part('YEAR')", "takes 2 arguments"),
        ("ts - ts > 5", "compare it with an INTERVAL"),
        ("ts - ts > '1 day'", "compare it with an INTERVAL"),
        ("- (ts - ts) > INTERVAL 1 DAY", "compare it"),
        ("CAST(ts - ts AS STRING) = 'x'", "Spark has no such cast"),
        ("(ts - ts) LIKE 'x'", "patterns match strings"),
    ],
)
def test_refusals(text: str, part: str) -> None:
    with pytest.raises(PredicateError, match=part):
        typed(text)
