"""What is asked of a position, as a key: there and back, in words, and by the oracle."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely

from asc.spatial.shape import (
    BELOW_SPHERE,
    CONTAINS,
    INTERSECTS,
    PLANAR,
    WITHIN_DISTANCE,
    WITHIN_SPHERE,
    Asked,
    asked_text,
    distance_sphere_m,
    keys_of_areas,
)

SHAPES = [
    "POINT (1 2)",
    "MULTIPOINT ((1 2), (3 4))",
    "LINESTRING (0 0, 1 1, 2 0)",
    "MULTILINESTRING ((0 0, 1 1), (5 5, 6 6, 7 5))",
    "POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0), (1 1, 2 1, 2 2, 1 2, 1 1))",
    "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((5 5, 9 5, 9 9, 5 9, 5 5), (6 6, 7 6, 7 7, 6 6)))",
    "POLYGON EMPTY",
]


@pytest.mark.parametrize("text", SHAPES)
@pytest.mark.parametrize("crs", [PLANAR, 1])
def test_a_key_is_whole_words_and_says_what_was_asked(text: str, crs: int) -> None:
    asked = Asked(shapely.from_wkt(text), WITHIN_DISTANCE, 0.25, crs)
    again = Asked.of(asked.key)
    assert len(asked.key) % 8 == 0
    assert (again.relation, again.distance, again.crs) == (WITHIN_DISTANCE, 0.25, crs)
    assert shapely.equals(again.geometry, asked.geometry)
    assert again.key == asked.key


def test_different_questions_have_different_keys_and_a_zero_has_no_sign() -> None:
    square = shapely.box(0, 0, 1, 1)
    keys = {Asked(square, relation).key for relation in range(5)}
    keys.add(Asked(shapely.box(0, 0, 1, 2), CONTAINS).key)
    assert len(keys) == 6
    assert Asked(shapely.Point(-0.0, 0.0), CONTAINS).key == Asked(shapely.Point(0.0, -0.0), CONTAINS).key


def test_keys_of_many_polygons_are_those_of_each() -> None:
    shapes = np.array([shapely.from_wkt(text) for text in SHAPES if "POLYGON ((" in text or "MULTIPOLYGON" in text])
    assert len(shapes) == 2
    assert keys_of_areas(shapes, INTERSECTS) == [Asked(shape, INTERSECTS).key for shape in shapes]
    assert keys_of_areas(shapes[:0], INTERSECTS) == []


def test_neighbours_sort_near_each_other() -> None:
    places = [(8.5, 47.3), (8.6, 47.4), (-70.0, -30.0), (-70.1, -30.1)]
    keys = [Asked(shapely.Point(*place).buffer(0.1), CONTAINS).key for place in places]
    ordered = sorted(range(4), key=keys.__getitem__)
    assert {frozenset(ordered[:2]), frozenset(ordered[2:])} == {frozenset((0, 1)), frozenset((2, 3))}


def test_a_short_shape_is_told_in_full_and_a_long_one_by_its_hash() -> None:
    square = Asked(shapely.box(0, 0, 1, 1), INTERSECTS)
    assert asked_text(square.key, "p") == "ST_Intersects(ST_GeomFromText('POLYGON ((1 0, 1 1, 0 1, 0 0, 1 0))'), p)"
    rings = [shapely.Point(0, 0).buffer(1 + 1e-9 * n) for n in range(2)]
    texts = [asked_text(Asked(ring, CONTAINS).key, "p") for ring in rings]
    assert texts[0] != texts[1]
    assert all("polygon of 65 vertices" in text and len(text) < 150 for text in texts)
    near = [Asked(shapely.Point(1, 2), relation, 5e3).key for relation in (WITHIN_SPHERE, BELOW_SPHERE)]
    assert asked_text(near[0], "p") == "ST_DistanceSphere(ST_GeomFromText('POINT (1 2)'), p) <= 5000.0"
    assert asked_text(near[1], "p").endswith("< 5000.0")


def test_distances_on_the_sphere_are_those_of_a_great_circle() -> None:
    # A quarter, half of it over a pole, and across the antimeridian.
    quarter = 6_371_008 * math.pi / 2
    assert distance_sphere_m(0, 0, 90, 0) == pytest.approx(quarter, abs=1e-6)
    assert distance_sphere_m(0, 45, 180, 45) == pytest.approx(quarter, abs=1e-6)
    assert distance_sphere_m(179, 0, -179, 0) == pytest.approx(distance_sphere_m(-1, 0, 1, 0), abs=1e-6)
    assert distance_sphere_m(12, 90, -100, 90) == pytest.approx(0, abs=1e-6)
    assert distance_sphere_m(0, 0, 180, 0) == pytest.approx(2 * quarter, abs=1)


def test_a_shape_beyond_the_antimeridian_is_met_from_both_sides() -> None:
    across = Asked(shapely.box(170, -10, 190, 10), CONTAINS)
    assert [across.accepts(x, 0) for x in (175, -175, 180, -180, 165, -165)] == [True] * 4 + [False] * 2
    plane = Asked(shapely.box(170, -10, 190, 10), CONTAINS, crs=PLANAR)
    assert not plane.accepts(-175, 0)
