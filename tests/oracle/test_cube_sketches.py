"""Sketches of distinct values in Spark: Spark reads the states, and unites them with its own of the same column."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from asc.frozen import frozen
from asc.operators.cube.states.distinct import Distinct
from asc.operators.cube.states.distinct_answers import estimates

SIZES = (3, 200, 5_000)
KINDS: list[tuple[str, pa.DataType, Any]] = [
    ("INT", pa.int32(), lambda number: number * 37 - 500),
    ("BIGINT", pa.int64(), lambda number: number * 10**12 - 7),
    ("STRING", pa.string(), lambda number: f"станция {number}" * (number % 4 + 1)),
    ("BINARY", pa.binary(), lambda number: number.to_bytes(number % 9 + 2, "big")),
]


def folded(column: pa.Array, state: Distinct) -> pa.Array:
    count = len(column)
    return state.fold(state.values(column), frozen(np.arange(count)), frozen(np.zeros(count, dtype=np.int32)), 1)


@pytest.mark.spark
@pytest.mark.parametrize(("name", "kind", "value"), KINDS, ids=[name for name, _, _ in KINDS])
def test_spark_reads_the_states_and_unites_them_with_its_own(
    spark: SparkSession, name: str, kind: pa.DataType, value: Any
) -> None:
    state, rows, expected = Distinct(), [], []
    for size in SIZES:
        column = pa.array([value(number) for number in range(size)], kind)
        states = folded(column, state)
        rows += [(size, column[place].as_py(), states[0].as_py()) for place in range(size)]
        expected.append((size, estimates(state, states)[0].as_py()["estimate"]))
    frame = spark.createDataFrame(rows, f"size INT, value {name}, state BINARY")
    read = frame.groupBy("size").agg({"state": "first"}).selectExpr("size", "hll_sketch_estimate(`first(state)`)")
    assert sorted(tuple(row) for row in read.collect()) == expected
    # Both sketches have equal values, so that their union has no more values than each.
    united = frame.groupBy("size").agg({"state": "first"}).withColumnRenamed("first(state)", "state")
    theirs = frame.groupBy("size").agg({"value": "hll_sketch_agg"}).toDF("size", "theirs")
    both = united.join(theirs, "size").selectExpr("size", "hll_sketch_estimate(hll_union(state, theirs))")
    assert sorted(tuple(row) for row in both.collect()) == expected
