"""Rows: the text that Spark gets, their type, and what they compare with."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.errors import PredicateError
from asc.predicate.expressions.expression import Expression
from asc.predicate.limits import Limits
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.typer import Typer
from asc.schema import Schema

SCHEMA = Schema.from_ddl("n INT, s STRING, m MAP<STRING, INT>, place STRUCT<x: INT, name: STRING>")


def typed(text: str) -> Expression:
    node, source = parse(text, Limits(), "UTC")
    return Typer(source, SCHEMA).of(node)


def test_text_and_type() -> None:
    found = typed("(N, place.x + 1, s AS `a b`)")
    assert found.sql == "(n, place.x + 1, s AS `a b`)"
    assert found.type == pa.struct([("N", pa.int32()), ("col2", pa.int32()), ("a b", pa.string())])
    assert typed("struct(n)").type == pa.struct([("n", pa.int32())])
    assert typed("struct(n AS x).x").type == pa.int32()


@pytest.mark.parametrize("text", ["(n, s) = place", "(n, s) IN ((1, 'a'), place)", "(n, (s, n)) < (1, ('a', 2))"])
def test_rows_of_the_same_types_are_compared(text: str) -> None:
    assert typed(text).type == pa.bool_()


@pytest.mark.parametrize(
    "text", ["(n, s) = (1, 2)", "(n, s) = (1, 'a', 2)", "(n, s) IN ((1, NULL))", "(n, m) = (n, m)"]
)
def test_others_are_refused(text: str) -> None:
    with pytest.raises(PredicateError, match="compare"):
        typed(text)
