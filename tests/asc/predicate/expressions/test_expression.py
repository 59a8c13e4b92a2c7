"""Expressions: their text as an operator's argument, and names as Spark reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from asc.predicate.expressions.expression import Expression, column_sql
from asc.predicate.limits import Limits
from asc.predicate.syntax.nodes import Node
from asc.predicate.syntax.parser import parse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.tiers import PartOf

NODE = Node("column", (), 0, 1, ("a",))


@pytest.mark.parametrize(
    ("path", "sql"),
    [
        (("a",), "a"),
        (("place", "x1"), "place.x1"),
        (("a.b",), "`a.b`"),
        (("a`b",), "`a``b`"),
        (("end",), "`end`"),
        (("Between", "x"), "`Between`.x"),
        (("1a",), "`1a`"),
        (("größe",), "`größe`"),
    ],
)
def test_columns_are_quoted_where_they_must_be(path: tuple[str, ...], sql: str) -> None:
    assert column_sql(path) == sql
    node, _ = parse(sql, Limits(), "UTC")
    assert (node.op, node.value) == ("column", path)


def test_only_what_binds_looser_gets_parentheses() -> None:
    assert Expression("a", pa.int32(), NODE).argument == "a"
    assert Expression("a + b", pa.int32(), NODE, atomic=False).argument == "(a + b)"


def test_a_space_where_the_type_has_keys() -> None:
    space = Expression("a", pa.int32(), NODE).space
    assert space is not None
    assert space.type == pa.int32()
    assert Expression("xs", pa.list_(pa.int32()), NODE).space is None
    assert Expression("f(a)", None, NODE).space is None


WORDS = """
all and any between case current_date date day distinct div end escape exists extract false from group hour if in int
interval is key left like limit month not null on or order position replace rlike row select start string struct time
timestamp trim true type user using value values when with year
"""
SHAPES = """
{w} > 5
5 < {w}
(({w}) + {w}) * 2 > {w}
{w} IN ({w}, 3) AND {w} BETWEEN {w} AND {w}
CASE WHEN {w} > 1 THEN {w} ELSE {w} END = {w}
{w} IS NULL
lower({w}) = 'x' OR p.{w} = 7 AND - {w} < 3
{w} LIKE '7%'
NOT ({w} = 7)
{w} = 'x'
CAST({w} AS INT)
{w} RLIKE '7'
if({w} > 1, {w}, {w})
{w}
{w} % {w}
{w} DIV 2
coalesce({w}, {w})
p.{w}
{w} || 'a'
{w} <=> {w}
{w} = 7 OR {w} = 8
"""


@pytest.mark.spark
@pytest.mark.slow
def test_columns_named_like_keywords_are_read_back(spark: SparkSession, part_of: PartOf[str]) -> None:
    """The text of a column means the column wherever it stands, quoted or not."""
    from pyspark.sql import functions as F  # noqa: N812

    shapes = SHAPES.strip().splitlines()
    wrong = []
    for word in part_of(WORDS.split(), 8):
        df = spark.range(7, 8).selectExpr(f"id AS `{word}`", f"named_struct('{word}', id) AS p")
        both = [[shape.replace("{w}", text) for shape in shapes] for text in (column_sql((word,)), f"`{word}`")]
        columns = [[F.expr(sql).alias(f"c{i}") for i, sql in enumerate(sqls)] for sqls in both]
        if df.select(*columns[0]).collect() != df.select(*columns[1]).collect():
            wrong.append(word)
    assert wrong == []
