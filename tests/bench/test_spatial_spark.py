"""Fences through Spark, few of them: both contenders run, and accept what they should."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import shapely

from asc.plan.compiler import compile_plan
from asc.plan.plan import Query
from asc.predicate import normalise
from asc.schema import Schema
from bench.sedona_spark import JAR_VARIABLE
from bench.spatial_spark import FENCES, PLAIN, through_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.nightly
def test_both_accept_what_they_should(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    # The session of the tests was started without the jar.
    monkeypatch.delenv(JAR_VARIABLE, raising=False)
    schema = Schema.from_ddl("longitude DOUBLE, latitude DOUBLE")
    where = "ST_Contains(ST_PolygonFromEnvelope(0, 0, 1, 1), ST_Point(longitude, latitude))"
    positions = np.array([[0.5, 0.5], [2.0, 0.25], [0.5, 0.75], [3.0, 3.0]])
    shapes = np.array([shapely.box(0, 0, 1, 1)])
    result = through_spark(compile_plan([Query("q", normalise(where, schema))]), shapes, positions, 400, 1)
    assert result["accepted"] == {FENCES: 200, PLAIN: 200}
    assert result["fences"] == 1
    assert result["ratio"]["ratio"] > 0
    assert result["sedona"] is None
