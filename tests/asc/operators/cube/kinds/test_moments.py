"""Co-moments of several columns: the declaration ``stats``, and the questions to its state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.kinds.moments import COLUMNS_MAX, DEVIATIONS_MAX

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
        ("stats(x)", f"measure 'stats(x)': has one column: give 2 to {COLUMNS_MAX}, as in stats(x, y, z)"),
        (f"stats({', '.join(f'x + {n}' for n in range(COLUMNS_MAX + 1))})", "has 9 columns: give 2 to 8"),
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


@pytest.mark.parametrize("draw", ["normal", "exponential", "standard_cauchy"])
@pytest.mark.parametrize("deviations", [1.5, 2, 3])
def test_at_most_the_promised_share_is_outside_the_bounds(draw: str, deviations: float) -> None:
    x = getattr(np.random.default_rng(7), draw)(size=2_000)
    table = pa.table({"s": ["a"] * 2_000, "x": x, "y": x})
    text = f"bounds(x, {deviations})"
    (row,) = cube(["stats(x, y)"], table).query({"measures": [text]})["rows"]
    found = row[text]
    assert found["estimate"] == pytest.approx(x.mean())
    assert found["high"] - found["estimate"] == pytest.approx(deviations * x.std(ddof=1))
    assert found["confidence"] == pytest.approx(1 - 1 / deviations**2)
    assert np.mean((x < found["low"]) | (x > found["high"])) <= 1 / deviations**2


def test_bounds_are_right_far_from_zero() -> None:
    x = np.random.default_rng(7).normal(1e9, 1.0, size=10_000)
    table = pa.table({"s": ["a"] * 10_000, "x": x, "y": x})
    (row,) = cube(["stats(x, y) AS st"], table, parts=7).query({"measures": ["st", "bounds(x, 2)", "mean(x)"]})["rows"]
    deviation = (x - 1e9).std(ddof=1)
    assert row["bounds(x, 2)"]["high"] - row["mean(x)"] == pytest.approx(2 * deviation, rel=1e-6)
    assert row["st"]["columns"]["x"]["stddev"] == pytest.approx(deviation, rel=1e-12)
    of_summary = row["st"]["columns"]["x"]
    assert [of_summary[name] for name in ("low", "high")] == [row["bounds(x, 2)"][name] for name in ("low", "high")]


def test_cells_without_and_with_one_complete_row() -> None:
    table = pa.table({"s": ["a", "b"], "x": [1.0, None], "y": [2.0, 3.0]})
    names = ["stats(x, y)", "bounds(x, 2)", "mean(x)", "regression(y, x)"]
    alone, none = cube(["stats(x, y)"], table).query({"by": ["s"], "measures": names})["rows"]
    assert alone["bounds(x, 2)"] == {"estimate": 1.0, "low": None, "high": None, "confidence": 0.75}
    assert alone["stats(x, y)"]["columns"]["y"]["stddev"] is None
    assert alone["regression(y, x)"] is None
    assert none["stats(x, y)"] == {"count": 0, "columns": {"x": None, "y": None}}
    assert (none["bounds(x, 2)"], none["mean(x)"], none["regression(y, x)"]) == (None, None, None)


def test_a_regression_of_one_column_is_that_of_spark() -> None:
    names = ["regression(x, z)", "regr_slope(x, z)", "regr_intercept(x, z)", "regr_r2(x, z)"]
    (row,) = cube(["stats(x, y, z)"], normal(500)).query({"measures": names})["rows"]
    found, slope, intercept, share = (row[name] for name in names)
    assert found["coefficients"]["z"] == pytest.approx(slope)
    assert found["intercept"] == pytest.approx(intercept)
    assert found["r2"] == pytest.approx(share)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("bounds(x)", "measure 'bounds(x)': has one argument: write bounds(x, 3)"),
        ("bounds(x, y)", "has 'y', which is no constant: write bounds(x, 3)"),
        ("bounds(x, 1)", "has 1 standard deviations: give a number above 1, at most 1,000,000, as bounds(x, 3)"),
        (f"bounds(x, {DEVIATIONS_MAX + 1})", f"has {DEVIATIONS_MAX + 1} standard deviations"),
        ("bounds(x, 1e7)", "has 10000000.0 standard deviations"),
        ("bounds(x, '3')", "has '3' standard deviations"),
        ("bounds(x, true)", "has True standard deviations"),
        ("regression(x)", "has one column: give 2 to 8, as in regression(y, x1, x2)"),
        ("regression(x, y, X)", "has a column twice: name each once"),
        ("regression(x, y, w)", "declare the measure stats(x, y, w)"),
        ("mean(w)", "needs a state that the cube does not keep: declare the measure stddev(w)"),
        ("corr(x, 1)", "declare the measure stats(x, 1)"),
    ],
)
def test_a_question_is_refused_in_one_line(call: str, said: str) -> None:
    with pytest.raises(CubeError) as caught:
        cube(["stats(x, y)"], normal(9)).query({"measures": [call]})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
