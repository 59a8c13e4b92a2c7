"""Cubes against other engines: recorded tuples in DuckDB, and what Spark has otherwise than it.

Of Spark are the groups of NaN and of both zeros, the order of texts, and averages of decimals. The connections of KDD
Cup 1999 are read from the folder that ``ASC_DATA_DIR`` names, for none are packaged.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.json_values import plain_values
from workloads.real_data import CONNECTIONS_FILE, REAL_DATA, VARIABLE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 400
MEASURES = {
    "n": "count(*)",
    "short": "sum(price)",
    "mean_short": "avg(price)",
    "mean_long": "avg(long)",
    "mean_i": "avg(i)",
    "least_s": "min(s)",
    "most_s": "max(s)",
    "least_x": "min(x)",
    "most_x": "max(x)",
    "least_long": "min(long)",
    "most_flag": "max(flag)",
    "late": "count(*) FILTER (WHERE i > 0)",
    "some": "sum(price) FILTER (WHERE s >= 'b' OR flag)",
}


def table() -> pa.Table:
    """Return rows with NULL, NaN, both zeros and texts beyond the first plane."""
    draw = np.random.default_rng(5)

    def chosen(values: list[Any], kind: pa.DataType) -> pa.Array:
        return pa.array([values[place] for place in draw.integers(0, len(values), ROWS)], kind)

    def decimals(digits: int, scale: int) -> pa.Array:
        numbers = [int(draw.integers(-(10**9), 10**9)) * 10 ** (digits - 9) // 7 for _ in range(ROWS)]
        values = [None if draw.random() < 0.1 else Decimal(number).scaleb(-scale) for number in numbers]
        return pa.array(values, pa.decimal128(digits, scale))

    return pa.table(
        {
            "s": chosen(["a", "b", "", "é", "\uffff", "\U00010000", None], pa.string()),
            "x": chosen([0.0, -0.0, 1.5, math.nan, math.inf, -math.inf, None], pa.float64()),
            "flag": chosen([True, False, None], pa.bool_()),
            "i": chosen([1, -5, 2**40, None], pa.int64()),
            "price": decimals(10, 2),
            "long": decimals(28, 10),
        }
    )


@pytest.mark.spark
@pytest.mark.parametrize("by", [[], ["s"], ["x"], ["flag", "x"]], ids=lambda by: ",".join(by) or "()")
def test_a_cuboid_is_what_spark_groups(spark: SparkSession, by: list[str]) -> None:
    rows = table()
    plain = {"dimensions": [["s"], ["flag"], ["x"]], "measures": [f"{f} AS {name}" for name, f in MEASURES.items()]}
    cube = Cube(CubeDefinition.parse(plain, needs_time=False), rows.schema)
    for start in range(0, ROWS, 90):
        cube.fold(rows.slice(start, 90))
    found = [{**row.pop("group"), **row} for row in cube.query({"by": by, "limit": 10_000})["rows"]]
    columns = [*by, *(f"{f} AS {name}" for name, f in MEASURES.items())]
    group = f"GROUP BY {', '.join(by)} ORDER BY {', '.join(by)}" if by else ""
    spark.createDataFrame(rows).createOrReplaceTempView("rows")
    grouped = spark.sql(f"SELECT {', '.join(columns)} FROM rows {group}").toArrow()
    expected = {name: plain_values(one_zero(grouped[name].combine_chunks())) for name in grouped.column_names}
    for name, values in expected.items():
        assert [row[name] for row in found] == values, name


def one_zero(values: pa.Array) -> pa.Array:
    """Return floats without a negative zero, which Spark's min and max may give."""
    if not pa.types.is_floating(values.type):
        return values
    return pa.array([None if value is None else value + 0.0 for value in values.to_pylist()], values.type)


