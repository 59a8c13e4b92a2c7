"""Arrays as sets: spelled with a sort where a record could make a hash collide, else as they stand."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from asc.predicate.expressions.expression import Expression
from asc.predicate.functions.array_sets import is_written_out
from asc.predicate.limits import Limits
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.typer import Typer
from asc.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("text", "is_sorted"),
    [
        ("array_distinct(ns)", True),
        ("array_distinct(array(n, 5))", False),
        ("array_distinct(reverse(array(n, 5)))", False),
        ("array_distinct(raws)", True),
        ("array_union(array(n), array(5))", False),
        ("array_union(ns, array(5))", True),
        ("array_except(tags, array('a'))", True),
        ("array_intersect(tags, array('a'))", False),
        ("array_intersect(array('a'), tags)", True),
        ("arrays_overlap(tags, tags)", False),
        ("arrays_overlap(raws, raws)", True),
        ("array_distinct(transform(ns, x -> CAST(x AS TINYINT)))", False),
    ],
)
def test_what_is_sorted(text: str, is_sorted: bool, expression_of: Callable[[str], Expression]) -> None:
    assert ("sort_array" in expression_of(text).sql) == is_sorted


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("array_distinct(maps)", "cannot be compared"),
        ("array_union(tags, ns)", "CAST them to one type"),
        ("arrays_overlap(tags, NULL)", None),
        ("array_distinct(NULL)", "CAST them"),
    ],
)
def test_calls_that_are_refused(text: str, part: str | None, trouble_of: Callable[[str], str]) -> None:
    if part is not None:
        assert part in trouble_of(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("array(1, n)", True),
        ("concat(array(1), map_keys(map(1, n)))", True),
        ("concat(array(1), ns)", False),
        ("split(s, ',')", False),
        ("ns", False),
        ("array_repeat(1, n)", False),
    ],
)
def test_what_is_written_out(text: str, expected: bool, expression_of: Callable[[str], Expression]) -> None:
    assert is_written_out(expression_of(text)) == expected


KINDS = {
    "INT": [0, 1, -1, 2**31 - 1],
    "STRING": ["", "a", "aa", "é", "🚀"],
    "DOUBLE": [0.0, -0.0, 1.5, float("nan")],
    "BINARY": [b"", b"a", b"\xff"],
    "STRUCT<x: INT, y: STRING>": [(1, "a"), (1, None), (None, "a")],
    "ARRAY<DOUBLE>": [[], [0.0], [-0.0], [None]],
}
CALLS = ("array_distinct({0})", "array_union({0}, {1})", "array_except({0}, {1})", "array_intersect({0}, {1})")


@pytest.mark.spark
def test_sorted_is_as_spark_has_it(spark: SparkSession) -> None:
    """In the order, and with the one of several equal elements, that the functions themselves give."""
    draw = random.Random(7)

    def array(values: list[object]) -> list[object] | None:
        if draw.random() < 0.05:
            return None
        return [None if draw.random() < 0.2 else draw.choice(values) for _ in range(draw.randrange(6))]

    pairs = [(f"a{i}", f"b{i}", kind) for i, kind in enumerate(KINDS)]
    ddl = ", ".join(f"{a} ARRAY<{kind}>, {b} ARRAY<{kind}>" for a, b, kind in pairs)
    rows = [tuple(array(values) for values in KINDS.values() for _ in range(2)) for _ in range(150)]
    df, schema = spark.createDataFrame(rows, ddl).coalesce(1), Schema.from_ddl(ddl)
    texts = [call.format(a, b) for a, b, _ in pairs for call in (*CALLS, "arrays_overlap({0}, {1})")]
    sqls = []
    for text in texts:
        tree, source = parse(text, Limits(), "UTC")
        sqls.append(Typer(source, schema).of(tree).sql)
    both = [f"CAST({sql} AS STRING) AS c{i}" for i, sql in enumerate((*texts, *sqls))]
    for row in df.selectExpr(*both).collect():
        assert list(row[: len(texts)]) == list(row[len(texts) :])


def test_the_result_is_of_the_arrays_type(expression_of: Callable[[str], Expression]) -> None:
    assert expression_of("array_except(ns, ns)").type == pa.list_(pa.int32())
    assert expression_of("arrays_overlap(ns, ns)").type == pa.bool_()
    assert expression_of("array_union(ns, array(big))").type == pa.list_(pa.int64())
    assert expression_of("arrays_overlap(ns, array(1L))").sql == "arrays_overlap(CAST(ns AS ARRAY<BIGINT>), array(1L))"
