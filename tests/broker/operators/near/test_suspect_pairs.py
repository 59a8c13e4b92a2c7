"""Pairs in a file: each value that a condition judges once, and conditions over them as a batch judges them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asc.predicate import normalise
from asc.schema import Schema
from broker.operators.near.condition import NearCondition, pair_schema
from broker.operators.near.suspect_pairs import SuspectPairs, write_pairs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCHEMA = Schema.from_ddl("n INT, s STRING")
LESS, LONGER = "a.n < b.n", "length(a.s) > length(b.s) AND a.s <> '\\''"
DDL = "condition STRING, own_a STRING, own_b STRING, other_a STRING, other_b STRING"


def condition(text: str) -> NearCondition:
    pairs = pair_schema(SCHEMA)
    return NearCondition.of(text, SCHEMA, lambda where: normalise(where, pairs))


def test_conditions_see_the_pairs_of_their_own_queries_alone(spark: SparkSession, tmp_path: Path) -> None:
    one, two = '{"`n`":1}', '{"`n`":2}'
    long, short = '{"`s`":"xyz"}', '{"`s`":"x"}'
    rows = [
        (LESS, one, two, None, None),
        (LESS, one, two, two, one),
        (LONGER, long, short, long, short),
        (None, one, two, None, None),
    ]
    file = tmp_path / "new" / "pairs.parquet"
    write_pairs(spark.createDataFrame(rows, DDL), file)
    conditions = {text: condition(text) for text in (LESS, LONGER)}
    suspects = SuspectPairs.of(file, conditions, master="local[1]", driver_memory="1g", time_zone="UTC")
    assert suspects.subject == str(file)
    frame = suspects.frame(spark)
    assert frame.count() == 3
    found = frame.selectExpr(
        "condition", *(f"({attribute.sql}) AS c{i}" for i, attribute in enumerate(suspects.attributes))
    )
    assert sorted(map(tuple, found.collect()), key=str) == sorted(
        [(LESS, 1, None), (LESS, None, None), (LONGER, None, 1)], key=str
    )
    assert [str(attribute.type) for attribute in suspects.attributes] == ["int32", "int32"]
