"""Grids of points."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from asc.operators.dbscan.grid import Grid, reach_of, side_within
from asc.operators.dbscan.grid_kernels import cells_near
from asc.operators.dbscan.reference import neighbours

numbers = st.one_of(st.integers(-6, 6).map(lambda own: own * 0.25), st.floats(allow_nan=False, allow_infinity=False))


@given(
    attributes=st.integers(1, 8), flat=st.lists(numbers, max_size=80), radius=st.sampled_from([0.3, 1.0, 1e-160, 1e150])
)
def test_points_of_a_cell_are_neighbours_and_bins_far_apart_are_none(
    attributes: int, flat: list[float], radius: float
) -> None:
    points = np.array(flat[: len(flat) // attributes * attributes]).reshape(-1, attributes)
    near = neighbours(points, radius)
    small, wide = Grid.of(points, side_within(radius, attributes)), Grid.of(points, reach_of(radius))
    for grid in (small, wide):
        assert sorted(grid.order.tolist()) == list(range(len(points)))
        assert np.array_equal(grid.values, points[grid.order])
        assert grid.bins.tolist() == sorted(map(list, set(map(tuple, grid.bins.tolist()))))
        assert grid.starts[-1] == len(points)
    for low, high in zip(small.starts, small.starts[1:], strict=False):
        own = small.order[low:high]
        assert near[np.ix_(own, own)].all()
        assert own.tolist() == sorted(own)
    bins = np.empty((len(points), attributes), dtype=np.int64)
    bins[wide.order] = np.repeat(wide.bins, np.diff(wide.starts), axis=0)
    far = (np.abs(bins[:, np.newaxis] - bins) > 1).any(axis=2)
    assert not (far & near).any()


@given(attributes=st.integers(1, 5), flat=st.lists(st.integers(0, 6), max_size=200), reach=st.integers(1, 3))
def test_cells_near_a_cell_are_those_whose_bins_are_near(attributes: int, flat: list[int], reach: int) -> None:
    rows = {tuple(flat[n : n + attributes]) for n in range(0, len(flat) - attributes + 1, attributes)}
    bins = np.array(sorted(rows), dtype=np.int32).reshape(-1, attributes)
    ranges, found = np.empty((2, attributes), dtype=np.int64), np.empty(len(bins), dtype=np.int64)
    for cell in range(len(bins)):
        for last in (cell, len(bins) - 1):
            count = cells_near(bins, cell, reach, last, ranges, found)
            near = (np.abs(bins[: last + 1] - bins[cell]) <= reach).all(axis=1)
            assert found[:count].tolist() == np.flatnonzero(near).tolist()


def test_codes_of_many_bins_do_not_run_over() -> None:
    points = np.random.default_rng(0).random((3_000, 8))
    grid = Grid.of(points, 1e-9)
    assert grid.cells == 3_000
    assert (np.lexsort(grid.bins.T[::-1]) == np.arange(3_000)).all()
