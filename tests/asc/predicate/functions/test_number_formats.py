"""Formats of numbers, instants and binary."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expressions.expression import Expression


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("to_char(n, '')", "must be a constant such as '$99,990.99S'"),
        ("to_char(n, t)", "must be a constant such as"),
        ("to_char(n, 'abc')", "must be a constant such as"),
        ("to_char(n, '9 9')", "must be a constant such as"),
        ("to_char(n, '9,,9')", "must be a constant such as"),
        ("to_char(n, ',9')", "must be a constant such as"),
        ("to_char(n, 'S9S')", "must be a constant such as"),
        ("to_char(n, '$9$')", "must be a constant such as"),
        ("to_char(s, 'yyyy')", "must be a constant such as"),
        ("to_char(raw, 'rot13')", "one of the formats base64"),
        ("to_char(day, 'YYYY')", "no letter Y"),
        ("to_char(n, t)", "given to to_char must be a constant"),
        ("to_char(tags, '9')", "not a number, date, timestamp or binary"),
        ("try_to_number(s, '.9')", "must be a constant such as"),
        (f"try_to_number(s, '{'9' * 39}')", "of at most 38 digits"),
        ("to_number(s, t)", "must be a constant such as"),
    ],
)
def test_formats_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


@pytest.mark.parametrize(
    ("text", "sql", "result"),
    [
        ("to_char(n, 'S$9,990.00')", "CAST(try_to_binary(to_char(n, 'S$9,990.00'), 'utf-8') AS STRING)", pa.string()),
        (
            "to_varchar(s, '99PR')",
            "CAST(try_to_binary(to_varchar(CAST(left(s, 20000) AS DECIMAL(38,18)), '99PR'), 'utf-8') AS STRING)",
            pa.string(),
        ),
        ("to_char(day, 'yyyy')", "date_format(TRY_CAST(day AS TIMESTAMP), 'yyyy')", pa.string()),
        ("to_char(raw, 'HEX')", "CAST(try_to_binary(to_char(raw, 'HEX'), 'utf-8') AS STRING)", pa.string()),
        (
            "to_number(s, '99g990D90')",
            "CAST(CAST(try_to_binary(CAST(try_to_number(left(s, 1000), '99g990D90') AS STRING), 'utf-8') AS STRING)"
            " AS DECIMAL(7,2))",
            pa.decimal128(7, 2),
        ),
    ],
)
def test_types_and_guards(text: str, sql: str, result: pa.DataType, expression_of: Callable[[str], Expression]) -> None:
    found = expression_of(text)
    assert (found.sql, found.type) == (sql, result)
