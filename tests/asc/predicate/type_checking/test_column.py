"""What a name with dots means: a column, a field, an entry, a variable of a lambda, or nothing."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.errors import PredicateError
from asc.predicate.expressions.expression import Expression
from asc.predicate.limits import Limits
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.typer import Typer
from asc.schema import Schema

SCHEMA = Schema.from_ddl(
    "a INT, day DATE, xs ARRAY<INT>, m MAP<STRING, INT>, by_number MAP<INT, STRING>,"
    " items ARRAY<STRUCT<x: INT, `odd name`: STRING>>, place STRUCT<x: INT, `odd name`: STRING>"
)


def typed(text: str) -> Expression:
    node, source = parse(text, Limits(), "UTC")
    return Typer(source, SCHEMA).of(node)


@pytest.mark.parametrize(
    ("text", "sql", "data_type"),
    [
        ("A", "a", pa.int32()),
        ("Place.X", "place.x", pa.int32()),
        ("place.`ODD NAME`", "place.`odd name`", pa.string()),
        ("m.k", "m['k']", pa.int32()),
        ("items.`ODD name`", "items.`odd name`", pa.list_(pa.string())),
        ("items.x[0]", "items.x[0]", pa.int32()),
        ("items[0].X", "items[0].x", pa.int32()),
    ],
)
def test_text_and_type(text: str, sql: str, data_type: pa.DataType) -> None:
    found = typed(text)
    assert (found.sql, found.type) == (sql, data_type)


def test_a_path_is_that_of_the_schema() -> None:
    assert typed("PLACE.x").path == ("place", "x")
    assert typed("items.x").path is None


def test_a_variable_of_a_lambda_hides_a_column() -> None:
    assert typed("exists(items, a -> a.x > 1)").type == pa.bool_()
    with pytest.raises(PredicateError, match="the struct has x, odd name"):
        typed("exists(items, a -> a.y > 1)")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("b > 1", "unknown column 'b'"),
        ("items.y > 1", "the struct has x, odd name"),
        ("xs.k > 1", r"an element of an array is xs\[0\]"),
        ("by_number.k = 'a'", r"an entry of a map is by_number\['k'\]"),
        ("xs[0].k > 1", "only a struct has fields"),
        ("current_date = day", "non-deterministic"),
    ],
)
def test_refusals(text: str, part: str) -> None:
    with pytest.raises(PredicateError, match=part):
        typed(text)
