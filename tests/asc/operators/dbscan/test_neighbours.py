"""Stored neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.operators.dbscan.neighbours import PAIR_NEIGHBOURS, Neighbours
from asc.operators.dbscan.reference import neighbours
from tests.asc.operators.dbscan.label_methods import Floats, heaps


def pairs(found: Neighbours) -> list[list[tuple[int, int]]]:
    """The older neighbours of each point, as they are listed, with their ranks."""
    return [
        list(zip(found.older[low:high].tolist(), found.ranks[low:high].tolist(), strict=True))
        for low, high in zip(found.starts, found.starts[1:], strict=False)
    ]


def wanted(points: Floats, radii: Floats) -> list[list[tuple[int, int]]]:
    near = np.array([neighbours(points, float(radius)) for radius in radii])
    rank = len(radii) - near.sum(axis=0)
    return [
        [(older, int(rank[newer, older])) for older in range(newer - 1, -1, -1) if near[-1, newer, older]]
        for newer in range(len(points))
    ]


@pytest.mark.parametrize("attributes", [1, 2, 5])
def test_they_are_the_pairs_of_the_definition_newest_first(attributes: int) -> None:
    points, radii = np.random.default_rng(0).integers(0, 40, (150, attributes)) * 0.1, np.array([0.1, 0.2, 0.7, 1.1])
    found = Neighbours.of(points, radii)
    assert found.radii.tolist() == radii[: len(found.radii)].tolist()
    assert len(found.radii) >= 2
    assert pairs(found) == wanted(points, found.radii)
    assert found.rank(0.2) == 1
    assert found.rank(0.3) is None


@given(flat=st.lists(st.integers(0, 30), max_size=60), cuts=st.lists(st.integers(0, 30), min_size=1, max_size=3))
def test_points_added_leave_the_pairs_of_the_others(flat: list[int], cuts: list[int]) -> None:
    points, radii = np.array(flat[: len(flat) // 2 * 2], dtype=np.float64).reshape(-1, 2), np.array([1.0, 2.0, 5.0])
    whole = Neighbours.of(points, radii)
    edges = sorted(min(cut, len(points)) for cut in cuts)
    found = Neighbours.of(points[: edges[0]], whole.radii)
    for low, high in zip(edges, [*edges[1:], len(points)], strict=True):
        more = found.extended(points[low:high])
        assert more is not None
        found = more
    assert pairs(found) == pairs(whole)


def test_radii_with_too_many_neighbours_are_left_to_cells() -> None:
    points = heaps(2_000, 4)
    radii = np.array([0.001, 0.005, 0.05, 0.5])
    found = Neighbours.of(points, radii)
    assert found.radii.tolist() == [0.001, 0.005]
    assert len(found.older) <= PAIR_NEIGHBOURS * len(points) // 2
    none = Neighbours.of(np.zeros((200, 2)), radii)
    assert (none.rank(0.5), len(none.older), none.count) == (None, 0, 200)
    more = none.extended(np.zeros((5, 2)))
    assert more is not None
    assert (more.count, len(more.starts)) == (205, 206)


def test_neighbours_that_become_too_many_are_not_extended() -> None:
    found = Neighbours.of(np.arange(200.0).reshape(-1, 1), np.array([1.0]))
    assert found.extended(np.full((300, 1), 7.0)) is None


def test_a_sample_that_says_too_little_does_not_store_too_many() -> None:
    # Every second point is alone, and the sample looks at these.
    points = np.arange(4_000.0).reshape(-1, 1) * 10
    points[1::2] = 5
    found = Neighbours.of(points, np.array([1.0, 2.0]))
    assert len(found.older) <= PAIR_NEIGHBOURS * len(points) // 2
