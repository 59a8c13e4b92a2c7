"""Constant shapes: what is refused, with the reason and the place, and what is warned of."""

from __future__ import annotations

import json
import math

import pytest
import shapely

from asc.errors import ShapeError
from asc.nesting import WKT_LEVELS_MAX
from asc.spatial.reading import COORDINATE_MAX, Rules, checked, of_envelope, of_geojson, of_wkt


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("POLYGN ((0 0))", "Unknown type: 'POLYGN'"),
        ("", "Expected word"),
        ("SRID=4326;POINT (1 2)", "without SRID"),
        ("POLYGON ((0 0, 10 10, 10 0, 0 10, 0 0))", "Self-intersection at 5 5"),
        ("POLYGON ((0 0, 10 0, 10 10, 0 10))", "do not form a closed linestring"),
        ("POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0), (5 5, 6 5, 6 6, 5 5))", "Hole lies outside shell at 5 5"),
        ("GEOMETRYCOLLECTION (POINT (1 2))", "GeometryCollection"),
        ("GEOMETRYCOLLECTION(" * 100_000, "is nested deeper than 10 levels"),
        ("POLYGON ((0 0, 10 95, 10 0, 0 0))", "latitude 95.0: is beyond 90 degrees: longitude comes first (swapped?)"),
        ("POINT (541 3)", "longitude 541.0: is more than a turn"),
        ("POLYGON ((-170 0, 170 0, 170 1, -170 0))", "write 190 for -170"),
        ("CIRCULARSTRING (0 0, 1 1, 2 0)", "CIRCULARSTRING"),
        ("POINT (nan 1)", "no finite number"),
        ("POINT (1e999 1)", "no finite number"),
    ],
)
def test_what_is_no_shape_is_refused_with_its_reason(text: str, said: str) -> None:
    with pytest.raises(ShapeError) as caught:
        of_wkt(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_coordinate_is_as_large_as_the_limit_and_no_larger() -> None:
    planar = Rules(is_planar=True)
    assert of_wkt(f"POINT ({-COORDINATE_MAX!r} {COORDINATE_MAX!r})", planar)
    with pytest.raises(ShapeError, match="no finite number"):
        of_wkt(f"POINT (1 {math.nextafter(COORDINATE_MAX, math.inf)!r})", planar)


def test_wkt_is_as_deep_as_the_limit_and_no_deeper() -> None:
    def nested(levels: int) -> str:
        return "GEOMETRYCOLLECTION(" * (levels - 1) + "POINT (1 2)" + ")" * (levels - 1)

    with pytest.raises(ShapeError, match="GeometryCollection"):
        of_wkt(nested(WKT_LEVELS_MAX))
    with pytest.raises(ShapeError, match=f"is nested deeper than {WKT_LEVELS_MAX} levels"):
        of_wkt(nested(WKT_LEVELS_MAX + 1))


def test_geojson_of_a_geometry_or_a_feature_is_read() -> None:
    point = {"type": "Point", "coordinates": [1, 2]}
    assert of_geojson(json.dumps(point)).geometry == shapely.Point(1, 2)
    feature = {"type": "Feature", "properties": {}, "geometry": point}
    assert of_geojson(json.dumps(feature)).geometry == shapely.Point(1, 2)
    for wrong in ("[" * 5_000, "{", '{"type": "Point"}', "null", '{"type": "FeatureCollection", "features": []}'):
        with pytest.raises(ShapeError):
            of_geojson(wrong)


def test_a_third_coordinate_is_left_out_and_an_empty_shape_stays_each_with_a_warning() -> None:
    read = of_wkt("POLYGON Z ((0 0 1, 4 0 1, 4 4 1, 0 0 1))")
    assert not read.geometry.has_z
    assert "third coordinate" in read.warnings[0]
    empty = of_wkt("POLYGON EMPTY")
    assert empty.geometry.is_empty
    assert "empty" in empty.warnings[0]
    assert of_wkt("POINT (1 2)").warnings == ()


def test_an_envelope_goes_from_its_least_corner_to_its_greatest() -> None:
    assert of_envelope((0, 0, 2, 1)).geometry.bounds == (0, 0, 2, 1)
    assert of_envelope((170, 0, 190, 1)).geometry.bounds == (170, 0, 190, 1)
    for wrong in ((2, 0, 0, 1), (0, 1, 2, 0), (0, 0, 0, 1), (0, 0, float("nan"), 1)):
        with pytest.raises(ShapeError, match="least x and y"):
            of_envelope(wrong)


def test_an_edge_around_the_earth_is_a_pole_and_the_plane_has_no_degrees() -> None:
    # As Antarctica has one, along the pole.
    assert of_wkt("POLYGON ((-180 -90, 180 -90, 180 -60, 0 -60, -180 -60, -180 -90))").geometry.is_valid
    assert of_wkt("POLYGON ((0 0, 1e6 0, 1e6 1e6, 0 0))", Rules(is_planar=True)).geometry.is_valid
    with pytest.raises(ShapeError, match="finite"):
        checked(shapely.Point(1e101, 0), Rules(is_planar=True))
