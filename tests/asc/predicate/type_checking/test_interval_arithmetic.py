"""Intervals in sums, products and calls: the text that Spark gets, its type, and what is refused."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.errors import PredicateError
from asc.predicate.expressions.expression import Expression
from asc.predicate.limits import Limits
from asc.predicate.syntax.interval_type import CALENDAR, DAY_TIME, DAYS, YEAR_MONTH, interval_type
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.typer import Typer
from asc.schema import Schema

SCHEMA = Schema.from_ddl("n INT, d DOUBLE, s STRING, flag BOOLEAN, day DATE, ts TIMESTAMP")


def typed(text: str) -> Expression:
    node, source = parse(text, Limits(), "UTC")
    return Typer(source, SCHEMA).of(node)


@pytest.mark.parametrize(
    ("text", "sql", "data_type"),
    [
        (
            "INTERVAL 1 DAY - INTERVAL 1 HOUR",
            "try_subtract(INTERVAL '1' DAY, INTERVAL '1' HOUR)",
            interval_type("DAY", "HOUR"),
        ),
        ("INTERVAL 1 DAY * d", "try_multiply(INTERVAL '1' DAY, d)", DAY_TIME),
        ("s * INTERVAL 1 MONTH", "try_multiply(s, INTERVAL '1' MONTH)", YEAR_MONTH),
        ("(ts - ts) / n", "try_divide(try_subtract(ts, ts), n)", DAY_TIME),
        ("(ts - ts) DIV INTERVAL 1 HOUR", "try_subtract(ts, ts) DIV INTERVAL '1' HOUR", pa.int64()),
        ("try_add(INTERVAL 1 DAY, day - day)", "try_add(INTERVAL '1' DAY, try_subtract(day, day))", DAYS),
        ("try_multiply(n, day - day)", "try_multiply(n, try_subtract(day, day))", DAY_TIME),
        ("INTERVAL 1 DAY + NULL", "try_add(INTERVAL '1' DAY, NULL)", DAYS),
        ("make_interval(n) + make_interval(1)", "make_interval(n) + make_interval(1)", CALENDAR),
        ("make_interval(n) * 2", "make_interval(n) * 2", CALENDAR),
        ("try_add(make_interval(n), make_interval(1))", "try_add(make_interval(n), make_interval(1))", CALENDAR),
        ("- INTERVAL 1 DAY", "- INTERVAL '1' DAY", DAYS),
        ("-(day - day)", "try_subtract(INTERVAL '0' DAY, try_subtract(day, day))", DAYS),
        ("negative(day - day)", "try_subtract(INTERVAL '0' DAY, try_subtract(day, day))", DAYS),
        ("- make_interval(n)", "- make_interval(n)", CALENDAR),
        ("+ (day - day)", "try_subtract(day, day)", DAYS),
        ("abs(day - day)", "try_add(abs(try_subtract(day, day)), INTERVAL '0' DAY)", DAYS),
        ("sign(day - day)", "sign(try_subtract(day, day))", pa.float64()),
        ("width_bucket(day - day, INTERVAL 0 DAY, INTERVAL 9 HOURS, n)", None, pa.int64()),
        ("coalesce(INTERVAL 1 DAY, INTERVAL 1 HOUR)", None, interval_type("DAY", "HOUR")),
        ("CAST(n AS INTERVAL YEAR)", "TRY_CAST(n AS INTERVAL YEAR)", interval_type("YEAR", "YEAR")),
        ("CAST(s AS INTERVAL)", "CAST(s AS INTERVAL)", CALENDAR),
        ("CAST(INTERVAL 1 DAY AS TINYINT)", "TRY_CAST(INTERVAL '1' DAY AS TINYINT)", pa.int8()),
        ("CAST(INTERVAL 127 YEARS AS TINYINT)", "TRY_CAST(INTERVAL '127' YEARS AS TINYINT)", pa.int8()),
        ("CAST(INTERVAL 1 DAY AS STRING)", "CAST(INTERVAL '1' DAY AS STRING)", pa.string()),
        ("CAST(INTERVAL 1 DAY AS INTERVAL HOUR)", "CAST(INTERVAL '1' DAY AS INTERVAL HOUR)", None),
    ],
)
def test_text_and_type(text: str, sql: str | None, data_type: pa.DataType | None) -> None:
    found = typed(text)
    assert found.type == (data_type or found.type)
    assert sql is None or found.sql == sql


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("INTERVAL 1 DAY + INTERVAL 1 MONTH", "INTERVAL DAY [+] INTERVAL MONTH"),
        ("INTERVAL 1 DAY + make_interval(n)", "INTERVAL DAY [+] INTERVAL:"),
        ("INTERVAL 1 DAY + 1", "INTERVAL DAY [+] INT"),
        ("INTERVAL 1 DAY * flag", "INTERVAL DAY [*] BOOLEAN"),
        ("INTERVAL 1 DAY * INTERVAL 1 DAY", "INTERVAL DAY [*] INTERVAL DAY"),
        ("2 / INTERVAL 1 DAY", "INT / INTERVAL DAY"),
        ("INTERVAL 1 DAY % 2", "INTERVAL DAY % INT"),
        ("INTERVAL 1 DAY DIV 2", "INTERVAL DAY div INT"),
        ("make_interval(n) DIV make_interval(1)", "INTERVAL div INTERVAL"),
        ("INTERVAL 1 DAY = INTERVAL 1 MONTH", "compared with"),
        ("make_interval(n) = make_interval(1)", "compared with"),
        ("make_interval(n) IN (make_interval(1))", "INTERVAL IN INTERVAL"),
        ("make_interval(n) LIKE 'x'", "patterns match strings"),
        ("greatest(make_interval(n), make_interval(1))", "a value that can be compared"),
        ("length(make_interval(n))", "not a string"),
        ("coalesce(make_interval(n), 'x')", "CAST them to one type"),
        ("abs(make_interval(n))", "extract a field of it"),
        ("abs(INTERVAL 1 DAY, 2)", "another number of arguments"),
        ("~ INTERVAL 1 DAY", "use integers"),
        ("width_bucket(INTERVAL 1 DAY, INTERVAL 1 MONTH, INTERVAL 1 DAY, 2)", "give it intervals alike"),
        ("width_bucket(INTERVAL 1 DAY, INTERVAL 1 DAY, INTERVAL 1 DAY, flag)", "as a number of buckets"),
        ("CAST(d AS INTERVAL DAY)", "Spark has no such cast"),
        ("CAST(INTERVAL 1 DAY AS DOUBLE)", "Spark has no such cast"),
        ("CAST(INTERVAL 1 DAY AS INTERVAL MONTH)", "Spark has no such cast"),
        ("CAST(INTERVAL 1 DAY AS INTERVAL)", "Spark has no such cast"),
        ("CAST(make_interval(n) AS INT)", "Spark has no such cast"),
        ("CAST(n AS INTERVAL)", "Spark has no such cast"),
        ("CAST(INTERVAL '9:06:08' HOUR TO SECOND AS SMALLINT)", "it does not fit"),
        ("CAST(INTERVAL 128 YEARS AS TINYINT)", "it does not fit"),
        ("CAST(INTERVAL 10 YEARS AS DECIMAL(2, 1))", "it does not fit"),
    ],
)
def test_refusals(text: str, part: str) -> None:
    with pytest.raises(PredicateError, match=part):
        typed(text)
