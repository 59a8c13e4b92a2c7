"""Shapes and positions at the ends of doubles and of the earth: as shapely says, and nothing falls over."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from shapely import from_wkt

from asc.matcher import Matcher
from asc.spatial.shape import Asked, asked_text, box_of

P = "ST_Point(lon, lat)"


def accepted(where: str, places: list[tuple[float, float]], crs: str = "wgs84") -> list[int]:
    matcher = Matcher("lon DOUBLE, lat DOUBLE, n INT", {"q": where}, crs=crs)
    table = pa.table(
        {"lon": [x for x, _ in places], "lat": [y for _, y in places], "n": pa.nulls(len(places), pa.int32())}
    )
    found = matcher.match(table)["row"].to_pylist()
    assert matcher.count(table)["count"].to_pylist() == [len(found)]
    return found


@pytest.mark.parametrize(
    "where",
    [
        f"ST_DWithin(ST_Point(0, 0), {P}, 1e-310D)",
        f"ST_Contains(ST_GeomFromText('POLYGON((0 0,8e-305 0,8e-305 8e-305,0 8e-305,0 0))'), {P})",
        f"ST_Intersects(ST_GeomFromText('MULTIPOINT(0 0,1e-310 1e-310)'), {P})",
        f"ST_Intersects(ST_GeomFromText('POINT(0 0)'), {P})",
        f"ST_Intersects(ST_GeomFromText('LINESTRING(0 0,1e-300 0)'), {P})",
    ],
)
def test_shapes_without_extent_have_a_square_of_their_own(where: str) -> None:
    places = [(0.0, 0.0), (1e-310, 1e-310), (3e-305, 3e-305), (1.0, 1.0), (-1e99, 1e300)]
    matcher = Matcher("lon DOUBLE, lat DOUBLE, n INT", {"q": where}, crs="planar")
    subject = matcher.plan.listed[0]
    asked = Asked.of(subject.shapes.key(0))
    assert accepted(where, places, "planar") == [i for i, place in enumerate(places) if asked.accepts(*place)]


def test_the_farthest_distance_reaches_everything() -> None:
    where = f"ST_DWithin(ST_Point(1, 1), {P}, 1e100D)"
    assert accepted(where, [(0.0, 1.0), (1e99, 1.0), (-1e99, 1e99), (1e101, 0.0)], "planar") == [0, 1, 2]


def test_products_that_underflow_are_left_to_geos() -> None:
    triangle = "ST_GeomFromText('POLYGON((0 0,4e-160 0,4e-160 4e-160,0 0))')"
    places = [(k * 1e-160, k * 1e-160) for k in (1, 2, 3)] + [(3e-160, 1e-160)]
    for crs in ("wgs84", "planar"):
        assert accepted(f"ST_Contains({triangle}, {P})", places, crs) == [3]
        assert accepted(f"ST_Intersects({triangle}, {P})", places, crs) == [0, 1, 2, 3]
    for distance in ("0", "1e-200D"):
        near = Asked.of(Asked(box_of(0, 0, 0, 0), 2, float(distance.rstrip("D")), 0).key)
        places = [(1e-190, 0.0), (1e-170, 0.0), (0.0, 0.0)]
        expected = [i for i, place in enumerate(places) if near.accepts(*place)]
        assert accepted(f"ST_DWithin(ST_Point(0, 0), {P}, {distance})", places, "planar") == expected


def test_a_distance_to_an_edge_that_is_too_short_to_be_squared_is_that_of_geos() -> None:
    # Both are 1 away. GEOS finds .87 for the first and nothing for the second.
    for line, place in (("0 0,2.75e-162 0,5 -5", (1.8e-162, 1.0)), ("0 0,1e-170 0", (0.0, 1.0))):
        for distance in (0.5, 0.9, 1.0, 1.5):
            asked = Asked.of(Asked(from_wkt(f"LINESTRING({line})"), 2, distance, 0).key)
            where = f"ST_DWithin(ST_GeomFromText('LINESTRING({line})'), {P}, {distance})"
            places = [(0.1, -0.2), place]
            expected = [i for i, own in enumerate(places) if asked.accepts(*own)]
            assert accepted(where, places, "planar") == expected


def test_a_cap_around_a_pole_is_met_once_and_one_beyond_180_from_everywhere() -> None:
    places = [(-180.0, 89.5), (180.0, 89.5), (-180.0, 89.0), (10.0, 89.0), (0.0, 0.0)]
    assert accepted(f"ST_DistanceSphere(ST_Point(0, 89.5), {P}) <= 200000", places) == [0, 1, 2, 3]
    assert accepted(f"ST_DistanceSphere(ST_Point(0, 0), {P}) <= 1.9e7", places) == [0, 1, 2, 3, 4]
    beyond = [(-178.0, 0.0), (178.0, 0.0), (0.0, 0.0)]
    for longitude in (539, 179, -181, -539):
        assert accepted(f"ST_DistanceSphere(ST_Point({longitude}, 0), {P}) <= 600000", beyond) == [0, 1]
    rng = np.random.default_rng(0)
    everywhere = rng.uniform((-180, -90), (180, 90), (400, 2))
    for middle in rng.uniform((-180, -90), (180, 90), (12, 2)).tolist():
        for metres in (1e5, 5e6, 1.1e7, 1.9e7):
            where = f"ST_DistanceSphere(ST_Point({middle[0]!r}D, {middle[1]!r}D), {P}) <= {metres!r}D"
            asked = Asked(box_of(*middle, *middle), 3, metres)
            expected = np.flatnonzero(asked.decide(everywhere[:, 0], everywhere[:, 1])).tolist()
            assert accepted(where, [tuple(place) for place in everywhere.tolist()]) == expected


def test_empty_points_are_near_nothing_and_no_position() -> None:
    inside = [(0.5, 0.5), (3.0, 3.0)]
    square, empty = "ST_PolygonFromEnvelope(0, 0, 1, 1)", "ST_GeomFromText('POINT EMPTY')"
    assert accepted(f"ST_Contains({square}, {P}) AND ST_Contains({empty}, {P})", inside) == []
    assert accepted(f"ST_Disjoint({empty}, {P})", inside) == [0, 1]
    assert accepted(f"ST_DWithin({empty}, {P}, 5)", inside) == []
    assert accepted(f"ST_Contains({square}, {empty}) OR ST_Contains({square}, {P})", inside) == [0]


def test_a_constant_position_beyond_the_earth_is_null() -> None:
    beyond = "ST_Contains(ST_PolygonFromEnvelope(190, 0, 210, 20), ST_Point(200, 10))"
    where = f"{beyond} OR ST_Contains(ST_PolygonFromEnvelope(0, 0, 1, 1), {P})"
    assert accepted(where, [(0.5, 0.5), (3.0, 3.0)]) == [0]


def test_shapes_that_differ_in_the_last_digit_are_two() -> None:
    first = 0.0868284962032301
    second = float(np.nextafter(first, 1))
    texts = {asked_text(Asked(box_of(x, 0, x, 0), 1).key, "p") for x in (first, second)}
    assert len(texts) == 2
    either = " OR ".join(f"ST_Intersects(ST_GeomFromText('POINT({x!r} 0)'), {P})" for x in (first, second))
    assert accepted(either, [(first, 0.0), (second, 0.0), (0.0, 0.0)]) == [0, 1]
    long = [Asked(box_of(0, 0, x, 1).buffer(1), 0).key for x in (1.0, float(np.nextafter(1.0, 2)))]
    assert asked_text(long[0], "p") != asked_text(long[1], "p")
