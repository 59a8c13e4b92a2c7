"""Predicates held against Spark's filter over rows that a test makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from asc.predicate import normalise
from asc.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Differing = Callable[[str, Sequence[tuple[Any, ...]], Sequence[str]], list[tuple[str, list[int]]]]


def differing_of(spark: SparkSession) -> Differing:
    """The predicates that accept other rows than Spark's filter, with those rows, for rows of a DDL."""

    def found(ddl: str, rows: Sequence[tuple[Any, ...]], texts: Sequence[str]) -> list[tuple[str, list[int]]]:
        numbered = [(place, *row) for place, row in enumerate(rows)]
        df = spark.createDataFrame(numbered, f"id INT, {ddl}").coalesce(1).localCheckpoint()
        kept = _kept(df, texts)
        own = accepted(df, texts, ddl)
        return [(text, sorted(a ^ b)) for text, a, b in zip(texts, kept, own, strict=True) if a != b]

    return found


def _kept(df: DataFrame, texts: Sequence[str]) -> list[set[int]]:
    from pyspark.sql import functions as F  # noqa: N812

    kept: list[set[int]] = [set() for _ in texts]
    parts = [df.filter(text).select(F.lit(place).alias("i"), "id") for place, text in enumerate(texts)]
    for row in reduce(type(df).union, parts).collect():
        kept[row.i].add(row.id)
    return kept


def accepted(df: DataFrame, texts: Sequence[str], ddl: str) -> list[set[int]]:
    """The ids of the rows that each predicate accepts, value by value."""
    from pyspark.sql import functions as F  # noqa: N812

    schema = Schema.from_ddl(ddl)
    predicates = [normalise(text, schema) for text in texts]
    attributes = list(dict.fromkeys(a for predicate in predicates for a in predicate.p_attributes))
    table = df.orderBy("id").select("id", *[F.expr(a.sql).alias(f"c{i}") for i, a in enumerate(attributes)]).toArrow()
    ids, *columns = table.columns
    values = {}
    for attribute, column in zip(attributes, columns, strict=True):
        assert column.type == attribute.type, attribute.sql
        values[attribute.sql] = [attribute.key_of(value) for value in column]
    return [
        {
            number
            for row, number in enumerate(ids.to_pylist())
            if predicate.match_all
            or any(all(c.admits(values[a.sql][row]) for a, c in conjunct) for conjunct in predicate.conjuncts)
        }
        for predicate in predicates
    ]
