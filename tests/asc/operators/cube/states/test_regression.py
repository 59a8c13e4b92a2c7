"""Multiple regression against scikit-learn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression

from asc.frozen import frozen
from asc.operators.cube.states.moments import Moments
from asc.operators.cube.states.regression import Regression

Table = npt.NDArray[np.float64]


def states_of(cells: list[Table]) -> tuple[Moments, pa.Array]:
    """Return the states of cells, each with the rows of a table whose first column is y."""
    table = np.concatenate(cells)
    state = Moments(table.shape[1])
    values = state.together([state.values(pa.array(column)) for column in table.T])
    places = np.repeat(np.arange(len(cells), dtype=np.int32), [len(cell) for cell in cells])
    return state, state.fold(values, frozen(np.arange(len(table))), frozen(places), len(cells))


def regression(*cells: Table) -> list[Any]:
    state, states = states_of(list(cells))
    size = cells[0].shape[1]
    found = Regression(tuple(range(size)), tuple(f"x{n}" for n in range(1, size)))
    answers = found.of(state, states)
    assert answers.type == found.type
    listed: list[Any] = answers.to_pylist()
    return listed


def normal(rows: int, columns: int, seed: int = 3, mean: float = 0.0) -> Table:
    draw = np.random.default_rng(seed)
    xs = draw.normal(size=(rows, columns - 1)) + draw.normal(size=(rows, 1))
    y = xs @ np.arange(1.0, columns) + draw.normal(size=rows)
    return np.column_stack((y, xs)) + mean


def expected(table: Table) -> tuple[float, list[float], float]:
    fit = LinearRegression().fit(table[:, 1:], table[:, 0])
    return float(fit.intercept_), fit.coef_.tolist(), float(fit.score(table[:, 1:], table[:, 0]))


@pytest.mark.parametrize("columns", range(2, 9))
@pytest.mark.parametrize("mean", [0.0, 1e9])
def test_a_regression_is_that_of_scikit_learn(columns: int, mean: float) -> None:
    cells = [normal(400, columns, seed, mean) for seed in range(3)]
    for cell, found in zip(cells, regression(*cells), strict=True):
        intercept, coefficients, share = expected(cell)
        assert found["count"] == 400
        assert list(found["coefficients"]) == [f"x{n}" for n in range(1, columns)]
        assert list(found["coefficients"].values()) == pytest.approx(coefficients, rel=1e-7 if mean else 1e-11)
        assert found["r2"] == pytest.approx(share, rel=1e-7 if mean else 1e-11)
        assert found["intercept"] == pytest.approx(intercept, rel=1e-6 if mean else 1e-9, abs=1e-12)


def test_a_regression_is_right_far_from_zero() -> None:
    """The same deviations have the same coefficients, with a mean of 0 and with a mean of 1e9 that is added exactly."""
    near = np.round(normal(300, 4) * 2.0**20) / 2.0**20
    (at_zero,), (away,) = regression(near), regression(near + 2.0**30)
    assert away["coefficients"] == at_zero["coefficients"]
    assert away["r2"] == at_zero["r2"]


@pytest.mark.parametrize(
    "dependent",
    [
        lambda xs: xs[:, 0],
        lambda xs: 2.0 * xs[:, 0] - 3.0,
        lambda xs: xs[:, 0] + 0.1 * xs[:, 1],
        lambda xs: xs[:, 0] + 1e-7 * np.random.default_rng(1).normal(size=len(xs)),
        lambda xs: np.full(len(xs), 7.0),
    ],
)
@pytest.mark.parametrize("mean", [0.0, 1e6])
def test_dependent_columns_have_no_regression(dependent: Any, mean: float) -> None:
    table = normal(200, 3, mean=mean)
    assert regression(np.column_stack((table, dependent(table[:, 1:])))) == [None]
    assert regression(np.column_stack((table[:, 0], dependent(table[:, 1:]), table[:, 1:]))) == [None]


def test_nearly_dependent_columns_have_a_regression() -> None:
    table = normal(500, 3)
    noise = np.random.default_rng(2).normal(size=500)
    nearly = np.column_stack((table, table[:, 1] + 1e-4 * noise))
    (found,) = regression(nearly)
    intercept, coefficients, share = expected(nearly)
    assert list(found["coefficients"].values()) == pytest.approx(coefficients, rel=1e-5)
    assert found["r2"] == pytest.approx(share, rel=1e-9)
    assert found["intercept"] == pytest.approx(intercept, rel=1e-6)


def test_cells_with_too_few_rows_have_no_regression() -> None:
    table = normal(4, 4)
    found = regression(table[:3], table)
    assert found[0] is None
    # Four rows determine an intercept and three coefficients.
    assert found[1]["r2"] == pytest.approx(1.0)


def test_a_constant_is_explained_by_its_mean() -> None:
    table = normal(50, 3)
    table[:, 0] = 7.5
    (found,) = regression(table)
    assert (found["intercept"], found["coefficients"], found["r2"]) == (7.5, {"x1": 0.0, "x2": 0.0}, None)


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_infinities_make_nan(value: float) -> None:
    table = normal(50, 3)
    table[7, 2] = value
    (found,) = regression(table)
    assert all(map(math.isnan, (found["intercept"], found["r2"], *found["coefficients"].values())))


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_magnitudes_do_not_matter(scale: float) -> None:
    table = normal(60, 3)
    (found,), (plain,) = regression(table * np.array([1.0, scale, 1.0])), regression(table)
    assert found["coefficients"]["x1"] * scale == pytest.approx(plain["coefficients"]["x1"], rel=1e-12)
    assert found["coefficients"]["x2"] == pytest.approx(plain["coefficients"]["x2"], rel=1e-12)
    assert found["r2"] == pytest.approx(plain["r2"], rel=1e-12)
