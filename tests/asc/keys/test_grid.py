"""Grids: the regions of Definition 1 and bounded ones, looked up by the kernels as by numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.errors import PlanError
from asc.keys.grid import KEY_MAX, KEY_MIN, Grid, Keys
from asc.keys.key_kernels import regions_by_cells, regions_by_table

keys = st.one_of(
    st.integers(-50, 50),
    st.integers(KEY_MIN, KEY_MAX),
    st.sampled_from((KEY_MIN, KEY_MIN + 1, KEY_MAX - 1, KEY_MAX)),
    st.integers(-3, 3).map(lambda step: step * 100_000),
)


def looked_up(grid: Grid, values: Keys) -> list[int]:
    regions = np.empty(len(values), dtype=np.uint16)
    if grid.shift:
        regions_by_cells(values, grid.boundaries, grid.origin, grid.shift, grid.table, regions)
    else:
        regions_by_table(values, grid.origin, grid.table, regions)
    return regions.tolist()


@settings(deadline=None)  # the first call compiles
@given(st.sets(keys, max_size=40), st.lists(keys, max_size=40))
def test_exact_regions_are_constants_and_gaps(constants: set[int], values: list[int]) -> None:
    ordered = np.array(sorted(constants), dtype=np.int64)
    grid = Grid.of_constants(ordered)
    assert grid.constants().tolist() == sorted(constants)
    expected = [2 * sum(c < value for c in constants) + (value in constants) for value in values]
    assert grid.regions_of(np.array(values, dtype=np.int64)).tolist() == expected
    assert looked_up(grid, np.array(values, dtype=np.int64)) == expected


@settings(deadline=None)  # the first call compiles
@given(st.lists(keys, max_size=60), st.lists(keys, max_size=40), st.integers(1, 12))
def test_bounded_regions(cuts: list[int], values: list[int], regions: int) -> None:
    grid = Grid.of_cuts(np.array(cuts, dtype=np.int64), regions)
    assert 1 <= grid.regions <= regions
    assert set(grid.boundaries.tolist()) <= set(cuts)
    if cuts and regions > 2:
        assert {min(cuts), max(cuts)} <= set(grid.boundaries.tolist())
    if len(set(cuts)) < regions:
        assert grid.boundaries.tolist() == sorted(set(cuts))
    assert (
        looked_up(grid, np.array(values, dtype=np.int64)) == grid.regions_of(np.array(values, dtype=np.int64)).tolist()
    )


def test_quantiles_share_the_cuts_evenly() -> None:
    grid = Grid.of_cuts(np.arange(0, 1_000_000, 7), 10)
    # The outermost cuts are boundaries.
    assert grid.boundaries[[0, -1]].tolist() == [0, 999_999]
    assert np.diff(grid.boundaries).tolist() == pytest.approx([125_000] * 8, abs=20)


def test_tables_stay_small() -> None:
    grid = Grid.of_cuts(np.arange(0, 1_000_000, 1_000), 64)
    assert grid.shift > 0
    assert grid.table.nbytes <= 64 * 2 * 20


def test_bounded_regions_have_no_constants() -> None:
    with pytest.raises(PlanError, match="bounded regions"):
        Grid.of_cuts(np.array([1, 2, 3]), 2).constants()


def test_has_boundary() -> None:
    grid = Grid.of_constants(np.array([30, 50]))
    assert grid.has_boundary(np.array([29, 30, 31, 32, 50, 51, 52])).tolist() == [
        False,
        True,
        True,
        False,
        True,
        True,
        False,
    ]
    assert not Grid.of_constants(np.empty(0, dtype=np.int64)).has_boundary(np.array([1])).any()