RECORDED: tuple[tuple[str, list[list[str]], list[str]], ...] = (
    ("census", [["industry", "occupation"], ["employer_size"], ["age"]], ["wage_per_hour", "weeks_worked"]),
    ("flights", [["origin", "dest"], ["carrier"], ["month", "day"]], ["arr_delay", "air_time"]),
    ("KDD Cup 99", [["protocol_type", "service"], ["flag"], ["logged_in"], ["label"]], ["src_bytes", "dst_bytes"]),
)
GATE_CONNECTIONS = 40_000
"""The connections that the gate takes; those of all are in the nightly tests."""


def recorded(name: str, full_size: bool) -> pa.Table:
    """Return recorded tuples: whole tables at full size, where ASC_DATA_DIR names a folder that has them."""
    folder = Path(os.environ[VARIABLE]) if VARIABLE in os.environ else None
    if name != "KDD Cup 99":
        return REAL_DATA[name](folder if full_size else None)
    if folder is None or not (folder / CONNECTIONS_FILE).is_file():
        pytest.skip(f"{CONNECTIONS_FILE} is in no folder that {VARIABLE} names: see workloads/real_data.py")
    found = REAL_DATA[name](folder)
    # Connections of one kind follow one another.
    return found if full_size else found.take(np.arange(0, found.num_rows, found.num_rows // GATE_CONNECTIONS))


def cube_of(given: pa.Table, dimensions: list[list[str]], measures: Sequence[str]) -> Cube:
    """Return the cube of a table that is folded in parts."""
    plain = {"dimensions": dimensions, "measures": measures}
    cube = Cube(CubeDefinition.parse(plain, needs_time=False), given.schema)
    for start in range(0, given.num_rows, 50_000):
        cube.fold(given.slice(start, 50_000))
    return cube


@pytest.mark.parametrize(("name", "dimensions", "values"), RECORDED, ids=[name for name, *_ in RECORDED])
def test_every_cuboid_of_recorded_tuples_is_that_of_duckdb(
    name: str, dimensions: list[list[str]], values: list[str], full_size: bool
) -> None:
    given = recorded(name, full_size)
    measures = [f"{function}({value})" for value in values for function in ("count", "sum", "min", "max")]
    cube = cube_of(given, dimensions, ["count(*) AS n", *measures])
    own = cube.definition.dimensions
    for cuboid in own.cuboids():
        by = [own.names[place] for place in own.columns(cuboid)]
        found = cube.query({"by": by, "limit": 100_000})
        rows = [(*row.pop("group").values(), *row.values()) for row in found["rows"]]
        assert rows == grouped(given, by, measures)[:100_000]


def test_sums_of_recorded_doubles_are_within_an_ulp_of_the_exact_ones(full_size: bool) -> None:
    given = recorded("KDD Cup 99", full_size)
    rates = ["serror_rate", "same_srv_rate", "dst_host_srv_diff_host_rate"]
    cube = cube_of(given, [["service"], ["flag"]], [f"sum({rate}) AS {rate}" for rate in rates])
    for by in ([], ["flag"], ["service", "flag"]):
        found = [[row[rate] for rate in rates] for row in cube.query({"by": by, "limit": 100_000})["rows"]]
        order = f" GROUP BY {', '.join(by)} ORDER BY {', '.join(f'{each} NULLS FIRST' for each in by)}" if by else ""
        with duckdb.connect() as connection:
            connection.register("given", given)
            lists = connection.execute(f"SELECT {', '.join(f'list({rate})' for rate in rates)} FROM given{order}")
            exact = [[math.fsum(values) for values in row] for row in lists.fetchall()]
        assert len(found) == len(exact)
        for ours, theirs in zip(found, exact, strict=True):
            assert all(abs(one - other) <= math.ulp(other) for one, other in zip(ours, theirs, strict=True))


def grouped(given: pa.Table, by: Sequence[str], measures: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the groups that DuckDB makes, in the order of their keys, NULL first."""
    order = f" GROUP BY {', '.join(by)} ORDER BY {', '.join(f'{name} NULLS FIRST' for name in by)}" if by else ""
    with duckdb.connect() as connection:
        connection.register("given", given)
        return connection.execute(f"SELECT {', '.join([*by, 'count(*)', *measures])} FROM given{order}").fetchall()
