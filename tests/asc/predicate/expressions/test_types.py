"""What Spark does with types: results of operators, what compares, what is cast."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from asc.predicate.expressions import types
from asc.predicate.expressions.expression import Expression
from asc.predicate.expressions.types import castable, comparable, is_container, listable
from asc.predicate.limits import Limits
from asc.predicate.syntax.literal import TIMESTAMP, TIMESTAMP_NTZ, Literal
from asc.predicate.syntax.nodes import Node
from asc.predicate.syntax.parser import parse
from tests.asc.predicate.test_spark_agreement import CASTS, DDL, EXTREMES, SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tests.tiers import PartOf

NODE = Node("column", (), 0, 1, ("x",))
D = pa.decimal128


@pytest.mark.parametrize(
    ("operator", "left", "right", "result"),
    [
        ("+", pa.int8(), pa.int32(), pa.int32()),
        ("+", pa.int64(), pa.float32(), pa.float32()),
        ("/", pa.int32(), pa.int32(), pa.float64()),
        ("div", pa.int32(), pa.int32(), pa.int64()),
        ("+", D(10, 2), D(5, 4), D(13, 4)),
        ("*", D(10, 2), D(5, 4), D(16, 6)),
        ("/", D(10, 2), D(5, 4), D(20, 8)),
        ("%", D(10, 2), D(5, 4), D(5, 4)),
        ("*", D(38, 10), D(38, 10), D(38, 6)),
        ("+", D(10, 2), pa.int32(), D(13, 2)),
        ("+", D(10, 2), pa.float64(), pa.float64()),
        ("+", pa.string(), pa.int32(), None),
        ("+", None, pa.int32(), None),
    ],
)
def test_arithmetic(operator: str, left: pa.DataType, right: pa.DataType, result: pa.DataType | None) -> None:
    assert types.arithmetic(operator, left, right, (None, None)) == result


def test_a_constant_takes_as_many_digits_as_it_has() -> None:
    five = Literal("5", pa.int32(), 5)
    assert types.arithmetic("+", D(10, 2), pa.int32(), (None, five)) == D(11, 2)


@pytest.mark.parametrize(
    ("operator", "left", "right", "compares"),
    [
        ("=", pa.int32(), pa.float64(), True),
        ("<", pa.int32(), pa.bool_(), False),
        ("=", pa.int32(), pa.bool_(), True),
        ("<", pa.date32(), TIMESTAMP, True),
        ("<", pa.date32(), pa.int32(), False),
        ("<", pa.string(), pa.date32(), True),
        ("=", pa.binary(), pa.int32(), False),
        ("=", pa.list_(pa.int32()), pa.list_(pa.int32()), True),
        ("=", pa.list_(pa.int32()), pa.list_(pa.int64()), True),
        ("=", pa.list_(pa.int32()), pa.list_(pa.string()), False),
        ("=", pa.list_(pa.date32()), pa.list_(TIMESTAMP), False),
        ("=", pa.map_(pa.string(), pa.int32()), pa.map_(pa.string(), pa.int32()), False),
        ("=", pa.null(), pa.int32(), True),
        ("=", None, pa.list_(pa.int32()), True),
    ],
)
def test_comparable_in_either_order(operator: str, left: pa.DataType, right: pa.DataType, compares: bool) -> None:
    assert types.comparable(operator, left, right) is compares
    assert types.comparable(operator, right, left) is compares


@pytest.mark.parametrize(
    ("kinds", "strings_with", "is_found"),
    [
        ([pa.string(), pa.date32(), pa.int32()], "numbers and instants", True),
        ([pa.list_(pa.date32()), pa.list_(pa.int32()), pa.list_(pa.string())], "numbers and instants", True),
        ([pa.date32(), pa.int32()], "numbers and instants", False),
        ([pa.string(), pa.bool_(), pa.int32()], "numbers and instants", False),
        ([pa.string(), pa.binary()], "numbers and instants", False),
        ([pa.string(), pa.int32()], "", False),
    ],
)
def test_all_beside_a_string_become_strings(kinds: list[pa.DataType], strings_with: str, is_found: bool) -> None:
    assert types.unifiable(kinds, strings_with) is is_found


def test_lists_cast_to_fewer_types_than_comparisons() -> None:
    assert types.comparable("=", pa.int32(), pa.bool_())
    assert not types.listable(pa.int32(), pa.bool_())
    assert not types.listable(pa.string(), pa.binary())
    assert types.listable(pa.string(), pa.int32())


@pytest.mark.parametrize(
    ("kinds", "common"),
    [
        ([pa.int8(), pa.int64(), pa.null()], pa.int64()),
        ([pa.int64(), pa.float32()], pa.float32()),
        ([pa.string(), pa.string()], pa.string()),
        ([pa.string(), pa.int32()], None),
        ([D(5, 2), D(5, 1)], None),
        ([pa.int32(), None], None),
    ],
)
def test_common_types(kinds: list[pa.DataType | None], common: pa.DataType | None) -> None:
    assert types.common(kinds) == common


@pytest.mark.parametrize(
    ("source", "target", "castable", "attempted"),
    [
        (pa.string(), pa.int32(), True, True),
        (pa.int32(), pa.string(), True, True),
        (pa.int32(), pa.date32(), False, False),
        (pa.int32(), TIMESTAMP, True, True),
        (pa.bool_(), TIMESTAMP, True, False),
        (pa.int32(), pa.binary(), True, False),
        (pa.binary(), pa.int32(), False, False),
        (pa.list_(pa.int32()), pa.string(), True, True),
        (pa.string(), pa.list_(pa.int32()), False, False),
        (pa.list_(pa.int32()), pa.list_(pa.string()), True, True),
        (pa.list_(pa.bool_()), pa.list_(TIMESTAMP), True, False),
        (pa.list_(pa.int32()), pa.map_(pa.int32(), pa.int32()), False, False),
        (pa.map_(pa.int32(), pa.int32()), pa.map_(pa.string(), pa.int64()), True, True),
        (pa.map_(pa.string(), pa.int32()), pa.map_(pa.int32(), pa.int32()), False, False),
        (pa.struct([("a", pa.int32())]), pa.struct([("b", pa.string())]), True, True),
        (pa.struct([("a", pa.int32())]), pa.struct([("b", pa.string()), ("c", pa.string())]), False, False),
        (None, pa.int32(), True, True),
    ],
)
def test_casts(source: pa.DataType | None, target: pa.DataType, castable: bool, attempted: bool) -> None:
    assert types.castable(source, target) is castable
    assert types.castable(source, target, attempt=True) is attempted


def test_a_cast_of_instants_that_may_throw_is_guarded() -> None:
    day = Expression("day", pa.date32(), NODE)
    assert types.needs_guard(day, TIMESTAMP)
    assert not types.needs_guard(day, pa.date32())
    assert not types.needs_guard(Expression("ts", TIMESTAMP, NODE), pa.date32())
    assert types.needs_guard(Expression("ts", TIMESTAMP, NODE), TIMESTAMP_NTZ)
    constant = Literal("DATE '2013-01-01'", pa.date32(), 15706)
    assert not types.needs_guard(Expression(constant.sql, pa.date32(), NODE, literal=constant), TIMESTAMP)


NULL_OR_TEXT = ("day", "list", "dict", "days", "instants", "by_instant", "place")
"""Casts refused though Spark makes them: a date's to a number is always NULL, a container's text is for display."""


def analysed(df: DataFrame, *texts: str) -> bool:
    from pyspark.errors import AnalysisException

    try:
        df.selectExpr(*texts)
    except AnalysisException:
        return False
    return True


def analysed_of(df: DataFrame, texts: Iterable[str], expected: Iterable[bool]) -> list[str]:
    """The texts that Spark does not take or refuse as expected. Those that it should take are asked fifty at a time."""
    asked = list(zip(texts, expected, strict=True))
    wrong = [text for text, takes in asked if not takes and analysed(df, text)]
    taken = [text for text, takes in asked if takes]
    for start in range(0, len(taken), 50):
        chunk = taken[start : start + 50]
        if not analysed(df, *chunk):
            wrong += [text for text in chunk if not analysed(df, text)]
    return wrong


@pytest.mark.spark
@pytest.mark.slow
def test_refused_comparisons_are_those_spark_refuses(spark: SparkSession, part_of: PartOf[tuple[str, bool]]) -> None:
    """Nothing that Spark compares is refused, and what it refuses is known, container types aside."""
    expected: dict[str, bool] = {}
    names = list(EXTREMES)
    for i, left in enumerate(names):
        for right in names[i:]:
            a, b = (SCHEMA.resolve((name,)).type for name in (left, right))
            for operator in ("=", "<"):
                if is_container(a) and is_container(b) and a != b:
                    continue
                expected[f"{left} {operator} {right}"] = comparable(operator, a, b)
            if is_container(a) and is_container(b) and a != b:
                continue
            expected[f"{left} IN ({right})"] = listable(a, b)
    asked = dict(part_of(expected.items(), 7))
    assert set(asked.values()) == {True, False}
    assert analysed_of(spark.createDataFrame([], DDL), asked, asked.values()) == []


@pytest.mark.spark
@pytest.mark.slow
def test_refused_casts_are_refused_by_spark_or_always_null(spark: SparkSession) -> None:
    expected: dict[str, bool] = {}
    for source, target in product(EXTREMES, CASTS):
        text = f"CAST({source} AS {target})"
        tree, _ = parse(text, Limits(), "UTC")
        allowed = castable(SCHEMA.resolve((source,)).type, tree.value[0])
        if allowed or source not in NULL_OR_TEXT:
            expected[text] = allowed
    assert analysed_of(spark.createDataFrame([], DDL), expected, expected.values()) == []
