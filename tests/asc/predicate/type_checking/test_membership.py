"""Constants among the elements of an array: what is read of them, and that Spark finds the same."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

import broker
from asc.predicate import normalise
from asc.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DDL = "i INT, tags ARRAY<STRING>, ids ARRAY<BIGINT>, labels MAP<STRING, INT>, raw BINARY"
SCHEMA = Schema.from_ddl(DDL)
TEXTS = ("", "a", "b", "ab", "a,b", "it's", "é")
NUMBERS = (1, -2, 12, 2, 2**40)


@pytest.mark.parametrize(
    ("where", "terms"),
    [
        ("array_contains(tags, 'a')", {"array_contains(tags, 'a')"}),
        ("array_contains(ids, -2)", {"array_contains(ids, -2)"}),
        ("exists(ids, x -> 12 = x)", {"array_contains(ids, 12)"}),
        ("exists(tags, x -> x IN ('a', 'b'))", {"array_contains(tags, 'a')", "array_contains(tags, 'b')"}),
        ("arrays_overlap(array('a'), tags)", {"array_contains(tags, 'a')"}),
        ("array_contains(tags, 'a') IS NOT NULL", {"array_contains(tags, 'a')", "exists(tags, e -> e IS NULL)"}),
        ("NOT array_contains(tags, 'a')", {"array_contains(tags, 'a')", "exists(tags, e -> e IS NULL)"}),
    ],
)
def test_forms_that_are_read(where: str, terms: set[str]) -> None:
    attributes = normalise(where, SCHEMA).p_attributes
    assert {attribute.sql for attribute in attributes} == terms
    # However many constants are looked for, Spark makes one text of the array.
    assert len({attribute.read for attribute in attributes}) == 1
    assert all(attribute.like is not None and attribute.is_computed for attribute in attributes)


@pytest.mark.parametrize(
    "where",
    [
        "array_contains(tags, CAST(NULL AS STRING))",
        "array_contains(array('a', 'b'), tags[0])",
        "array_contains(array(CAST(raw AS STRING)), 'a')",
        "arrays_overlap(tags, array('a', NULL))",
        "arrays_overlap(tags, tags)",
        "exists(tags, x -> x = 'a' OR x = 'b')",
        "exists(tags, x -> x = x)",
        "exists(tags, x -> x <=> 'a')",
        "exists(tags, x -> length(x) = 2)",
    ],
)
def test_forms_that_are_left_to_spark(where: str) -> None:
    predicate = normalise(where, SCHEMA)
    assert all(attribute.like is None for attribute in predicate.p_attributes)


def _term(rng: Random) -> str:
    def text() -> str:
        return "'" + rng.choice(TEXTS).replace("'", "\\'") + "'"

    number = rng.choice(NUMBERS)
    form = rng.choice(
        (
            f"array_contains(tags, {text()})",
            f"array_contains(ids, {number})",
            f"array_contains(map_keys(labels), {text()})",
            f"exists(tags, x -> x = {text()})",
            f"exists(tags, x -> x IN ({text()}, {text()}))",
            f"arrays_overlap(tags, array({text()}, {text()}))",
            f"arrays_overlap(array({number}L), ids)",
        )
    )
    around = rng.choice(("{}", "{}", "NOT {}", "({}) IS NULL", "({}) IS NOT TRUE", "({}) <=> FALSE"))
    return around.format(form)


def test_spark_finds_the_same(spark: SparkSession) -> None:
    rng = Random(11)

    def some(of: tuple[object, ...]) -> list[object] | None:
        return None if rng.random() < 0.1 else rng.choices((*of, None), k=rng.choice((0, 0, 1, 2, 3)))

    maps = (None, {}, {"a": 1}, {"": None, "b": 2})
    rows = [(i, some(TEXTS), some(NUMBERS), rng.choice(maps), None) for i in range(150)]
    frame = spark.createDataFrame(rows, DDL).cache()
    wheres = [rng.choice((" AND ", " OR ")).join(_term(rng) for _ in range(rng.randint(1, 3))) for _ in range(80)]
    queries = {f"q{number:02}": where for number, where in enumerate(wheres)}
    found = {row.i: row.queries for row in broker.match(frame, queries).collect()}
    flags = frame.selectExpr("i", *(f"coalesce({where}, false) AS {query_id}" for query_id, where in queries.items()))
    expected = {row.i: [query_id for query_id in queries if row[query_id]] for row in flags.collect()}
    assert {i: found.get(i, []) for i in expected} == expected
