"""The reference against scikit-learn, number for number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.operators.dbscan import reference
from asc.operators.dbscan.reference import (
    Cluster,
    count_windows,
    evolved,
    labels,
    neighbours,
    time_windows,
)
from tests.asc.operators.dbscan.label_methods import by_scikit_learn


@given(
    attributes=st.integers(1, 8),
    flat=st.lists(st.integers(0, 6), min_size=8, max_size=400),
    eps=st.sampled_from([1, 2, 3]),
    min_samples=st.integers(1, 12),
)
def test_labels_on_grids_equal_scikit_learn(attributes: int, flat: list[int], eps: int, min_samples: int) -> None:
    points = np.array(flat[: len(flat) // attributes * attributes], dtype=np.float64).reshape(-1, attributes)
    found, _ = labels(points, eps, min_samples)
    assert np.array_equal(found, by_scikit_learn(points, eps, min_samples))


@pytest.mark.parametrize("eps", [0.1, 0.2, 0.1 * np.sqrt(2), 0.3])
@pytest.mark.parametrize("min_samples", [1, 2, 4, 5, 9])
def test_ties_on_a_grid_of_tenths_equal_scikit_learn(eps: float, min_samples: int) -> None:
    grid = np.array([(i * 0.1, j * 0.1) for i in range(20) for j in range(20)])
    points = grid[np.random.default_rng(0).permutation(len(grid))[:250]]
    found, _ = labels(points, eps, min_samples)
    assert np.array_equal(found, by_scikit_learn(points, eps, min_samples))


@pytest.mark.parametrize("origin", [(451_234.567, 5_261_890.123), (1_533_100_800.25, 46.9)], ids=["utm", "seconds"])
def test_large_coordinates_lose_no_digits(origin: tuple[float, float]) -> None:
    points = np.random.default_rng(1).integers(0, 40, (400, 2)) * 0.25 + np.array(origin)
    for min_samples in (1, 2, 5, 12):
        found, _ = labels(points, 0.5, min_samples)
        assert np.array_equal(found, by_scikit_learn(points, 0.5, min_samples))


def test_differences_are_squared_and_summed_in_the_order_of_the_attributes() -> None:
    # After the large square each small one is lost, before it they count together.
    small = np.sqrt(0.75 * 2.0**-53)
    near = np.array([[0.0, 0.0, 0.0], [1.0, small, small]])
    assert neighbours(near, 1.0).all()
    assert not neighbours(near[:, ::-1], 1.0).all()


def test_a_border_point_goes_to_the_lowest_label_that_reaches_it_in_every_order() -> None:
    left, right, between = [(-1.5, 0), (-2.5, 0), (-2, 1), (-2, -1)], [(1.5, 0), (2.5, 0), (2, 1), (2, -1)], [(0, 0)]
    for order in ((left, between, right), (right, between, left), (between, left, right), (between, right, left)):
        points = np.array([point for group in order for point in group], dtype=np.float64)
        found, core = labels(points, 1.5, 4)
        place = sum(len(group) for group in order[: order.index(between)])
        first = next(group for group in order if group is not between)
        assert not core[place]
        assert found[place] == found[points.tolist().index(list(first[0]))] == 0
        assert np.array_equal(found, by_scikit_learn(points, 1.5, 4))


def test_time_windows_begin_with_the_first_point_and_tell_one_empty_window_of_each_gap() -> None:
    times = np.array([7, 9, 31])
    found = [(begin, end, rows.tolist()) for begin, end, rows in time_windows(times, 10, 5, 46)]
    assert found == [
        (0, 10, [0, 1]),
        (5, 15, [0, 1]),
        (10, 20, []),
        (25, 35, [2]),
        (30, 40, [2]),
        (35, 45, []),
    ]


def test_count_windows_are_full() -> None:
    assert [(first, last, rows.tolist()) for first, last, rows in count_windows(8, 4, 3)] == [
        (1, 4, [0, 1, 2, 3]),
        (4, 7, [3, 4, 5, 6]),
    ]


def of(core: str, border: str = "") -> Cluster:
    return Cluster(frozenset(map(ord, core + border)), frozenset(map(ord, core)))


def test_most_common_core_points_keep_an_id() -> None:
    old = {(10, 0): of("abcd"), (10, 1): of("xy"), (20, 0): of("z")}
    ids, related = evolved(old, {0: of("ab"), 1: of("cdxy"), 2: of("q")}, 30)
    # (10, 0) shares two with both, and the lower label has it.
    assert ids == {0: (10, 0), 1: (10, 1), 2: (30, 2)}
    assert related == {0: [(10, 0)], 1: [(10, 0), (10, 1)], 2: []}


def test_without_common_core_points_all_common_points_count() -> None:
    old = {(10, 0): of("ab", "c"), (10, 1): of("x", "c")}
    ids, related = evolved(old, {0: of("cd"), 1: of("x")}, 20)
    # x relates the second old cluster to a cluster; the first one has no such relation, as the new one of c.
    assert ids == {0: (10, 0), 1: (10, 1)}
    assert related == {0: [(10, 0)], 1: [(10, 1)]}


def test_the_definition_has_at_most_100_lines() -> None:
    # So that a reader can compare it with the page.
    assert len(Path(reference.__file__).read_text(encoding="utf-8").splitlines()) <= 100
