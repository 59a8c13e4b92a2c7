"""LIKE and RLIKE: the text that Spark gets, and which patterns are refused."""

from __future__ import annotations

import pytest

from asc.errors import PredicateError
from asc.predicate.limits import Limits
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.typer import Typer
from asc.schema import Schema

SCHEMA = Schema.from_ddl("a INT, s STRING, raw BINARY, xs ARRAY<INT>")


def typed(text: str) -> str:
    node, source = parse(text, Limits(), "UTC")
    return Typer(source, SCHEMA).of(node).sql


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("s like 'a%%b'", "s LIKE 'a%b'"),
        ("s LIKE 'a/%' ESCAPE '/'", "s LIKE 'a/%' ESCAPE '/'"),
        ("s LIKE '%a%b%'", r"s RLIKE '(?s)\\A(?>.*?a)(?>.*?b)'"),
        ("s REGEXP 'a[bc]'", "s RLIKE 'a[bc]'"),
        ("a LIKE '1%'", "a LIKE '1%'"),
        ("s LIKE NULL", "s LIKE NULL"),
        ("s LIKE concat('a', NULL)", "s LIKE concat('a', NULL)"),
        ("s LIKE lower('A') || '%'", "s LIKE 'a%'"),
        ("s ILIKE concat('A', '%')", "lower(s) LIKE 'a%'"),
        ("s RLIKE concat('a', '[bc]')", "s RLIKE 'a[bc]'"),
    ],
)
def test_text(text: str, sql: str) -> None:
    assert typed(text) == sql


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("s RLIKE s", "what RLIKE matches with must be a constant string"),
        ("s LIKE xs", "patterns are strings"),
        ("s LIKE s ESCAPE '%'", "another character than % and _"),
        ("exists(xs, x -> s LIKE x)", "a pattern there must be a constant string"),
        (" OR ".join(["s LIKE s || 'a'"] * 6), "more than 500 steps"),
        ("xs LIKE 'a'", "patterns match strings"),
        ("s RLIKE '(a+)+'", "regular expression"),
        ("s LIKE 'a' ESCAPE 'xx'", "one character"),
        ("s LIKE 'a\\\\b'", "after the escape"),
    ],
)
def test_refusals(text: str, part: str) -> None:
    with pytest.raises(PredicateError, match=part):
        typed(text)
