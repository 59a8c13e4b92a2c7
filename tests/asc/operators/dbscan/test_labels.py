"""The contract of every way to compute labels: they equal scikit-learn's and the reference's, number for number."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.operators.dbscan.chains import Labels
from asc.operators.dbscan.labels import Setting, labels
from asc.operators.dbscan.reference import neighbours
from tests.asc.operators.dbscan.label_methods import METHODS, Floats, by_scikit_learn, heaps


def check(points: Floats, asked: Sequence[Setting]) -> list[Labels]:
    """Compare all ways with scikit-learn, and return the clusters of each setting."""
    wanted = [by_scikit_learn(points[own.first :], own.radius, own.min_samples) for own in asked]
    near = [neighbours(points[own.first :], own.radius) for own in asked]
    for name, method in METHODS.items():
        found = method(points, asked)
        assert len(found) == len(asked)
        for setting, own, numbers, nearby in zip(asked, found, wanted, near, strict=True):
            assert np.array_equal(own.labels, numbers), (name, setting)
            assert np.array_equal(own.is_core, nearby.sum(axis=1) >= setting.min_samples), (name, setting)
            assert own.clusters == own.labels.max(initial=-1) + 1, (name, setting)
            assert (own.labels.dtype, own.is_core.dtype) == (np.int32, np.bool_)
    return labels(points, asked)


@st.composite
def grids(draw: st.DrawFn) -> tuple[Floats, list[Setting]]:
    """Points on integer grids of one to eight attributes, with ties and repeats, and settings over them."""
    attributes = draw(st.sampled_from([1, 2, 2, 3, 5, 8]))
    flat = np.frombuffer(draw(st.binary(min_size=attributes, max_size=50 * attributes)), dtype=np.uint8)
    points = (flat[: len(flat) // attributes * attributes].reshape(-1, attributes) % draw(st.integers(1, 9))) * 1.0
    one = st.builds(Setting, st.sampled_from([1.0, 2.0, 3.0]), st.integers(1, 9), st.integers(0, len(points) - 1))
    return points, draw(st.lists(one, min_size=1, max_size=8))


@settings(max_examples=40)
@given(case=grids())
def test_labels_on_grids(case: tuple[Floats, list[Setting]]) -> None:
    check(*case)


def test_labels_of_ties_on_a_grid_of_tenths() -> None:
    grid = np.array([(i * 0.1, j * 0.1) for i in range(15) for j in range(15)])
    points = grid[np.random.default_rng(0).permutation(len(grid))[:150]]
    radii = (0.1, 0.2, 0.1 * np.sqrt(2), 0.3)
    check(points, [Setting(*own) for own in product(radii, (1, 2, 5, 9), (0, 9))])


@pytest.mark.parametrize("origin", [(451_234.567, 5_261_890.123), (1_533_100_800.25, 46.9)], ids=["utm", "seconds"])
def test_labels_of_large_coordinates(origin: tuple[float, float]) -> None:
    points = np.random.default_rng(1).integers(0, 25, (200, 2)) * 0.25 + np.array(origin)
    check(points, [Setting(radius, least) for radius in (0.25, 0.5, 1.5) for least in (1, 2, 5, 12)])


def test_a_border_point_between_two_clusters_in_four_orders() -> None:
    left, right, between = [(-1.5, 0), (-2.5, 0), (-2, 1), (-2, -1)], [(1.5, 0), (2.5, 0), (2, 1), (2, -1)], [(0, 0)]
    for order in ((left, between, right), (right, between, left), (between, left, right), (between, right, left)):
        points = np.array([point for group in order for point in group], dtype=np.float64)
        (found,) = check(points, [Setting(1.5, 4)])
        assert found.clusters == 2
        assert found.labels[points.tolist().index([0, 0])] == 0


def test_a_chain_of_border_points_connects_nothing() -> None:
    # Two clusters, and between them points that are near one of each other's borders, in four orders.
    left, right = [(0.0, y / 10) for y in range(6)], [(4.0, y / 10) for y in range(6)]
    between = [(1.0, 0.2), (2.0, 0.2), (3.0, 0.2)]
    for order in ((left, between, right), (right, between, left), (between, left, right), (left, right, between)):
        points = np.array([point for group in order for point in group])
        found = check(points, [Setting(1.0, 7), Setting(1.0, 3), Setting(1.0, 6)])
        assert [own.clusters for own in found] == [2, 1, 2]


@pytest.mark.parametrize("attributes", [1, 2, 3, 8])
def test_points_on_the_corners_of_a_cell_and_an_ulp_beside(attributes: int) -> None:
    radius = 0.75
    side = radius / np.sqrt(attributes)
    edges = [0.0, side, 2 * side, radius, 2 * radius, -side]
    beside = [float(np.nextafter(edge, towards)) for edge in edges for towards in (-9.0, 9.0)]
    random = np.random.default_rng(attributes)
    points = random.choice([*edges, *beside], (80, attributes))
    check(points, [Setting(*own) for own in product([radius], (1, 2, 4, 9), (0, 17))])


def test_all_points_in_one_place_and_all_far_apart() -> None:
    same, apart = np.full((300, 2), 7.5), np.column_stack([np.arange(90) * 1e12, np.arange(90) * -1e300])
    for least in (1, 2, 300, 301):
        check(same, [Setting(0.5, least), Setting(1e-9, least, 299)])
        check(apart, [Setting(1e9, least), Setting(1e-150, least)])


def test_attributes_whose_differences_have_no_square() -> None:
    points = np.array([[1e308], [-1e308], [1e-200], [2e-200], [-0.0], [0.0], [5e-324]])
    check(points, [Setting(1e-160, 2), Setting(1e150, 2), Setting(1e-160, 1), Setting(1e-161, 4)])


def test_windows_of_no_point_and_of_one() -> None:
    for points in (np.zeros((0, 2)), np.zeros((1, 2))):
        for method in METHODS.values():
            found = method(points, [Setting(1.0, 1), Setting(1.0, 2), Setting(1.0, 1, len(points))])
            assert [own.labels.tolist() for own in found] == [[0] * len(points), [-1] * len(points), []]


def test_labels_of_heaps_with_many_and_few_neighbours() -> None:
    points = heaps(600)
    radii = (0.004, 0.01, 0.02, 0.05, 0.2)
    check(points, [Setting(*own) for own in product(radii, (2, 5, 30), (0, 250))])


def test_labels_of_the_fixtures_of_scikit_learn() -> None:
    # Of its tests test_dbscan_core_samples_toy and test_boundaries.
    toy = np.array([[0], [2], [3], [4], [6], [8], [10]], dtype=np.float64)
    found = check(toy, [Setting(1.0, least) for least in (1, 2, 3, 4)])
    assert [own.labels.tolist() for own in found] == [
        [0, 1, 1, 1, 2, 3, 4],
        [-1, 0, 0, 0, -1, -1, -1],
        [-1, 0, 0, 0, -1, -1, -1],
        [-1] * 7,
    ]
    assert [np.flatnonzero(own.is_core).tolist() for own in found] == [list(range(7)), [1, 2, 3], [2], []]
    pair = np.array([[0], [1]], dtype=np.float64)
    assert [own.clusters for own in check(pair, [Setting(radius, 2) for radius in (2.0, 1.0, 0.99)])] == [1, 1, 0]


def test_labels_of_the_fixture_of_postgis() -> None:
    # The cases t101 to t103 of its regression test of ST_ClusterDBSCAN, twice as large.
    points = np.array([[0, 0], [0, 2], [-1, 1], [2, 0], [2, 2], [2, 1]], dtype=np.float64)
    found = check(points, [Setting(1.6, 1), Setting(1.6, 4), Setting(1.2, 3)])
    assert [own.labels.tolist() for own in found] == [[0, 0, 0, 1, 1, 1], [-1] * 6, [-1, -1, -1, 0, 0, 0]]


def test_equal_settings_are_computed_once() -> None:
    one, other, third = labels(heaps(100), [Setting(0.1, 5), Setting(0.1, 5), Setting(0.1, 5)])
    assert one is other is third


@given(case=grids(), power=st.integers(-40, 40))
def test_values_times_a_power_of_two_have_equal_labels(case: tuple[Floats, list[Setting]], power: int) -> None:
    points, own = case
    scaled = [Setting(setting.radius * 2.0**power, setting.min_samples, setting.first) for setting in own]
    for one, other in zip(labels(points, own), labels(points * 2.0**power, scaled), strict=True):
        assert np.array_equal(one.labels, other.labels)


@given(case=grids(), more=st.sampled_from([0, 1, 2]))
def test_less_restricted_settings_nest(case: tuple[Floats, list[Setting]], more: int) -> None:
    # Lemmas 5.1, 5.3, 5.5 and 6.2 of the paper, over core points: each cluster lies in one of the grown ones.
    points, own = case
    for setting in own:
        grown = Setting(setting.radius + more, max(1, setting.min_samples - more), max(0, setting.first - 5 * more))
        small, large = labels(points, [setting, grown])
        later = setting.first - grown.first
        core = small.is_core
        assert large.is_core[later:][core].all()
        pairs = set(zip(small.labels[core].tolist(), large.labels[later:][core].tolist(), strict=True))
        assert len(pairs) == small.clusters
        assert (large.labels[later:][small.labels >= 0] >= 0).all()


@pytest.mark.nightly
@pytest.mark.parametrize("attributes", [1, 2, 3, 8])
def test_labels_of_large_windows(attributes: int) -> None:
    points = heaps(20_000, 100, attributes=attributes)
    check(points[:2_000], [Setting(*own) for own in product((0.004, 0.01, 0.02, 0.05), (2, 10, 30), (0, 500))])
    for setting in (Setting(0.002, 3), Setting(0.01, 20, 5_000), Setting(0.05, 10)):
        (found,), window = labels(points, [setting]), points[setting.first :]
        assert np.array_equal(found.labels, by_scikit_learn(window, setting.radius, setting.min_samples))
