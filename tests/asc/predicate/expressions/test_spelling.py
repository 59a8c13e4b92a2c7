"""Trees as SQL again (that Spark parses them to the same is tested with Spark's parser)."""

from __future__ import annotations

import pytest

from asc.predicate import Limits, normalise
from asc.predicate.expressions.spelling import read_as
from asc.schema import Schema


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a = 1 OR b AND NOT c", "a = 1 OR b AND NOT c"),
        ("(a = 1 OR b) AND NOT (c AND d)", "(a = 1 OR b) AND NOT (c AND d)"),
        ("a = 1 OR (b OR c)", "a = 1 OR (b OR c)"),
        ("a - (b - c) * 2 > 1", "a - (b - c) * 2 > 1"),
        ("(a = b) = (c = d)", "a = b = (c = d)"),
        ("(a IN (1)) = b", "(a IN (1)) = b"),
        ("a <> 1", "NOT a = 1"),
        ("Upper(s) IN ('a', 'b')", "Upper(s) IN ('a', 'b')"),
        ("-n % 2 = 1", "- n % 2 = 1"),
        ("-(5) = n AND - -n = -5", "- (5) = n AND - - n = -5"),
        ("s LIKE 'a|%' ESCAPE '|'", "s LIKE 'a|%' ESCAPE '|'"),
        ("CASE n WHEN 1 THEN b ELSE c END", "CASE n WHEN 1 THEN b ELSE c END"),
        ("CAST(s AS INT) IS NOT NULL", "CAST(s AS INT) IS NOT NULL"),
        ("a BETWEEN (b AND c) AND 5", "a BETWEEN (b AND c) AND 5"),
    ],
)
def test_parentheses_stand_where_the_tree_needs_them(text: str, read: str) -> None:
    assert read_as(text, Limits(), "UTC") == read


def test_it_means_the_same_to_the_front_end() -> None:
    schema = Schema.from_ddl("a INT, b BOOLEAN, s STRING")
    text = "a > 1 AND (s LIKE 'x%' OR NOT b) AND a NOT BETWEEN 5 AND 7"
    assert normalise(read_as(text, Limits(), "UTC"), schema).conjuncts == normalise(text, schema).conjuncts
