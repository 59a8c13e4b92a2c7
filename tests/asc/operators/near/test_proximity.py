"""Near positions against the distance of each two, where doubles are rounded too."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.operators.near.proximity import millimetres_m, near_pairs
from asc.spatial.shape import EARTH_RADIUS_M, distance_sphere_m


def by_each_two(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], metres: float) -> list[list[int]]:
    two = combinations(range(len(x)), 2)
    return [[i, j] for i, j in two if distance_sphere_m(x[i], y[i], x[j], y[j]) <= metres]


PLACES = st.tuples(
    st.one_of(st.floats(-180, 180), st.sampled_from([-180.0, 180.0, 0.0, -0.0, 7.5, 7.500001])),
    st.one_of(st.floats(-90, 90), st.sampled_from([-90.0, 90.0, 0.0, 47.0, 47.000001, -47.0])),
)


@settings(max_examples=200, deadline=None)
@given(places=st.lists(PLACES, max_size=12), pick=st.integers(0, 65), factor=st.sampled_from([1.0, 0.5, 0.0, 2.0]))
def test_pairs_are_those_of_each_two(places: list[tuple[float, float]], pick: int, factor: float) -> None:
    x, y = np.array([lon for lon, _ in places]), np.array([lat for _, lat in places])
    far = [distance_sphere_m(x[i], y[i], x[j], y[j]) for i, j in combinations(range(len(x)), 2)] or [1.0]
    # The distance of two of them to the last bit, and one bit beside.
    metres = factor * far[pick % len(far)]
    for own in (metres, np.nextafter(metres, 0), np.nextafter(metres, np.inf)):
        found = near_pairs(x, y, float(own), 1_000)
        assert found is not None
        assert found.tolist() == by_each_two(x, y, float(own))


def test_many_at_one_place_are_told_to_be_too_many() -> None:
    x = np.full(3_000, 7.5)
    assert near_pairs(x, x, 1.0, 1_000_000) is None
    assert near_pairs(x[:100], x[:100], 0.0, 4_950) is not None
    everywhere = near_pairs(np.linspace(-180, 180, 50), np.linspace(-90, 90, 50), 4 * EARTH_RADIUS_M, 2_000)
    assert everywhere is not None
    assert len(everywhere) == 1_225


def test_far_too_many_are_found_by_a_sort_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of all are near each, which a tree counts by each two at its many nodes that are partly near: a minute."""

    def no_tree(*_: object) -> None:
        pytest.fail("a tree counts far too many pairs")

    monkeypatch.setattr("scipy.spatial.cKDTree", no_tree)
    draws = np.random.default_rng(1)
    around, off = draws.uniform(0, 2 * np.pi, 400_000), np.sqrt(draws.uniform(0, 1, 400_000))
    assert near_pairs(8 + off * np.cos(around), off * np.sin(around), 55_000.0, 1_000_000) is None


@settings(max_examples=200, deadline=None)
@given(places=st.lists(PLACES, min_size=2, max_size=12), metres=st.floats(0, 3e7))
def test_no_more_than_there_are_are_taken_for_too_many(places: list[tuple[float, float]], metres: float) -> None:
    x, y = np.array([lon for lon, _ in places]), np.array([lat for _, lat in places])
    there = len(by_each_two(x, y, metres * (1 + 1e-8) + 1e-6))
    assert near_pairs(x, y, metres, there) is not None


@settings(max_examples=200, deadline=None)
@given(places=st.lists(PLACES, min_size=2, max_size=8), metres=st.integers(0, 10**6), seed=st.integers(0, 99))
def test_distances_are_rounded_as_python_rounds_them(places: list[tuple[float, float]], metres: int, seed: int) -> None:
    # Two that are apart by half a millimetre more than whole ones.
    degrees = (metres + 0.0005) / (EARTH_RADIUS_M * np.pi / 180)
    random = np.random.default_rng(seed)
    places = [*places, (5.0, 0.0), (5.0 + degrees, 0.0), *zip(*random.uniform(-60, 60, (2, 40)).tolist(), strict=True)]
    x, y = np.array([lon for lon, _ in places]), np.array([lat for _, lat in places])
    pairs = np.array(list(combinations(range(len(places)), 2)), dtype=np.int64)
    expected = [round(distance_sphere_m(*map(float, (x[i], y[i], x[j], y[j]))), 3) for i, j in pairs.tolist()]
    assert millimetres_m(x, y, pairs) == expected
