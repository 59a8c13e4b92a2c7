"""Patterns of times: those of a record are bounded and caught."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from asc.predicate.expressions.expression import Expression

PATTERN = "if(length(s) <= 100, s, NULL)"


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("date_format(ts, 'yyyy')", "date_format(ts, 'yyyy')"),
        ("date_format(ts, concat('yy', 'yy'))", "date_format(ts, concat('yy', 'yy'))"),
        ("date_format(ts, NULL)", "date_format(ts, NULL)"),
        ("date_format(ts, s)", f"CAST(try_to_binary(date_format(ts, {PATTERN}), 'utf-8') AS STRING)"),
        ("to_char(ts, s)", f"CAST(try_to_binary(date_format(ts, {PATTERN}), 'utf-8') AS STRING)"),
        ("from_unixtime(n, s)", f"CAST(try_to_binary(from_unixtime(n, {PATTERN}), 'utf-8') AS STRING)"),
        ("to_timestamp(t, s)", f"try_add(to_timestamp(t, {PATTERN}), INTERVAL '0' SECOND)"),
        ("to_date(t, s)", f"CAST(try_add(to_timestamp(t, {PATTERN}), INTERVAL '0' SECOND) AS DATE)"),
        ("unix_timestamp(t, s)", f"unix_timestamp(try_add(to_timestamp(t, {PATTERN}), INTERVAL '0' SECOND))"),
    ],
)
def test_what_spark_is_given(text: str, sql: str, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).sql == sql


def test_what_patterns_of_the_record_make_is_bounded(trouble_of: Callable[[str], str]) -> None:
    assert "longer" in trouble_of("concat(" + ", ".join(["date_format(ts, s || 'a')"] * 7) + ")")
