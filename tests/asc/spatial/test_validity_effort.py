"""What GEOS's test of validity takes: pairs of boxes against plain loops, and shapes made to be tested for long."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
import shapely

from asc.errors import ShapeError
from asc.spatial.reading import VALIDITY_EFFORT_MAX, Rules, checked, plainly_good
from asc.spatial.validity_effort import meeting_pairs, validity_effort
from tests.call_counts import counted_calls


def comb(vertices: int) -> shapely.Polygon:
    """Teeth that are slanted, so that the boxes of all of their sides meet."""
    left = np.arange(vertices // 4) * 1e-3
    ends = [(left, 0.0), (left + 1_000, 1_000.0), (left + 1_000.0003, 1_000.0), (left + 0.0003, 0.0)]
    teeth = np.stack([np.column_stack([x, np.full(len(left), y)]) for x, y in ends], axis=1).reshape(-1, 2)
    return shapely.Polygon([*teeth.tolist(), (left[-1] + 1, -1_000), (-1, -1_000)])


def star(vertices: int) -> shapely.Polygon:
    random = np.random.default_rng(0)
    angle, reach = np.sort(random.random(vertices)) * 2 * np.pi, random.uniform(1, 10, vertices)
    return shapely.Polygon(np.column_stack([reach * np.cos(angle), reach * np.sin(angle)]))


def fan(vertices: int) -> shapely.Polygon:
    """Holes that all touch each other at one vertex."""
    holes = vertices // 4
    turn = np.pi / holes
    sides = [[((i + part) * turn) for part in (0.2, 0.8)] for i in range(holes)]
    rings = [[(0, 0), *((math.cos(side), math.sin(side)) for side in both)] for both in sides]
    return shapely.Polygon([(-2, -2), (2, -2), (2, 2), (-2, 2)], rings)


def corners(vertices: int) -> shapely.Polygon:
    """Holes like an L, each in the box of the one before."""
    many = vertices // 7
    rings = []
    for low in range(many):
        high, wide = 2 * many - low, low + 0.3
        rings.append([(low, low), (high, low), (high, wide), (wide, wide), (wide, high), (low, high)])
    return shapely.Polygon([(-1, -1), (3 * many, -1), (3 * many, 3 * many), (-1, 3 * many)], rings)


def lakes(vertices: int) -> shapely.Polygon:
    """A long shell with many holes."""
    x = np.linspace(0, 1_000, vertices // 2)
    shell = [(0, 0), (1_000, 0), *np.column_stack([x, 1_000 + np.sin(x * 50)])[::-1].tolist()]
    side = math.isqrt(vertices // 8)
    places = [(10 + 900 * i / side, 10 + 900 * j / side) for i in range(side) for j in range(side)]
    return shapely.Polygon(shell, [[(x, y), (x + 300 / side, y), (x, y + 300 / side)] for x, y in places])


def islands(vertices: int) -> shapely.MultiPolygon:
    """Holes with an island in each, which begins on the hole's ring."""
    side = math.isqrt(vertices // 9)
    holes, parts = [], []
    for x in range(side):
        for y in range(side):
            holes.append([(x, y), (x + 0.8, y), (x + 0.8, y + 0.8), (x, y + 0.8)])
            parts.append(shapely.Polygon([(x, y), (x + 0.8, y + 0.8), (x + 0.5, y + 0.6)]))
    shell = [(-1, -1), (side + 1, -1), (side + 1, side + 1), (-1, side + 1)]
    return shapely.MultiPolygon([shapely.Polygon(shell, holes), *parts])


WORST: list[Callable[[int], shapely.Geometry]] = [comb, star, fan, corners, lakes, islands]


def test_pairs_of_boxes_are_those_that_loops_find() -> None:
    random = np.random.default_rng(0)
    for size in (0, 1, 2, 7, 60):
        for spread in (3, 40):
            ends = np.sort(random.integers(0, spread, (size, 2, 2)).astype(float), axis=1)
            boxes = ends.reshape(-1, 4)
            expected = sum(
                a[0] <= b[2] and b[0] <= a[2] and a[1] <= b[3] and b[1] <= a[3]
                for a, b in combinations(boxes.tolist(), 2)
            )
            assert meeting_pairs(boxes) == expected


@pytest.mark.parametrize("made", [comb, star, *(pytest.param(made, marks=pytest.mark.nightly) for made in WORST[2:])])
def test_what_would_be_tested_for_minutes_is_refused_at_once(made: Callable[[int], shapely.Geometry]) -> None:
    shape = made(400_000)
    refusal = f"at most {VALIDITY_EFFORT_MAX:,}.*: cut it into several shapes"
    with counted_calls(10_000) as calls, pytest.raises(ShapeError, match=refusal):
        checked(shape, Rules(is_planar=True))
    assert not {"is_valid", "is_valid_reason", "make_valid"} & calls.keys()
    assert not plainly_good(np.array([shape]), Rules(is_planar=True))[0]


@pytest.mark.parametrize("made", WORST)
def test_the_estimate_grows_as_the_work_of_the_test_does(made: Callable[[int], shapely.Geometry]) -> None:
    small, large = made(4_000), made(8_000)
    assert shapely.is_valid(small)
    # In these shapes GEOS compares each edge, or visits each vertex, for a part of all others.
    assert 3 < validity_effort(large) / validity_effort(small) < 5


def test_of_plain_shapes_it_is_a_few_pairs_a_vertex() -> None:
    angle = np.linspace(0, 2 * np.pi, 200_000, endpoint=False)
    reach = 10 + np.sin(7 * angle) + 0.01 * np.sin(4_001 * angle)
    shore = shapely.Polygon(np.column_stack([reach * np.cos(angle), reach * np.sin(angle)]))
    assert validity_effort(shore) < 4 * 200_000
    assert checked(shore, Rules(is_planar=True)).geometry == shore
    parts = [shapely.box(x, y, x + 1, y + 1) for x in range(0, 300, 2) for y in range(0, 300, 2)]
    assert validity_effort(shapely.MultiPolygon([*parts, shapely.Polygon()])) < 10 * 5 * len(parts)
    again = shapely.Polygon(np.repeat([(0, 0), (4, 0), (4, 4)], 20_000, axis=0))
    assert validity_effort(again) == validity_effort(shapely.Polygon([(0, 0), (4, 0), (4, 4)]))
    assert validity_effort(shapely.Polygon([(1, 1)] * 4)) == 0
