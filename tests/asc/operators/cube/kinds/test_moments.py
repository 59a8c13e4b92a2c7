"""Co-moments of several columns: the declaration ``stats``, and the questions to its state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition

SCHEMA = "s STRING, x DOUBLE, y DOUBLE, z INT, t STRING"


def cube(measures: list[str], table: pa.Table, parts: int = 3) -> Cube:
    """Return a cube over a table, folded in parts."""
    found = Cube(CubeDefinition.parse({"dimensions": [["s"]], "measures": measures}, needs_time=False), table.schema)
    step = -(-len(table) // parts)
    for start in range(0, len(table), step):
        found.fold(table.slice(start, step))
    return found


def normal(count: int, mean: float = 0.0) -> pa.Table:
    draw = np.random.default_rng(5)
    x, y = draw.normal(mean, size=count), draw.normal(mean, size=count)
    z = 2 * x - 3 * y + draw.normal(size=count)
    return pa.table({"s": np.where(np.arange(count) % 3 == 0, "a", "b"), "x": x, "y": y, "z": z})


def test_only_complete_rows_count() -> None:
    table = pa.table(
        {
            "s": ["a"] * 4,
            "x": [1.0, 3.0, None, 100.0],
            "y": [2.0, 5.0, 9.0, None],
            "z": [0.5, 1.5, 7.0, 7.0],
        }
    )
    (row,) = cube(["stats(x, y, z) AS st"], table).query({"measures": ["st", "stddev(z)", "regr_count(x, x)"]})["rows"]
    assert row["st"]["count"] == row["regr_count(x, x)"] == 2
    assert [own["mean"] for own in row["st"]["columns"].values()] == [2.0, 3.5, 1.0]
    assert row["stddev(z)"] == pytest.approx(0.5**0.5)


def test_statistics_of_two_columns_are_those_of_numpy() -> None:
    table = normal(3_000, mean=1e9)
    rows = cube(["stats(x, y, z)"], table).query(
        {"by": ["s"], "measures": ["corr(z, x)", "covar_samp(z, y) AS both"], "order": ["both DESC"]}
    )["rows"]
    assert len(rows) == 2
    assert rows[0]["both"] > rows[1]["both"]
    for row in rows:
        own = table.filter(pa.compute.equal(table["s"], row["group"]["s"]))
        x, y, z = (own[name].to_numpy() - 1e9 * (name != "z") for name in "xyz")
        assert row["corr(z, x)"] == pytest.approx(np.corrcoef(z + 1e9, x)[0, 1], rel=1e-9)
        assert row["both"] == pytest.approx(np.cov(z + 1e9, y)[0, 1], rel=1e-6)


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("stats(x)", "measure 'stats(x)': has one column: give 2 to 8, as in stats(x, y, z)"),
        (f"stats({', '.join(f'x + {n}' for n in range(9))})", "has 9 columns: give 2 to 8"),
        ("stats(x, y, x)", "has a column twice: name each once"),
        ("stats(x, t)", "measure 'stats(x, t)': takes numbers, and t is STRING: CAST it"),
        ("stats(*)", "* goes with count alone"),
        ("stats(x, )", "has no argument"),
    ],
)
def test_a_declaration_is_refused_in_one_line(measure: str, said: str) -> None:
    with pytest.raises(CubeError) as caught:
        Cube(CubeDefinition.parse({"measures": [measure]}, needs_time=False), SCHEMA)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("order", [["st"], ["st DESC"], ["s", "st"]])
def test_rows_are_not_ordered_by_a_summary(order: Any) -> None:
    with pytest.raises(CubeError, match=r"^order 'st': has answers without an order: order by a count"):
        cube(["stats(x, y) AS st"], normal(9)).query({"by": ["s"], "order": order})


def test_rows_are_ordered_by_a_function_that_is_not_shown() -> None:
    asked = cube(["stats(x, y)", "count(*) AS n"], normal(90))
    rows = asked.query({"by": ["s"], "measures": ["n"], "order": ["corr(x,y) DESC"]})["rows"]
    shown = asked.query({"by": ["s"], "measures": ["n", "corr(x, y)"], "order": ["corr(x, y)"]})["rows"]
    assert [row["group"] for row in rows] == [row["group"] for row in shown[::-1]]
    with pytest.raises(CubeError, match="is named twice"):
        asked.query({"by": ["s"], "order": ["corr(x, y)", "CORR(x,y) DESC"]})
