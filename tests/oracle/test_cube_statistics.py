"""Statistics of cubes against Spark and DuckDB. Both sum up rounded numbers, so that they agree up to 1e-9."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from asc.operators.cube.aggregates import OF_ONE_COLUMN, OF_TWO_COLUMNS
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from workloads.real_data import REAL_DATA

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOLERANCE = 1e-9
GROUPS = ("plain", "incomplete", "one", "equal x", "equal y", "nan", "infinite", "nothing")


def table() -> pa.Table:
    """Return rows in groups, each of which is odd in another way."""
    draw = np.random.default_rng(3)
    rows: list[tuple[str, float | None, float | None, int | None]] = []
    for _ in range(200):
        x = float(draw.normal(1e5, 1))
        y = 3 * x + float(draw.normal(0, 2))
        rows.append(("plain", y, x, int(x)))
        rows.append(("incomplete", None if draw.random() < 0.3 else y, None if draw.random() < 0.3 else x, 7 * int(y)))
    rows.append(("one", 1.5, -2.0, 3))
    rows += [("equal x", each, 4.0, 1) for each in (1.0, 5.0, -0.0)]
    rows += [("equal y", 4.0, each, 2) for each in (1.0, 5.0, -0.0)]
    rows += [("nan", 1.0, 2.0, None), ("nan", math.nan, 3.0, 2**53 + 1), ("nan", 8.0, 3.0, -5)]
    rows += [("infinite", 1.0, 2.0, 1), ("infinite", 2.0, math.inf, 2), ("infinite", 8.0, -math.inf, 2)]
    rows += [("nothing", None, 2.0, None), ("nothing", 3.0, None, None)]
    draw.shuffle(rows)  # type: ignore[arg-type]
    group, y, x, i = zip(*rows, strict=True)
    return pa.table(
        {
            "g": pa.array([str(each) for each in group]),
            "y": pa.array([None if each is None else float(each) for each in y], pa.float64()),
            "x": pa.array([None if each is None else float(each) for each in x], pa.float64()),
            "i": pa.array([None if each is None else int(each) for each in i], pa.int64()),
        }
    )


def measures() -> list[str]:
    ones = [*(f"{function}(x)" for function in OF_ONE_COLUMN), "stddev(i)"]
    twos = [f"{function}({columns})" for function in OF_TWO_COLUMNS for columns in ("y, x", "i, y")]
    return [*ones, *twos, "corr(y, x) FILTER (WHERE x > 100000)"]


def rows_of(given: pa.Table, by: str, texts: list[str]) -> dict[Any, list[Any]]:
    """Return the measures by group, folded in small parts."""
    plain = {"dimensions": [[by]], "measures": [f"{text} AS m{place}" for place, text in enumerate(texts)]}
    cube = Cube(CubeDefinition.parse(plain, needs_time=False), given.schema)
    for start in range(0, given.num_rows, 37_000 if given.num_rows > 10_000 else 37):
        cube.fold(given.slice(start, 37_000 if given.num_rows > 10_000 else 37))
    answered = cube.query({"by": [[by]], "limit": 10_000})["rows"]
    return {row["group"][by]: [row[f"m{place}"] for place in range(len(texts))] for row in answered}


def is_near(found: Any, expected: Any, scale: float) -> bool:
    """Return whether two answers agree. ``scale``: the magnitude of what a difference was rounded in."""
    if expected is None or found is None:
        return found is expected
    number = float(found)
    if not math.isfinite(expected):
        return number == expected or (math.isnan(number) and math.isnan(expected))
    return abs(number - expected) <= TOLERANCE * max(abs(expected), scale)


@pytest.mark.spark
def test_each_statistic_is_that_of_spark(spark: SparkSession) -> None:
    rows, texts = table(), measures()
    found = rows_of(rows, "g", texts)
    assert found.keys() == set(GROUPS)
    spark.createDataFrame(rows).createOrReplaceTempView("statistic_rows")
    columns = ", ".join(f"{text} AS m{place}" for place, text in enumerate(texts))
    previous = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", "false")  # as the broker does: corr of equal values would throw
    try:
        expected = spark.sql(f"SELECT g, {columns} FROM statistic_rows GROUP BY g").collect()
    finally:
        spark.conf.set("spark.sql.ansi.enabled", previous)
    for row in expected:
        for place, text in enumerate(texts):
            # An intercept of Spark is the difference of two products of this magnitude.
            scale = 1e6 if "intercept" in text else 0.0
            assert is_near(found[row["g"]][place], row[place + 1], scale), (row["g"], text)


def test_each_statistic_of_flights_is_that_of_duckdb(full_size: bool) -> None:
    given = REAL_DATA["flights"](None).select(["origin", "carrier", "arr_delay", "air_time", "distance"])
    texts = [f"{function}(arr_delay)" for function in OF_ONE_COLUMN]
    texts += [f"{function}(air_time, distance)" for function in OF_TWO_COLUMNS]
    found = rows_of(given, "carrier", texts)
    with duckdb.connect() as connection:
        connection.register("given", given)
        rows = connection.execute(f"SELECT carrier, {', '.join(texts)} FROM given GROUP BY carrier").fetchall()
    assert len(rows) == len(found) > 10
    compared = 0
    for carrier, *values in rows:
        for own, value in zip(found[carrier], values, strict=True):
            # DuckDB has NaN for some of Spark's NULLs.
            if value is not None and math.isfinite(value):
                assert is_near(own, value, 1e-3), (carrier, own, value)
                compared += 1
    assert compared > 10 * len(texts)
