"""Whether a position meets a shape, by the kernels: YES and NO where shapely says so, UNSURE on boundaries alone."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
import shapely

from asc.compiled import compiled
from asc.keys.dictionary import Dictionary
from asc.spatial.index import Shapes
from asc.spatial.location import (
    BOUNDARY,
    INSIDE,
    NO,
    OUTSIDE,
    UNSURE,
    YES,
    holds,
    parity_of_ring,
    place_in_ring,
    side_of,
)
from asc.spatial.shape import (
    BELOW_SPHERE,
    CONTAINS,
    EARTH_RADIUS_M,
    INTERSECTS,
    PLANAR,
    WITHIN_DISTANCE,
    WITHIN_SPHERE,
    Asked,
    distance_sphere_m,
)

Reals = npt.NDArray[np.float64]


def test_sides_are_told_where_rounding_cannot_turn_them() -> None:
    assert side_of(0.0, 0.0, 1.0, 0.0, 0.5, 1.0) == 1
    assert side_of(0.0, 0.0, 1.0, 0.0, 0.5, -1.0) == -1
    assert side_of(0.0, 0.0, 1.0, 1.0, 0.5, float(np.nextafter(0.5, 1))) in (1, 2)
    assert side_of(0.0, 0.0, 3e-160, 3e-160, 1e-160, 1e-160) == 2


@compiled
def read_ring(ring: Reals, x: float, y: float) -> tuple[int, int]:
    return parity_of_ring(ring, 2, ring.size, x, y), place_in_ring(ring, 2, ring.size, x, y)


@pytest.mark.parametrize("grid", [True, False])
def test_what_is_told_of_a_ring_at_once_is_what_its_edges_tell(grid: bool) -> None:
    random = np.random.default_rng(grid)
    seen = set()
    for vertices in (3, 4, 5, 8, 17, 100):
        for _ in range(40):
            ring = random.integers(-4, 5, (vertices, 2)).astype(np.float64) if grid else random.random((vertices, 2))
            # What stands before a ring is not read.
            flat = np.concatenate([[np.nan, np.nan], ring.ravel(), ring[0]])
            places = random.integers(-5, 6, (60, 2)).astype(np.float64) if grid else random.random((60, 2))
            ends, others = ring[random.integers(0, vertices, (2, 60))]
            on_edges = ends + (others - ends) * random.random((60, 1))
            beside = np.nextafter(on_edges, random.choice([-np.inf, np.inf], (60, 2)))
            for x, y in np.concatenate([places, ends, on_edges, beside]).tolist():
                parity, place = read_ring(flat, x, y)
                seen.add((min(parity, 2), place))
                assert parity >= 2 or place == (INSIDE if parity else OUTSIDE), (flat, x, y)
    assert {(0, OUTSIDE), (1, INSIDE), (2, BOUNDARY)} <= seen


@pytest.mark.parametrize(("x", "y"), [(np.nan, 0.5), (0.5, np.nan), (np.inf, 0.5), (0.5, -np.inf)])
def test_what_is_no_place_is_in_no_ring(x: float, y: float) -> None:
    square = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0])
    parity, _ = read_ring(square, x, y)
    assert parity != 1


@pytest.mark.parametrize("relation", [CONTAINS, INTERSECTS, WITHIN_DISTANCE])
def test_what_is_told_is_what_shapely_says(relation: int) -> None:
    random = np.random.default_rng(relation)
    shapes = [
        shapely.Point(*random.uniform(-3, 3, 2)).buffer(2, quad_segs=int(random.integers(1, 9))) for _ in range(8)
    ]
    shapes += [
        shapely.box(-1, -1, 1, 1),
        shapely.Point(0.5, 0.5),
        shapely.LineString([(0, 0), (2, 2)]),
        shapely.Point(),
    ]
    answers = set()
    for shape in shapes:
        asked = Asked(shape, relation, 0.5)
        own = Shapes.of(*(getattr(Dictionary.of([asked.key]), name) for name in ("offsets", "data")))
        places = random.uniform(-4, 4, (120, 2))
        places[:4] = [(1, 0), (-1, -1), (0.5, 0.5), (1, 1)]
        for x, y in places.tolist():
            found = holds(own.words, own.reals, 0, x, y)
            answers.add(found)
            if found != UNSURE:
                assert found == (YES if asked.accepts(x, y) else NO)
    assert {YES, NO} <= answers


@pytest.mark.parametrize("relation", [pytest.param(CONTAINS, marks=pytest.mark.nightly), INTERSECTS])
def test_edges_along_an_axis_and_vertices_are_told_without_geos(relation: int) -> None:
    ring = [(0, 0), (0.3, 0), (0.3, 0.7), (0.1, 0.7), (0.1, 0.9), (0, 0.9)]
    shapes = [shapely.Polygon(ring), shapely.Polygon(ring, [[(0.1, 0.1), (0.2, 0.1), (0.2, 0.2), (0.1, 0.2)]])]
    shapes += [shapely.LineString([*ring, (5, 5)]), shapely.MultiPoint(ring)]
    places = [*ring, *((x / 10, y / 10) for x in range(-1, 5) for y in range(-1, 11)), (0.3, 0.123), (0.123, 0.7)]
    for shape in shapes:
        asked = Asked(shape, relation)
        own = Shapes.of(*(getattr(Dictionary.of([asked.key]), name) for name in ("offsets", "data")))
        for x, y in places:
            found = holds(own.words, own.reals, 0, x, y)
            is_open = shape.geom_type == "LineString" and relation == CONTAINS and shape.intersects(shapely.Point(x, y))
            assert found == (UNSURE if is_open else YES if asked.accepts(x, y) else NO), (shape, x, y)


def test_a_distance_to_edges_whose_squares_are_lost_is_what_geos_makes_of_it() -> None:
    random = np.random.default_rng(5)
    answers = set()
    for number in range(400):
        size, far = 10.0 ** random.uniform(-200, -130), 10.0 ** random.choice([0.0, random.uniform(-200, -130)])
        vertices = random.integers(-3, 4, (3, 2)) * size
        if number % 3 == 0:
            vertices = np.vstack([vertices, random.uniform(-3, 3, (1, 2))])
        shape = shapely.LineString(vertices) if number % 2 else shapely.MultiPoint(vertices).convex_hull
        places = np.add(vertices[:3], [[0.0, far], [far, 0.0], [far, far]])
        for distance in (0.0, far, far * 0.8, far * 1.2, size):
            asked = Asked(shape, WITHIN_DISTANCE, distance, PLANAR)
            own = Shapes.of(*(getattr(Dictionary.of([asked.key]), name) for name in ("offsets", "data")))
            for x, y in places.tolist():
                found = holds(own.words, own.reals, 0, x, y)
                answers.add(found)
                if found != UNSURE:
                    assert found == (YES if asked.accepts(x, y) else NO), (shape, distance, x, y)
    assert answers == {YES, NO, UNSURE}


def test_the_sphere_is_left_open_at_the_limit_alone_at_the_antipode_a_little_more() -> None:
    def answers_of(metres: float, *places: tuple[float, float]) -> list[int]:
        asked = Asked(shapely.Point(0, 0), WITHIN_SPHERE, metres)
        own = Shapes.of(*(getattr(Dictionary.of([asked.key]), name) for name in ("offsets", "data")))
        return [holds(own.words, own.reals, 0, x, y) for x, y in places]

    assert answers_of(1_000_000.0, (1, 0), (20, 0), (180, 0), (179, 1)) == [YES, NO, NO, NO]
    half = math.pi * EARTH_RADIUS_M
    assert answers_of(half - 100, (180, 0), (-180, 1e-9), (179.99, 0), (0, 90)) == [NO, NO, YES, YES]
    assert answers_of(half - 0.1, (180, 0), (180, 1e-6), (179, 0)) == [UNSURE, UNSURE, YES]


def test_near_the_antipode_what_is_told_is_what_python_computes() -> None:
    random = np.random.default_rng(3)
    half = math.pi * EARTH_RADIUS_M
    answers = set()
    for _ in range(300):
        x, y = random.uniform((-180, -90), (180, 90)).tolist()
        beside = 10.0 ** random.uniform(-12, 1)
        to_x, to_y = (x + 360) % 360 - 180 + random.normal() * beside, -y + random.normal() * beside
        place = min(180.0, max(-180.0, to_x)), min(90.0, max(-90.0, to_y))
        far = distance_sphere_m(x, y, *place)
        for metres in (far, far * (1 - 1e-8), far + 1, far - 1, far + 50, far - 50, half, half - random.random()):
            for relation in (WITHIN_SPHERE, BELOW_SPHERE):
                asked = Asked(shapely.Point(x, y), relation, metres)
                own = Shapes.of(*(getattr(Dictionary.of([asked.key]), name) for name in ("offsets", "data")))
                found = holds(own.words, own.reals, 0, *place)
                answers.add(found)
                assert found in (UNSURE, YES if asked.accepts(*place) else NO)
    assert answers == {YES, NO, UNSURE}
