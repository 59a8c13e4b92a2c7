"""Errors of bins over counted records, recomputed by NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from asc.operators.cube.bin_report import BinCounts, bin_counts
from asc.operators.cube.binned import bins_of
from asc.operators.cube.computed.bins import BinDimension
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.part import Part
from asc.operators.cube.question import Question


def counts_of(text: str, values: list[float | None], parts: int = 3) -> tuple[BinDimension, BinCounts]:
    """Return the bins in a text, and their counts over values that are folded in parts."""
    definition = CubeDefinition.parse({"dimensions": [["g"], [text]], "measures": ["count(*)"]}, needs_time=False)
    cube = Cube(definition, "g INT, x DOUBLE")
    groups = pa.array([place % 5 for place in range(len(values))], pa.int32())
    table = pa.table({"g": groups, "x": pa.array(values, pa.float64())})
    for part in range(parts):
        cube.fold(table.take(pa.array(range(part, len(values), parts), pa.int64())))
    (dimension,) = bins_of(definition)
    question = Question.parse({"by": [dimension.levels[-1]]}, definition)
    return dimension, bin_counts(cube.layout, dimension, [Part.base(cube.layout, cube.cells)], question)


def test_the_errors_are_those_of_numpy() -> None:
    values = np.random.default_rng(2).normal(10, 3, size=4_000)
    sampled = BinDimension("x", 16, "x").with_edges_of(pa.array(values[:1_000]))
    assert sampled.edges is not None
    assert sampled.sample is not None
    dimension, found = counts_of(sampled.text, [*values.tolist(), None])
    assert dimension == sampled
    bins = np.searchsorted(sampled.edges.edges, values, side="right")
    means = np.array([values[bins == own].mean() for own in range(16)])
    rmse = math.sqrt(((values - means[bins]) ** 2).mean())
    assert found.errors is not None
    assert (found.values, found.not_finite) == (4_000, 0)
    assert found.errors.rmse == pytest.approx(rmse, rel=1e-9)
    assert found.errors.rmse_sd == pytest.approx(rmse / values.std(), rel=1e-9)
    assert found.errors.nrmse == pytest.approx(rmse / (sampled.sample.greatest - sampled.sample.least), rel=1e-9)
    assert [count for _, count in found.rows] == np.bincount(bins).tolist()


def test_bins_with_infinities_are_counted_and_left_out_of_errors() -> None:
    _, found = counts_of("bins(x, 4, [1, 2, 3])", [0.0, 0.5, 1.5, math.inf, 7.0, math.nan, None])
    assert (found.values, found.not_finite) == (3, 3)
    plain: Any = found.plain()
    assert plain["bins"] == [
        {"low": "-Infinity", "values": 2},
        {"low": 1.0, "values": 1},
        {"low": 3.0, "values": 3},
    ]
    # Without a sample, there is no range.
    assert plain["errors"]["nrmse"] is None
    assert plain["errors"]["rmse"] == pytest.approx(math.sqrt(0.125 / 3))


def test_without_values_there_are_no_errors() -> None:
    _, found = counts_of("bins(x, 2, [1])", [None, None])
    assert found.plain() == {"values": 0, "not_finite": 0, "errors": None, "bins": []}
