"""Typed expressions: the text that Spark gets, its type, and what is refused."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.errors import PredicateError
from asc.predicate.expressions.expression import Expression
from asc.predicate.limits import Limits
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.typer import _MAX_JOINED, Typer
from asc.schema import Schema

SCHEMA = Schema.from_ddl(
    "a INT, d DOUBLE, s STRING, c BOOLEAN, day DATE, ts TIMESTAMP, xs ARRAY<INT>, m MAP<STRING, INT>"
)


def typed(text: str) -> Expression:
    node, source = parse(text, Limits(), "UTC")
    return Typer(source, SCHEMA).of(node)


@pytest.mark.parametrize(
    ("text", "sql", "data_type"),
    [
        ("A+1*a", "a + (1 * a)", pa.int32()),
        ("a / 2", "a / 2", pa.float64()),
        ("-(a)", "- a", pa.int32()),
        ("a > 1 and C", "(a > 1) AND c", pa.bool_()),
        ("not a in (1,2)", "NOT (a IN (1, 2))", pa.bool_()),
        ("LOWER( s )", "lower(s)", pa.string()),
        ("s || 'x'", "s || 'x'", pa.string()),
        ("CAST(a AS string)", "CAST(a AS STRING)", pa.string()),
        ("xs[0]", "xs[0]", pa.int32()),
        ("m['k']", "m['k']", pa.int32()),
        ("case when c then a else d end", "CASE WHEN c THEN a ELSE d END", pa.float64()),
        ("day < ts", "TRY_CAST(day AS TIMESTAMP) < ts", pa.bool_()),
        ("a is not null", "NOT (a IS NULL)", pa.bool_()),
        ("s like 'a%%b'", "s LIKE 'a%b'", pa.bool_()),
        ("a is true", "a IS TRUE", pa.bool_()),
        ("+ 5", "5", pa.int32()),
    ],
)
def test_text_and_type(text: str, sql: str, data_type: pa.DataType) -> None:
    found = typed(text)
    assert (found.sql, found.type) == (sql, data_type)
    assert typed(found.sql if "if(" not in sql else text).sql == sql


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("a + c", "arithmetic needs numbers"),
        ("a & d", "use integers"),
        ("a < c", "INT compared with BOOLEAN"),
        ("a AND c", "INT where a condition must stand"),
        ("CAST(xs AS INT)", "Spark has no such cast"),
        ("s RLIKE s", "what RLIKE matches with must be a constant string"),
        ("nonsense(a)", "unknown function 'nonsense'"),
        ("sum(a)", "aggregate function 'sum'"),
        ("a['x']", "index an array or a map"),
        ("lower(*)", "name the columns"),
    ],
)
def test_refusals(text: str, part: str) -> None:
    with pytest.raises(PredicateError, match=part):
        typed(text)


def test_a_predicate_joins_as_many_strings_as_the_limit_and_no_more() -> None:
    assert typed(" AND ".join(["s || 'x' = 'a'"] * _MAX_JOINED))
    with pytest.raises(PredicateError, match=f"joined strings.*at most {_MAX_JOINED} in a predicate"):
        typed(" AND ".join(["s || 'x' = 'a'"] * (_MAX_JOINED + 1)))


def test_a_node_is_typed_once() -> None:
    node, source = parse("a + 1", Limits(), "UTC")
    typer = Typer(source, SCHEMA)
    assert typer.of(node) is typer.of(node)


def test_a_condition_must_be_boolean() -> None:
    node, source = parse("a + 1", Limits(), "UTC")
    with pytest.raises(PredicateError, match="compare it with something"):
        Typer(source, SCHEMA).condition(node)
