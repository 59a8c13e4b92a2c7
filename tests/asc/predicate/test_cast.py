"""Casts: which Spark has, and the text it gets."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.errors import PredicateError
from asc.predicate.expression import Expression
from asc.predicate.limits import Limits
from asc.predicate.parser import parse
from asc.predicate.typer import Typer
from asc.schema import Schema

SCHEMA = Schema.from_ddl("a INT, d DOUBLE, s STRING, c BOOLEAN, day DATE, ts TIMESTAMP, raw BINARY, xs ARRAY<INT>")


def typed(text: str) -> Expression:
    node, source = parse(text, Limits(), "UTC")
    return Typer(source, SCHEMA).of(node)


@pytest.mark.parametrize(
    ("text", "sql", "data_type"),
    [
        ("CAST(a AS string)", "CAST(a AS STRING)", pa.string()),
        ("try_cast(s AS int)", "TRY_CAST(s AS INT)", pa.int32()),
        ("s::decimal(5,2)", "CAST(left(s, 20000) AS DECIMAL(5,2))", pa.decimal128(5, 2)),
    ],
)
def test_text_and_type(text: str, sql: str, data_type: pa.DataType) -> None:
    found = typed(text)
    assert (found.sql, found.type) == (sql, data_type)


def test_the_cast_of_a_date_to_a_timestamp_is_guarded() -> None:
    assert typed("CAST(day AS TIMESTAMP)").sql == "TRY_CAST(day AS TIMESTAMP)"
    assert typed("CAST(ts AS DATE)").sql == "CAST(ts AS DATE)"


@pytest.mark.parametrize("text", ["CAST(xs AS INT)", "CAST(raw AS INT)", "TRY_CAST(a AS BINARY)", "CAST(day AS INT)"])
def test_refusals(text: str) -> None:
    with pytest.raises(PredicateError, match="Spark has no such cast"):
        typed(text)
