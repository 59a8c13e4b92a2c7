"""Functions of dates and timestamps."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expressions.expression import Expression


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("year(n)", "not a date or timestamp"),
        ("hour(n)", "not a date or timestamp"),
        ("date_format(ts, n)", "argument 2 of date_format is INT, not a string"),
        ("date_format(ts, concat('YY', 'YY'))", "has no letter Y"),
        ("to_date(s, 'YYYY')", "has no letter Y"),
        ("to_timestamp(s, 'E')", "to read with has no letter E"),
        ("to_timestamp(elt(n, raw, raw), 'yyyy')", "CAST it to STRING or TIMESTAMP"),
        ("from_utc_timestamp(ts, 'Mars/Olympus')", "unknown time zone given to"),
        ("to_utc_timestamp(ts, 'pst')", "unknown time zone given to"),
        ("convert_timezone('UTC', '+19:00', ntz)", "unknown time zone given to"),
        ("date_add(day, big)", "is BIGINT, not an INT"),
        ("date_sub(day, '5.0')", "is STRING, not an INT"),
        ("date_add(day, s)", "is STRING, not an INT"),
        ("to_timestamp(n, 'yyyy')", "reads no INT with a pattern"),
        ("to_date(tags)", "not a value that is read as a time"),
        ("unix_timestamp()", "takes 1 to 2 arguments, not 0"),
        ("try_to_timestamp(place)", "not a value that is read as a time"),
        ("timestamp_seconds(s)", "not a number"),
        ("make_timestamp(1, 2, 3, 4, 5, 6, 'Europe')", "unknown time zone given to"),
    ],
)
def test_calls_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("add_months(day, 1)", pa.date32()),
        ("date_trunc('DAY', ntz)", pa.timestamp("us", tz="UTC")),
        ("to_timestamp_ntz(s)", pa.timestamp("us")),
        ("unix_timestamp(s)", pa.int64()),
        ("months_between(day, ts)", pa.float64()),
        ("make_timestamp_ntz(2024, 1, 1, 0, 0, 0)", pa.timestamp("us")),
        ("from_utc_timestamp(s, '+01:00')", pa.timestamp("us", tz="UTC")),
    ],
)
def test_types_of_results(text: str, result: pa.DataType | None, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).type == result


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("add_months(day, 1)", "try_add(add_months(day, 1), 0)"),
        ("to_timestamp(s)", "try_add(to_timestamp(s), INTERVAL '0' SECOND)"),
        (
            "make_timestamp(n, 1, 1, 1, 1, s)",
            "try_add(make_timestamp(n, 1, 1, 1, 1, left(s, 20000)), INTERVAL '0' SECOND)",
        ),
        ("hour(day)", "hour(TRY_CAST(day AS TIMESTAMP))"),
        ("hour(ntz)", "hour(ntz)"),
        ("date_add(day, ' 5 ')", "date_add(day, ' 5 ')"),
        ("to_date(s, NULL)", "CAST(try_add(to_timestamp(s, NULL), INTERVAL '0' SECOND) AS DATE)"),
        ("to_date(n, 'y')", "CAST(try_add(to_timestamp(CAST(n AS STRING), 'y'), INTERVAL '0' SECOND) AS DATE)"),
        ("to_utc_timestamp(ts, s)", "try_add(to_utc_timestamp(ts, s), INTERVAL '0' SECOND)"),
        ("to_timestamp(day)", "try_add(to_timestamp(TRY_CAST(day AS TIMESTAMP)), INTERVAL '0' SECOND)"),
        ("to_timestamp_ntz(ts)", "try_add(to_timestamp_ntz(TRY_CAST(ts AS TIMESTAMP_NTZ)), INTERVAL '0' SECOND)"),
        ("to_timestamp(ntz, 'yyyy')", "try_add(to_timestamp(ntz, 'yyyy'), INTERVAL '0' SECOND)"),
        ("unix_timestamp(ntz)", "unix_timestamp(ntz)"),
        ("unix_timestamp(day)", "unix_timestamp(TRY_CAST(day AS TIMESTAMP))"),
        ("to_date(s)", "to_date(s)"),
        ("to_date(s, 'yyyy')", "CAST(try_add(to_timestamp(s, 'yyyy'), INTERVAL '0' SECOND) AS DATE)"),
        ("to_char(ts, 'yyyy')", "date_format(ts, 'yyyy')"),
        ("date_format(ts, 'yyyy')", "date_format(ts, 'yyyy')"),
        ("date_format(day, 'yyyy')", "date_format(TRY_CAST(day AS TIMESTAMP), 'yyyy')"),
        ("date_trunc('DAY', ntz)", "try_add(date_trunc('DAY', TRY_CAST(ntz AS TIMESTAMP)), INTERVAL '0' SECOND)"),
        (
            "unix_timestamp(s)",
            "unix_timestamp(try_add(to_timestamp(s, 'yyyy-MM-dd HH:mm:ss'), INTERVAL '0' SECOND))",
        ),
    ],
)
def test_what_can_throw_is_caught(text: str, sql: str, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).sql == sql


def test_calls_that_are_caught_nest_without_growing(expression_of: Callable[[str], Expression]) -> None:
    text = "day"
    for _ in range(40):
        text = f"add_months({text}, 1)"
    assert len(expression_of(text).sql) < 40 * len("try_add(add_months(, 1), 0)") + len("day") + 1
