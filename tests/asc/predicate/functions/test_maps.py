"""Functions of maps: what they take, and that Spark never sees a key that is NULL or comes twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from asc.predicate.expressions.expression import Expression
from asc.predicate.limits import Limits
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.typer import Typer
from asc.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("map('a', 1, 'a', 2)", "each once"),
        ("map(NULL, 1)", "each once"),
        ("map('a')", "in turn"),
        ("map(1, 2, 'a', 3)", "of one type"),
        ("map(s, 1, 'b', 2)", "map_from_arrays"),
        ("map_from_arrays(array(NULL), ns)", "keys of type VOID"),
        ("map(1.5, 2, 'a', 3)", "one decimal holds"),
        ("map(1, 2, 1.0, 3)", "each once"),
        (f"map({'9' * 38}, 2, 0.{'0' * 37}1, 3)", "one decimal holds"),
        ("map_from_arrays(maps, ns)", "CAST them"),
        ("map_from_entries(ns)", "structs with two names"),
        ("map_concat(labels, map(1, 2))", "CAST them to one type"),
        ("str_to_map(s, t)", "given to str_to_map must be a constant"),
        ("str_to_map(s, '(a*)*')", "(a*)*"),
        ("map_contains_key(labels, 1)", "seeks STRING, not INT"),
    ],
)
def test_calls_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("map(1, 'a', 2, 'b')", pa.map_(pa.int32(), pa.string())),
        ("map('a', 1)[s]", pa.int32()),
        ("map(1, 'a', 2.5, 'b')", pa.map_(pa.decimal128(11, 1), pa.string())),
        ("map('a', n, 'b', s)['a']", pa.string()),
        ("map_from_arrays(tags, ns)", pa.map_(pa.string(), pa.int32())),
        ("map_from_entries(array(struct(n, s)))", pa.map_(pa.int32(), pa.string())),
        ("map_concat(labels, labels)", pa.map_(pa.string(), pa.int32())),
        ("str_to_map(s)", pa.map_(pa.string(), pa.string())),
        ("map_keys(labels)", pa.list_(pa.string())),
        ("map_values(labels)[0]", pa.int32()),
        ("map_entries(labels)[0].key", pa.string()),
    ],
)
def test_types_of_results(text: str, result: pa.DataType, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).type == result


def test_constant_keys_stand_as_they_are(expression_of: Callable[[str], Expression]) -> None:
    assert expression_of("map('a', n, 'b', 2)").sql == "map('a', n, 'b', 2)"


SCHEMA = Schema.from_ddl(
    "s STRING, t STRING, n INT, ks ARRAY<STRING>, vs ARRAY<INT>, m MAP<STRING, INT>, text STRING, d DOUBLE, e DOUBLE"
)
ROWS = """
    ('a', 'b', 1, array('x', 'y'), array(1, 2), map('a', 1), 'a:1,b:2', 0.0D, 1.0D),
    ('a', 'a', 2, array('x', 'x'), array(1, 2), map('z', 1), 'a:1,a:2', 0.0D, -0.0D),
    (NULL, 'b', 1, array('x', NULL), array(1, 2), map(), '', double('NaN'), double('NaN')),
    ('b', NULL, NULL, array('x'), array(1, 2), NULL, NULL, NULL, -0.0D),
    ('', '', 3, array(), array(), map('', 1), 'a,b', 1.0D, 2.0D)
"""
CALLS: dict[str, list[object]] = {
    "map_from_arrays(array(s, t), array(1, 2))": [{"a": 1, "b": 2}, None, None, None, None],
    "map_from_arrays(ks, vs)": [{"x": 1, "y": 2}, None, None, None, {}],
    "map_from_entries(transform(ks, (k, i) -> struct(k, i)))": [{"x": 0, "y": 1}, None, None, {"x": 0}, {}],
    "map_concat(m, map('a', n))": [None, {"a": 2, "z": 1}, {"a": 1}, None, {"": 1, "a": 3}],
    "str_to_map(text)": [{"a": "1", "b": "2"}, None, {"": None}, None, {"a": None, "b": None}],
    "map_from_arrays(array(d, e), array(1, 2))": [{0.0: 1, 1.0: 2}, None, None, None, {1.0: 1, 2.0: 2}],
    "transform_keys(m, (k, v) -> n)": [{1: 1}, {2: 1}, {}, None, {3: 1}],
    "transform_keys(map(1, 1, 2, 2), (k, v) -> if(n = 1, k, n))": [{1: 1, 2: 2}, None, {1: 1, 2: 2}, None, None],
}


@pytest.mark.spark
def test_keys_that_spark_throws_for_are_null_and_leave_nothing_behind(spark: SparkSession) -> None:
    """All records in one partition: what Spark had put together before it throws would stay for the next one."""
    names = ", ".join(SCHEMA.arrow.names)
    df = spark.sql(f"SELECT * FROM VALUES {ROWS} AS v({names})").coalesce(1).localCheckpoint()
    sqls = []
    for text in CALLS:
        tree, source = parse(text, Limits(), "UTC")
        sqls.append(Typer(source, SCHEMA).of(tree).sql)
    found = df.selectExpr(*(f"{sql} AS c{i}" for i, sql in enumerate(sqls))).collect()
    for i, (text, expected) in enumerate(CALLS.items()):
        assert [row[i] for row in found] == expected, text
