"""Casts: which Spark has, and the text it gets."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.errors import PredicateError
from asc.predicate.expressions.expression import Expression
from asc.predicate.limits import Limits
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.typer import Typer
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


@pytest.mark.parametrize("text", ["CAST(xs AS INT)", "CAST(raw AS INT)", "TRY_CAST(a AS BINARY)"])
def test_refusals(text: str) -> None:
    with pytest.raises(PredicateError, match="Spark has no such cast"):
        typed(text)


@pytest.mark.parametrize("target", ["INT", "DOUBLE", "DECIMAL(10,2)", "BOOLEAN"])
def test_a_cast_that_is_always_null_is_said_to_be(target: str) -> None:
    with pytest.raises(PredicateError, match=r"always NULL in Spark: unix_date\(\) counts the days"):
        typed(f"CAST(day AS {target})")


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("CAST(xs AS ARRAY<string>)", "CAST(xs AS ARRAY<STRING>)"),
        ("CAST(NULL AS array<date>)", "CAST(NULL AS ARRAY<DATE>)"),
        ("TRY_CAST(struct(a, s) AS STRUCT<x: BIGINT, y: INT>)", "TRY_CAST(struct(a, s) AS STRUCT<x: BIGINT, y: INT>)"),
    ],
)
def test_containers_are_cast_by_what_they_hold(text: str, sql: str) -> None:
    assert typed(text).sql == sql


@pytest.mark.parametrize(
    "text",
    [
        "CAST(array(day) AS ARRAY<TIMESTAMP>)",
        "CAST(array('now') AS ARRAY<TIMESTAMP>)",
        "CAST(array(s) AS ARRAY<DECIMAL(5,2)>)",
        "CAST(array(xs) AS ARRAY<STRING>)",
    ],
)
def test_what_can_throw_within_a_container_is_refused(text: str) -> None:
    with pytest.raises(PredicateError, match="one by one"):
        typed(text)


def test_the_text_of_a_container_is_longer_than_the_record() -> None:
    assert typed("CAST(xs AS STRING)").growth == 8.0
    wide = ", ".join(f"{i} AS c{i}" for i in range(13))
    with pytest.raises(PredicateError, match="longer"):
        typed(f"CAST(struct({wide}) AS STRING)")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("upper(s COLLATE UTF8_LCASE) = 'a'", "upper"),
        ("contains(s COLLATE UTF8_LCASE, 'a')", "contains"),
        ("lower(s COLLATE UTF8_LCASE) = 'a'", "lower"),
        ("s COLLATE UTF8_LCASE LIKE 'a%'", "LIKE"),
        ("s COLLATE UTF8_LCASE ILIKE 'a%'", "ILIKE"),
        ("s COLLATE UTF8_LCASE RLIKE 'a'", "RLIKE"),
        ("s COLLATE UTF8_LCASE BETWEEN 'a' AND 'b'", "BETWEEN"),
        ("CAST(s COLLATE UTF8_LCASE AS INT) = 1", "CAST"),
        ("CASE s COLLATE UTF8_LCASE WHEN 'a' THEN c END", "CASE"),
        ("(s COLLATE UTF8_LCASE || 'a') = 'b'", r"\|\|"),
    ],
)
def test_the_refusal_of_a_collated_text_names_what_takes_it(text: str, name: str) -> None:
    with pytest.raises(PredicateError, match=f"^{name} of collated text: 's COLLATE UTF8_LCASE': compare it by"):
        typed(text)
