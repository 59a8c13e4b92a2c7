"""Classes of cells by scopes, compared with shapely and with positions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from shapely.geometry import shape

from asc.errors import CubeError
from asc.operators.cube.computed.geohash_kernels import Positions, geohash_cells
from asc.operators.cube.computed.geohash_text import geohash_texts, number_of_text, numbers_of_texts
from asc.operators.cube.within.box_scope import BoxScope
from asc.operators.cube.within.cell_boxes import CellBoxes
from asc.operators.cube.within.cell_scope import CellScope
from asc.operators.cube.within.scope import INSIDE, OUTSIDE, TOUCHED, Classes, Scope
from asc.operators.cube.within.shape_scope import SHAPE_VERTICES_MAX, ShapeScope

ON_GRID_LONGITUDES = [-180.0, -135.0, -45.0, -11.25, 0.0, 11.25, 22.5, 90.0, 180.0]
ON_GRID_LATITUDES = [-90.0, -45.0, -5.625, 0.0, 5.625, 45.0, 90.0]
LONGITUDES = st.one_of(st.sampled_from(ON_GRID_LONGITUDES), st.floats(-180, 180))
LATITUDES = st.one_of(st.sampled_from(ON_GRID_LATITUDES), st.floats(-90, 90))
BITS = st.integers(1, 11)


def unpaused() -> None:
    """Go on."""


def classes_of(scope: Scope, bits: int) -> Classes:
    """Return the classes of all cells of some bits."""
    return scope.classes(np.arange(1 << bits), bits, unpaused)


def by_shapely(area: Any, bits: int) -> list[int]:
    """Return the classes of all cells, each compared by GEOS."""
    found = []
    for box in CellBoxes.of(np.arange(1 << bits), bits).polygons().tolist():
        found.append(INSIDE if area.covers(box) else TOUCHED if area.intersects(box) else OUTSIDE)
    return found


@given(LONGITUDES, LATITUDES, LONGITUDES, LATITUDES, BITS)
def test_a_box_is_that_of_shapely(west: float, south: float, east: float, north: float, bits: int) -> None:
    south, north = sorted((south, north))
    parts = [(west, 180.0), (-180.0, east)] if west > east else [(west, east)]
    scope = BoxScope(west, south, east, north)
    own = [by_shapely(shapely.box(first, south, last, north), bits) for first, last in parts if first < last]
    if len(own) < len(parts) or south == north:
        # GEOS has no empty boxes.
        assert INSIDE not in classes_of(scope, bits) or len(own) == 1
        return
    assert classes_of(scope, bits).tolist() == np.max(own, axis=0).tolist()


@given(st.tuples(LONGITUDES, LATITUDES), st.tuples(LONGITUDES, LATITUDES), st.tuples(LONGITUDES, LATITUDES), BITS)
def test_positions_of_inside_cells_are_in_the_box(
    one: tuple[float, float], other: tuple[float, float], position: tuple[float, float], bits: int
) -> None:
    west, east = one[0], other[0]
    south, north = sorted((one[1], other[1]))
    found = classes_of(BoxScope(west, south, east, north), bits)
    longitude, latitude = position
    cells = np.empty(1, dtype=np.int64)
    none = np.zeros(0, dtype=np.bool_)
    geohash_cells(Positions(np.array([latitude]), np.array([longitude]), none, none), bits, cells)
    wide = west <= longitude <= east if west <= east else longitude >= west or longitude <= east
    is_in = wide and south <= latitude <= north
    assert (found[cells[0]] == INSIDE) <= is_in <= (found[cells[0]] != OUTSIDE)


POLYGONS = [
    [[(-45.0, -45.0), (45.0, -45.0), (45.0, 45.0), (-45.0, 45.0)]],
    [[(0.0, 0.0), (90.0, 0.0), (0.0, 45.0)]],
    [[(-180.0, -90.0), (180.0, -90.0), (180.0, 90.0), (-180.0, 90.0)]],
    [
        [(-90.0, -80.0), (80.0, -70.0), (80.0, 85.0), (-60.0, 90.0)],
        [(0.0, 0.0), (0.0, 22.5), (22.5, 22.5), (22.5, 0.0)],
    ],
    [[(10.1, 10.1), (10.2, 10.1), (10.2, 10.2), (10.1, 10.2)]],
    [[(0.0, -90.0), (11.25, 0.0), (0.0, 90.0), (-11.25, 0.0)]],
]


def geojson(rings: list[list[tuple[float, float]]]) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": [[*map(list, ring), list(ring[0])] for ring in rings]}


@pytest.mark.parametrize("rings", POLYGONS)
@pytest.mark.parametrize("bits", [1, 2, 5, 10, 11])
def test_a_polygon_is_that_of_shapely(rings: list[list[tuple[float, float]]], bits: int) -> None:
    plain = geojson(rings)
    assert classes_of(ShapeScope.of(plain), bits).tolist() == by_shapely(shape(plain), bits)
    some = np.arange(0, 1 << bits, 3)
    assert ShapeScope.of(plain).classes(some, bits, unpaused).tolist() == by_shapely(shape(plain), bits)[::3]


EIGHTHS = st.tuples(st.integers(-720, 720), st.integers(-720, 720)).map(lambda own: (own[0] / 4, own[1] / 8))
CORNERS = st.tuples(st.sampled_from(ON_GRID_LONGITUDES), st.sampled_from(ON_GRID_LATITUDES))


@given(st.lists(st.one_of(EIGHTHS, CORNERS), min_size=3, max_size=8, unique=True), BITS)
def test_any_polygon_is_that_of_shapely(points: list[tuple[float, float]], bits: int) -> None:
    middle = np.mean(points, axis=0)
    ring = sorted(points, key=lambda own: math.atan2(own[1] - middle[1], own[0] - middle[0]))
    plain = geojson([ring])
    area = shape(plain)
    edges = zip(ring, [*ring[1:], ring[0]], strict=True)
    if not area.is_valid or area.area == 0 or any(abs(one[0] - other[0]) > 180 for one, other in edges):
        return
    assert classes_of(ShapeScope.of(plain), bits).tolist() == by_shapely(area, bits)


def test_several_polygons_and_longitudes_beyond_180() -> None:
    ring = [[170.0, -45.0], [200.0, -45.0], [200.0, 45.0], [170.0, 45.0], [170.0, -45.0]]
    other = [[0.0, 0.0], [45.0, 0.0], [45.0, 45.0], [0.0, 45.0], [0.0, 0.0]]
    found = classes_of(ShapeScope.of({"type": "MultiPolygon", "coordinates": [[ring], [other]]}), 11)
    over = classes_of(BoxScope(170.0, -45.0, -160.0, 45.0), 11)
    near = classes_of(BoxScope(0.0, 0.0, 45.0, 45.0), 11)
    assert found.tolist() == np.maximum(over, near).tolist()
    feature = {"type": "Feature", "properties": {}, "geometry": {"type": "Polygon", "coordinates": [other]}}
    assert classes_of(ShapeScope.of(feature), 11).tolist() == near.tolist()


def test_an_edge_along_the_sides_of_cells_cuts_none() -> None:
    square = [[0.0, 0.0], [45.0, 0.0], [45.0, 45.0], [0.0, 45.0], [0.0, 0.0]]
    found = classes_of(ShapeScope.of({"type": "Polygon", "coordinates": [square]}), 10)
    # 4 by 8 cells, and those that begin where it ends.
    assert np.bincount(found).tolist() == [1024 - 32 - 13, 13, 32]


@given(st.lists(st.tuples(st.integers(0, 2**12 - 1), st.integers(1, 12)), min_size=1, max_size=6), st.integers(1, 12))
def test_geohashes_are_unions_of_cells(geohashes: list[tuple[int, int]], bits: int) -> None:
    listed = [(number >> (12 - own), own) for number, own in geohashes]
    fine = {cell for number, own in listed for cell in range(number << (12 - own), (number + 1) << (12 - own))}
    expected = []
    for cell in range(1 << bits):
        parts = [part in fine for part in range(cell << (12 - bits), (cell + 1) << (12 - bits))]
        expected.append(INSIDE if all(parts) else TOUCHED if any(parts) else OUTSIDE)
    assert classes_of(CellScope.of(listed), bits).tolist() == expected


def test_the_finest_cells() -> None:
    cells = np.array([0, (1 << 60) - 1], dtype=np.int64)
    assert BoxScope(-180, -90, 180, 90).classes(cells, 60, unpaused).tolist() == [INSIDE, INSIDE]
    assert BoxScope(180, 90, 180, 90).classes(cells, 60, unpaused).tolist() == [OUTSIDE, TOUCHED]
    assert CellScope.of([((1 << 60) - 1, 60)]).classes(cells, 60, unpaused).tolist() == [OUTSIDE, INSIDE]


@given(st.integers(1, 60).flatmap(lambda bits: st.tuples(st.just(bits), st.sets(st.integers(0, 2**bits - 1)))))
def test_texts_and_numbers_are_the_same_cells(some: tuple[int, set[int]]) -> None:
    bits, cells = some
    texts = geohash_texts(np.array(sorted(cells), dtype=np.int64), bits)
    assert numbers_of_texts(texts, bits).tolist() == sorted(cells)
    assert numbers_of_texts(texts.slice(1), bits).tolist() == sorted(cells)[1:]
    assert [number_of_text(text) for text in texts.to_pylist()] == [(cell, bits) for cell in sorted(cells)]
    assert numbers_of_texts(pa.array([], pa.string()), bits).tolist() == []


@pytest.mark.parametrize("text", ["", ".", "a", "dr5.", "dr5.00000", "dr5.2", "0" * 13, "dr 5", "é"])
def test_other_texts_are_no_geohashes(text: str) -> None:
    assert number_of_text(text) is None


@pytest.mark.parametrize(
    ("plain", "said"),
    [
        (geojson([[(0, 0), (10, 10), (10, 0), (0, 10)]]), "within 'Self-intersection at 5 5': invalid shape: mend it"),
        ({"type": "Point", "coordinates": [1, 2]}, "within 'Point': has no area"),
        ({"type": "Polygon", "coordinates": []}, "has no area: give a Polygon"),
        ({"type": "Nix"}, 'within \'{"type": "Nix"}\': GeoJSON'),
        (geojson([[(0, 0), (1, 91), (1, 0)]]), "latitude: is beyond 90 degrees: longitude comes first"),
        (geojson([[(0, 0), (1, float("nan")), (1, 0)]]), "within"),
        (
            geojson([[(math.cos(i / 2_000), math.sin(i / 2_000)) for i in range(SHAPE_VERTICES_MAX)]]),
            "within 10001: vertices of a shape: at most 10,000",
        ),
    ],
)
def test_a_refused_polygon(plain: dict[str, Any], said: str) -> None:
    with pytest.raises(CubeError) as caught:
        ShapeScope.of(plain)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
