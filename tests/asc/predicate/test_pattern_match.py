"""LIKE and RLIKE: the text that Spark gets, and which patterns are refused."""

from __future__ import annotations

import pytest

from asc.errors import PredicateError
from asc.predicate.limits import Limits
from asc.predicate.parser import parse
from asc.predicate.typer import Typer
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
    ],
)
def test_text(text: str, sql: str) -> None:
    assert typed(text) == sql


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("s LIKE s", "a pattern must be a constant string"),
        ("xs LIKE 'a'", "patterns match strings"),
        ("s RLIKE '(a+)+'", "regular expression"),
        ("s LIKE 'a' ESCAPE 'xx'", "one character"),
        ("s LIKE 'a\\\\b'", "after the escape"),
    ],
)
def test_refusals(text: str, part: str) -> None:
    with pytest.raises(PredicateError, match=part):
        typed(text)
