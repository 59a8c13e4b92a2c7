"""Bins as a dimension: their texts, their keys, and cubes over them against DuckDB."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.errors import CubeError
from asc.operators.cube.computed.bin_edges import BinEdges, levels_of
from asc.operators.cube.computed.bins import BinDimension
from asc.operators.cube.computed.table import computed_dimension
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition

FLOATS = st.none() | st.floats() | st.sampled_from([0.0, -0.0, 1.0, 2.0, 3.0])
GIVEN = "bins(x, 4, [1, 2, 3])"


def bins(text: str) -> BinDimension:
    """Return the bins in a text."""
    found = computed_dimension(text)
    assert isinstance(found, BinDimension)
    return found


def test_a_text_has_one_form_that_is_read_again() -> None:
    for text, form in (
        ("bins( temp , 16 )", "bins(temp, 16) AS temp"),
        ("BINS(a + b) AS total", "bins(a + b) AS total"),
        (GIVEN, "bins(x, 4, [1.0, 2.0, 3.0]) AS x"),
        ("bins(x, fewest, [1e300])", "bins(x, fewest, [1e+300]) AS x"),
        ("bins(x, 2, [-1.5e-7])", "bins(x, 2, [-1.5e-07]) AS x"),
        ("bins(time, 2)", "bins(time, 2) AS time"),
    ):
        assert bins(text).text == form
        assert bins(form) == bins(text)
    sampled = bins("bins(temp) AS t").with_edges_of(pa.array([1.5, None, -2.0, math.nan]))
    assert bins(sampled.text) == sampled
    assert (sampled.summary, sampled.without_edges()) == ("bins(temp) AS t", bins("bins(temp) AS t"))


def test_levels_are_named_by_their_bins() -> None:
    assert bins("bins(temp, 16) AS t").levels == ("t:2", "t:4", "t:8", "t:16")
    assert bins(GIVEN).levels == ("x:2", "x:4")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("bins()", r"dimension 'bins\(\)': has 1 arguments: write bins\(x\)"),
        ("bins(x, 12)", r"bins of 'x': 12: is no number of bins: give a power of two from 2 to 256"),
        ("bins(x, 512)", r"512: is no number of bins"),
        ("bins(x, 1)", r"1: is no number of bins"),
        ("bins(x, '4')", r"has \"'4'\" for a number of bins"),
        ("bins(x, 4, 5)", r"has '5' for its edges: write a list"),
        ("bins(x, 8, [1, 2, 3])", r"has 3 edges, which make 4 bins"),
        ("bins(x, 4, [1, 3, 2])", r"edges of dimension 'x': 2.0: is less than the edge before it, 3.0"),
        ("bins(x, 4, [1, 2, 3], [1])", r"has unreadable errors of a sample"),
        ("bins(x, 4, [1, 2, 3], [1, 2, 3, 4, 5], 6)", r"has 5 arguments"),
        ("bins(a + b, 4)", r"has no name: give one with AS"),
        (f"bins({'x' * 65}, 4)", r"has no name: give one with AS"),
    ],
)
def test_other_texts_are_refused(text: str, error: str) -> None:
    with pytest.raises(CubeError, match=error):
        bins(text)


@pytest.mark.parametrize("kind", [pa.string(), pa.timestamp("us", tz="UTC"), pa.bool_(), None])
def test_only_numbers_have_bins(kind: pa.DataType | None) -> None:
    with pytest.raises(CubeError, match=r"'bins\(x, 4\) AS x': takes a number, and x is .*: CAST it to DOUBLE"):
        bins("bins(x, 4)").check([kind])
    with pytest.raises(CubeError, match=r"takes a number"):
        bins("bins(x, 4)").with_edges_of(pa.nulls(1, kind or pa.list_(pa.int32())))


def test_without_edges_there_are_no_keys() -> None:
    with pytest.raises(CubeError, match=r"has no edges yet: publish records"):
        bins("bins(x, 4)").keys([pa.array([1.0])])


@given(st.lists(FLOATS), st.lists(st.floats(-5, 5), min_size=7, max_size=7).map(sorted))
def test_keys_are_lower_edges_in_the_order_of_the_bins(values: list[float | None], edges: list[float]) -> None:
    own = bins(f"bins(x, 8, {json.dumps(edges)})")
    for count, key in zip(levels_of(8), own.keys([pa.array(values, pa.float64())]), strict=True):
        lows = BinEdges(tuple(edge + 0.0 for edge in edges)).lows(count)
        expected = [None if value is None else _low(value, lows.tolist()) for value in values]
        assert key.array().to_pylist() == expected
        assert key.dictionary.to_pylist() == sorted(set(key.dictionary.to_pylist()))


def _low(value: float, lows: list[float]) -> float:
    return lows[-1] if math.isnan(value) else max(low for low in lows if low <= value)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 2, None, 40], pa.int32()),
        pa.array([1.0, 2.0, None, 40.0], pa.float32()),
        pa.array([Decimal("1.0"), Decimal("2.0"), None, Decimal("40.0")], pa.decimal128(10, 1)),
    ],
)
def test_each_kind_of_number_has_the_bins_of_its_double(column: pa.Array) -> None:
    (_, key) = bins(GIVEN).keys([column])
    assert key.array().to_pylist() == [1.0, 2.0, None, 3.0]


def test_a_sample_that_needs_more_bins_is_warned_of() -> None:
    spread = np.concatenate([np.arange(1_000.0), 1e6 * np.arange(1_000.0)])
    found = bins("bins(x)").with_edges_of(pa.array(spread))
    assert found.sample is not None
    assert found.warnings == ()
    (warning,) = replace(found, sample=replace(found.sample, rmse=found.sample.deviation / 5)).warnings
    assert "'bins(x) AS x': with 256 bins, the most there are, the error is" in warning
    assert "0.2 standard deviations, over 0.025 or 0.1" in warning


def test_a_coarse_level_is_the_same_as_direct_bins_and_as_duckdb() -> None:
    values = np.random.default_rng(1).normal(size=5_000).round(2)
    table = pa.table({"x": pa.array([*values.tolist(), None], pa.float64())})
    fine = bins("bins(x, 64)").with_edges_of(table["x"].combine_chunks())
    assert fine.edges is not None
    definition = {"dimensions": [[fine.text]], "measures": ["count(*) AS n"]}
    cube = Cube(CubeDefinition.parse(definition, needs_time=False), "x DOUBLE")
    for start in range(0, 5_001, 700):
        cube.fold(table.slice(start, 700))
    for count in levels_of(64):
        edges = fine.edges.edges_of(count).tolist()
        direct = Cube(
            CubeDefinition.parse(
                {**definition, "dimensions": [[f"bins(x, {count}, {json.dumps(edges)})"]]}, needs_time=False
            ),
            "x DOUBLE",
        )
        direct.fold(table)
        found = {row["group"][f"x:{count}"]: row["n"] for row in cube.query({"by": [f"x:{count}"]})["rows"]}
        assert found == {row["group"][f"x:{count}"]: row["n"] for row in direct.query({"by": [f"x:{count}"]})["rows"]}
        with duckdb.connect() as connection:
            connection.register("records", table)
            low = f"list_max(list_filter({edges}::DOUBLE[], lambda e: e <= x))"
            counts = connection.execute(f"SELECT x IS NULL, {low}, count(*) FROM records GROUP BY ALL").fetchall()
        expected = {None if is_null else ("-Infinity" if low is None else low): n for is_null, low, n in counts}
        assert found == expected
