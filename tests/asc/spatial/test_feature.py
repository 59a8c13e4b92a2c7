"""GeoJSON Features: read together as one by one, and written so that they are read the same."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import shapely

from asc.errors import ShapeError
from asc.spatial.feature import Feature, feature_of, feature_text, features_of
from asc.spatial.reading import Rules


def text(geometry: object, properties: object = None, **more: Any) -> str:
    return json.dumps({"type": "Feature", "geometry": geometry, "properties": properties, **more})


def polygon(*vertices: tuple[float, float]) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": [[*vertices, vertices[0]]]}


SQUARE = polygon((0, 0), (2, 0), (2, 2), (0, 2))
BOW_TIE = polygon((0, 0), (2, 2), (2, 0), (0, 2))
GOOD = {
    "polygon": text(SQUARE, {"ceiling": 4500, "name": "Ærø"}),
    "point": text({"type": "Point", "coordinates": [8.5, 47.25]}),
    "several points": text({"type": "MultiPoint", "coordinates": [[1, 2], [3, 4]]}),
    "line": text({"type": "LineString", "coordinates": [[1, 2], [3, 4]]}),
    "several polygons": text({"type": "MultiPolygon", "coordinates": [SQUARE["coordinates"]]}),
    "no geometry": text(None, {"low": 1}),
    "no properties": '{"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}}',
    "three coordinates": text({"type": "Point", "coordinates": [1, 2, 3]}),
    "empty": text({"type": "Polygon", "coordinates": []}),
    "past the antimeridian": text(polygon((170, 0), (190, 0), (190, 5), (170, 5))),
}
BAD = {
    "no JSON": ("{", "is not JSON"),
    "no object": ("[1]", "GeoJSON of type 'list'"),
    "a bare geometry": (json.dumps(SQUARE), "GeoJSON of type 'Polygon'"),
    "a collection": ('{"type": "FeatureCollection", "features": []}', "GeoJSON of type 'FeatureCollection'"),
    "properties of no object": (text(SQUARE, [1]), "properties of a Feature"),
    "invalid": (text(BOW_TIE), "invalid shape 'Self-intersection at 1 1'"),
    "swapped": (text({"type": "Point", "coordinates": [47, 108]}), "beyond 90 degrees"),
    "open ring": (text({"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1]]]}), "closed linestring"),
    "collection of geometries": (text({"type": "GeometryCollection", "geometries": []}), "'GeometryCollection'"),
    "wide edge": (text(polygon((-100, 0), (100, 0), (100, 5), (-100, 5))), "edge over 180 degrees"),
    "infinite": ('{"type": "Feature", "geometry": {"type": "Point", "coordinates": [1e999, 2]}}', "no finite number"),
    "NaN": ('{"type": "Feature", "geometry": {"type": "Point", "coordinates": [NaN, 2]}}', "no finite number"),
    "deep": ("[" * 100_000, "is nested deeper than 100 levels"),
}


@pytest.mark.parametrize("one", GOOD)
def test_a_feature_is_written_as_it_is_read(one: str) -> None:
    found = feature_of(GOOD[one], Rules())
    again = feature_of(feature_text(found), Rules())
    assert (again.shape, again.properties) == (found.shape, found.properties)


@pytest.mark.parametrize("one", BAD)
def test_what_is_refused_is_told_in_one_line(one: str) -> None:
    content, said = BAD[one]
    with pytest.raises(ShapeError) as caught:
        feature_of(content, Rules())
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_shape_has_no_more_vertices_than_the_limit() -> None:
    assert feature_of(text(SQUARE), Rules(vertices_max=5)).shape
    with pytest.raises(ShapeError, match=r"vertices of a shape 5: at most 4"):
        feature_of(text(SQUARE), Rules(vertices_max=4))


def test_collections_in_each_other_are_not_given_to_geos() -> None:
    """It goes a call deeper for each, and a stack that overflows ends the process."""
    deep = text(None).replace("null", '{"type":"GeometryCollection","geometries":[' * 100_000 + "]}" * 100_000)
    refused, taken = features_of([deep, text(SQUARE)], Rules())
    assert isinstance(refused, ShapeError)
    assert "is nested deeper than 100 levels" in str(refused)
    assert isinstance(taken, Feature)


def test_many_are_read_as_one_by_one() -> None:
    texts = [*GOOD.values(), *(content for content, _ in BAD.values())] * 3
    for rules in (
        Rules(),
        Rules(repairs=True),
        Rules(is_planar=True),
        Rules(allow_edges_over_180_deg=True),
        Rules(vertices_max=4),
    ):
        for content, found in zip(texts, features_of(texts, rules), strict=True):
            try:
                alone: Feature | ShapeError = feature_of(content, rules)
            except ShapeError as error:
                alone = error
            assert type(found) is type(alone), content[:80]
            assert str(found) == str(alone)
    assert features_of([], Rules()) == []


@pytest.mark.filterwarnings("error")
def test_a_number_beyond_a_double_is_refused_without_a_warning_of_numpy() -> None:
    content, said = BAD["infinite"]
    assert [said in str(one) for one in features_of([content], Rules())] == [True]


def test_digits_are_kept() -> None:
    rng = np.random.default_rng(5)
    for x, y in rng.uniform(-90, 90, (200, 2)):
        shape = shapely.Point(x, y)
        assert feature_of(feature_text(Feature(shape, {})), Rules()).shape == shape


def test_what_is_mended_is_told_and_valid() -> None:
    found = feature_of(text(BOW_TIE), Rules(repairs=True))
    assert found.shape is not None
    assert found.shape.is_valid
    assert found.warnings == ("mended: Self-intersection at 1 1; its area was 0 and is 2",)
    with pytest.raises(ShapeError, match="invalid shape"):
        feature_of(text(polygon((0, 0), (1, 1), (2, 2))), Rules(repairs=True))
