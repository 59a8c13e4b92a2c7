"""Names of shapes in answers, in place of their coordinates."""

from __future__ import annotations

from dataclasses import replace

import pytest
import shapely

from asc.predicate import normalise
from asc.predicate.normal_form.describe import describe
from asc.schema import Schema
from asc.spatial.feature import Feature
from asc.spatial.layer import Layer
from broker.http.shape_names import shape_names, with_shape_names
from broker.queries.join import Join

SMALL, LARGE = shapely.box(0, 0, 1, 1), shapely.Point(5, 5).buffer(2, quad_segs=200)
POINT = "ST_Point(x, y)"
NAMED = r"shape('zones', 'it\'s')"


@pytest.mark.parametrize("crs", ["wgs84", "planar"])
@pytest.mark.parametrize("relation", ["ST_Contains({}, {})", "NOT ST_Intersects({}, {})", "ST_DWithin({}, {}, 0.5)"])
@pytest.mark.parametrize("shape", [SMALL, LARGE], ids=["small", "large"])
def test_a_named_shape_is_shown_by_its_name(shape: shapely.Polygon, relation: str, crs: str) -> None:
    zones = {"zones": Layer({"it's": Feature(shape, {})}, is_planar=crs == "planar")}
    schema = replace(Schema.from_ddl("x DOUBLE, y DOUBLE"), crs=crs, layers=zones)
    other = "ST_Covers(ST_GeomFromText('POLYGON ((0 0, 3 0, 3 3, 0 0))'), ST_Point(x, y))"
    predicate = normalise(f"{relation.format(NAMED, POINT)} AND {other}", schema)
    names = shape_names(predicate, zones, None, None)
    text = with_shape_names(describe(predicate), names)
    assert relation.removeprefix("NOT ").format(NAMED, POINT) in text
    assert text.count("ST_GeomFromText(") == describe(predicate).count("'POLYGON ((0 0, 3 0, 3 3, 0 0))'")


def test_the_shape_of_a_join_is_its_geometry() -> None:
    zones = {"zones": Layer({"a": Feature(SMALL, {})})}
    schema = Schema.from_ddl("x DOUBLE, y DOUBLE")
    predicate = normalise(f"ST_Covers(ST_GeomFromText('{SMALL.wkt}'), {POINT})", schema)
    names = shape_names(predicate, zones, Join("zones"), "a")
    assert list(names.values()) == ["zones.geometry"]
    assert shape_names(predicate, zones, None, None) == {}
    assert shape_names(predicate, {}, Join("zones"), "a") == {}
