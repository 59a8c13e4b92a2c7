"""The part of a track, against the hash of a real Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.operators.feed_part import PARTS, part_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_it_is_the_part_that_spark_chose_before(spark: SparkSession) -> None:
    names = [*("n" + "7f" * length for length in range(8)), "n5f1d0c6a9b21", "é", "n\u2603x", ""]
    rows = spark.createDataFrame([(name,) for name in names], "t STRING")
    found = rows.selectExpr("t", f"pmod(hash(t, CAST(NULL AS STRING)), {PARTS}) AS part").collect()
    assert {row.t: part_of(row.t) for row in found} == {row.t: row.part for row in found}
    assert len({row.part for row in found}) > 3


@given(st.text())
def test_it_is_one_of_the_parts(track: str) -> None:
    assert 0 <= part_of(track) < PARTS
