"""Functions that take a regular expression."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expressions.expression import Expression


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("rlike(s, t)", "must be a constant string"),
        ("rlike(s, '(a+)+$')", "a repeated group"),
        ("regexp_extract(s, '(a)', n)", "must be a constant integer"),
        ("regexp_extract('1a', 'a')", "takes group 1: the regular expression has 0"),
        ("regexp_instr(s, '(a)', n)", "must be a constant integer"),
        ("regexp_replace(s, 'x.*y', '')", "read the text again"),
        ("regexp_replace(s, 'a', t)", "must be a constant string"),
        ("regexp_replace(s, 'a', '$1')", "the groups $0..$9"),
        ("regexp_replace(s, 'a', 'x$')", "no other $"),
        ("regexp_replace(s, 'a', '\\\\\\\\')", "no other $ or"),
        ("regexp_replace(s, 'a', 'b', 0)", "position"),
        ("split(s, t)", "must be a constant string"),
        ("split(s, ',', n)", "limit"),
    ],
)
def test_calls_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("split(s, ',')", pa.list_(pa.string())),
        ("split(s, ',')[0]", pa.string()),
        ("regexp_extract(s, '(a)(b)', 2)", pa.string()),
        ("regexp_extract(s, 'a', 0)", pa.string()),
        ("regexp_count(s, 'a')", pa.int32()),
        ("regexp_extract_all(s, '(a)')", pa.list_(pa.string())),
        ("regexp_replace(s, '(a)b', '$1-$0')", pa.string()),
    ],
)
def test_types_of_results(text: str, result: pa.DataType | None, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).type == result


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("rlike(s, '[a-z]+b')", "rlike(s, '[a-z]b')"),
        ("regexp_replace(s, '\\\\w+y', '$0')", "regexp_replace(s, '(?:\\\\G|(?<!\\\\w))\\\\w+y', '$0')"),
        ("regexp_replace(s, '[^a]+a', '')", "regexp_replace(s, '(?<![^a])(?![\\\\x{dc00}-\\\\x{dfff}])[^a]+a', '')"),
        ("regexp_substr(s, 'a+b')", "regexp_substr(s, '(?<!a)a+b')"),
        (
            "regexp_substr(s, 'ab*c.*d')",
            "nullif(regexp_extract(s, '(?<!.)(?![\\\\x{dc00}-\\\\x{dfff}])(?>.*?(?=ab*c))((?>ab*c).*d)', 1), '')",
        ),
        ("regexp_extract(s, '(a)')", "regexp_extract(s, '(a)', 1)"),
        ("regexp_extract(s, 'x(ab)+y', 0)", "regexp_extract(s, 'x(ab)+y', 0)"),
        ("regexp_instr(s, NULL)", "regexp_instr(s, NULL)"),
        ("regexp_extract(s, 'a', NULL)", "regexp_extract(s, 'a', NULL)"),
        ("regexp_replace(s, 'a', NULL)", "regexp_replace(s, 'a', NULL)"),
        ("regexp_instr(s, 'a', 9)", "regexp_instr(s, 'a', 9)"),
        # Spark throws for a group that is not there, where it finds a match.
        ("regexp_extract(s, '[(](?:b)')", "CASE WHEN NOT (s RLIKE '[(](?:b)') THEN '' END"),
        ("regexp_extract(s, '(a)', -1)", "CASE WHEN NOT (s RLIKE '(a)') THEN '' END"),
        ("regexp_extract_all(s, 'a', 1)", "CASE WHEN NOT (s RLIKE 'a') THEN CAST(array() AS ARRAY<STRING>) END"),
    ],
)
def test_what_spark_is_given(text: str, sql: str, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).sql == sql
