"""The index of shapes against shapely, scalar by scalar: nowhere a tolerance."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.keys.dictionary import Dictionary
from asc.keys.shapes import found_shapes
from asc.spatial.cover import FULL
from asc.spatial.index import ShapeIndex, Shapes
from asc.spatial.shape import (
    BELOW_SPHERE,
    CONTAINS,
    INTERSECTS,
    PLANAR,
    WGS84,
    WITHIN_DISTANCE,
    WITHIN_SPHERE,
    Asked,
)

Reals = npt.NDArray[np.float64]


def star(random: np.random.Generator, vertices: int, x: float, y: float, reach: float) -> shapely.Polygon:
    """A polygon with spikes, which are near each other in its middle."""
    angle = np.sort(random.random(vertices)) * 2 * math.pi
    far = reach * random.uniform(0.1, 1.0, vertices)
    found = shapely.Polygon(np.column_stack([x + far * np.cos(angle), y + far * np.sin(angle)]))
    return found if found.is_valid else star(random, vertices, x, y, reach)


def found(asked: Sequence[Asked], x: Reals, y: Reals) -> npt.NDArray[np.bool_]:
    """By the index: bool[positions, asked]."""
    keys = [one.key for one in asked]
    dictionary = Dictionary.of(keys)
    shapes = Shapes.of(dictionary.offsets, dictionary.data)
    index = ShapeIndex.of(shapes, np.arange(len(dictionary), dtype=np.int32))
    rows, numbers = found_shapes(shapes, index, x, y)
    assert len(np.unique(rows << 32 | numbers)) == len(rows)
    met = np.zeros((len(x), len(dictionary)), dtype=np.bool_)
    met[rows, numbers] = True
    place = {key: number for number, key in enumerate(dictionary.constants())}
    return met[:, [place[key] for key in keys]]


def assert_as_shapely(asked: Sequence[Asked], x: Reals, y: Reals) -> None:
    met = found(asked, x, y)
    for number, one in enumerate(asked):
        expected = one.decide(x, y)
        wrong = np.flatnonzero(met[:, number] != expected)
        assert not len(wrong), (one, [(x[row].hex(), y[row].hex(), bool(expected[row])) for row in wrong[:3].tolist()])


def positions(random: np.random.Generator, shapes: Sequence[shapely.Geometry], count: int) -> tuple[Reals, Reals]:
    """Anywhere, on vertices, on edges, and an ulp beside each."""
    vertices = np.concatenate([shapely.get_coordinates(shape) for shape in shapes])
    first = random.integers(0, len(vertices) - 1, count)
    share = random.choice([0.5, 0.25, random.random()], (count, 1))
    edges = vertices[first] * share + vertices[first + 1] * (1 - share)
    exact = np.concatenate([vertices[random.integers(0, len(vertices), count)], edges])
    beside = np.nextafter(exact, exact + random.choice([-1.0, 0.0, 1.0], exact.shape))
    anywhere = random.uniform((-180, -90), (180, 90), (count, 2))
    ends = np.array([(x, y) for x in (-180.0, 180.0, 0.0) for y in (-90.0, 90.0, 0.0, 30.0)])
    every = np.concatenate([exact, beside, anywhere, ends])
    every = every[(np.abs(every[:, 0]) <= 180) & (np.abs(every[:, 1]) <= 90)]
    return every[:, 0].copy(), every[:, 1].copy()


def test_all_relations_to_shapes_of_all_sizes_are_those_of_shapely() -> None:
    random = np.random.default_rng(1)
    shapes: list[shapely.Geometry] = [
        star(random, int(random.integers(3, 30)), *random.uniform((-179, -89), (179, 89)), random.uniform(0.001, 15))
        for _ in range(60)
    ]
    shapes += [
        shapely.box(170, -10, 190, 10),
        shapely.box(-200, 20, -170, 40),
        shapely.box(-180, -90, 180, 90),
        shapely.box(-180, 0, 180, 0.5),
        shapely.Polygon([(0, 0), (8, 0), (8, 8), (0, 8)], [[(2, 2), (4, 2), (4, 4), (2, 4)], [(5, 5), (7, 5), (6, 6)]]),
        shapely.Polygon([(0, 0), (60, 1e-9), (60, 2e-9)]),
        shapely.MultiPolygon([shapely.box(0, 0, 1, 1), shapely.box(1, 1, 2, 2)]),
        shapely.LineString([(0, 0), (10, 10), (20, -5)]),
        shapely.Point(5, 5),
        shapely.MultiPoint([(1, 2), (3, 4), (179.5, 3)]),
        shapely.Polygon(),
    ]
    asked = [Asked(shape, relation) for shape in shapes for relation in (CONTAINS, INTERSECTS)]
    asked += [Asked(shape, WITHIN_DISTANCE, float(random.choice([0.0, 0.01, 1.5]))) for shape in shapes]
    asked += [
        Asked(shapely.Point(*random.uniform((-180, -90), (180, 90))), relation, float(metres))
        for relation in (WITHIN_SPHERE, BELOW_SPHERE)
        for metres in (0.0, 5e3, 3e5, 1.2e7, 2.1e7)
    ]
    asked += [Asked(shapely.Point(x, y), WITHIN_SPHERE, 2e5) for x, y in ((180, 0), (-180, 89.5), (0, -90), (3, 90))]
    assert_as_shapely(asked, *positions(random, [shape for shape in shapes if not shape.is_empty], 400))


def test_large_shapes_keep_the_edges_near_each_cell() -> None:
    random = np.random.default_rng(2)
    shapes = [star(random, 400, 10, 10, 30), star(random, 3_000, 0, 0, 40), star(random, 900, 178, -40, 20)]
    asked = [Asked(shape, relation) for shape in shapes for relation in (CONTAINS, INTERSECTS)]
    assert_as_shapely(asked, *positions(random, shapes, 2_000))


def test_of_long_lines_many_points_and_distances_edges_are_kept_as_well() -> None:
    random = np.random.default_rng(6)
    walk = np.cumsum(random.normal(size=(1_500, 2)), axis=0)
    walk *= 20 / np.abs(walk).max()
    line = shapely.LineString(np.add(walk, (165, 10)))
    lines = shapely.MultiLineString([walk[:600], np.add(walk[600:], (5, 5))])
    points = shapely.MultiPoint(random.uniform(-20, 20, (900, 2)))
    spiky, holed = star(random, 700, -165, -20, 25), shapely.buffer(shapely.MultiPoint(walk[::3]), 0.4)
    shapes = [line, lines, points, spiky, holed]
    asked = [Asked(shape, relation) for shape in shapes for relation in (CONTAINS, INTERSECTS)]
    asked += [Asked(shape, WITHIN_DISTANCE, far) for shape in shapes for far in (0.0, 1e-3, 0.3, 7.0, 200.0)]
    x, y = positions(random, shapes, 500)
    assert_as_shapely(asked, x, y)
    # As far as is asked, and an ulp more or less.
    corners = shapely.get_coordinates(points)[:300]
    for far in (0.3, 7.0):
        beside = corners + np.array([far, 0.0])
        x, y = np.concatenate([beside, np.nextafter(beside, 0), np.nextafter(beside, 99)]).T.copy()
        assert_as_shapely([Asked(shape, WITHIN_DISTANCE, far) for shape in shapes], x, y)


def test_caps_of_every_size_at_every_place_are_what_python_computes() -> None:
    random = np.random.default_rng(8)
    quarter = math.pi / 2 * 6_371_008.0
    middles = [(0.0, 0.0), (0.0, 1e-9), (30.0, -1e-7), (180.0, 0.0), (-180.0, 45.0), (7.0, 90.0), (7.0, -90.0)]
    middles += [(12.0, 89.999999), *((x, y) for x, y in random.uniform((-180, -90), (180, 90), (6, 2)).tolist())]
    asked: list[Asked] = []
    places: list[tuple[float, float]] = []
    for x, y in middles:
        to_pole = math.radians(90 - abs(y)) * 6_371_008.0
        sizes = [0.0, 1e-3, 40.0, 1e6, quarter, 2 * quarter, 2 * quarter - 0.2, 2 * quarter - 1e4, to_pole]
        # Next to half the earth, or up to a pole: the arc in longitude is all but told.
        sizes += [size - less for size in (quarter, to_pole) for less in (1e-3, 0.03, 0.3, 10.0) if size > less]
        asked += [Asked(shapely.Point(x, y), relation, m) for m in sizes for relation in (WITHIN_SPHERE, BELOW_SPHERE)]
        turns = [
            (x + turn + more, y + up) for turn in (0, 90, -90, 180) for more in (0, 1e-6, -1e-6) for up in (0, 1e-7)
        ]
        places += [((lon + 180) % 360 - 180, lat) for lon, lat in turns]
        places += [(x, -y), ((x + 360) % 360 - 180, -y), (x, 90.0), (-x, -90.0), (180.0, y), (-180.0, y)]
    every = np.array([*places, *random.uniform((-180, -90), (180, 90), (300, 2)).tolist()])
    every = every[np.abs(every[:, 1]) <= 90]
    assert_as_shapely(asked, *every.T.copy())
    # By the rounded arc it ends before 90 degrees, where a cell begins, and it does not.
    next_to_half = Asked(shapely.Point(math.degrees(1.42e-8), 0), WITHIN_SPHERE, 6_371_008.0 * (math.pi / 2 - 1.35e-8))
    x = 90 + np.array([-1e-6, 0.0, 1e-8, 2e-8, 4e-8, 1e-6])
    assert next_to_half.decide(x, np.zeros(6)).tolist() == [True, True, True, True, True, False]
    assert_as_shapely([next_to_half], x, np.zeros(6))


def test_a_cap_of_all_of_the_earth_has_full_cells_and_one_of_half_of_it_some() -> None:
    for metres, least in ((2.001e7, 0.75), (1e7, 0.2)):
        dictionary = Dictionary.of([Asked(shapely.Point(10, 50), WITHIN_SPHERE, metres).key])
        index = ShapeIndex.of(Shapes.of(dictionary.offsets, dictionary.data), np.zeros(1, dtype=np.int32))
        assert (index.entry_flags & FULL).mean() >= least


def test_large_shapes_with_edges_too_short_to_be_squared_are_what_geos_makes_of_them() -> None:
    random = np.random.default_rng(7)
    walk = np.cumsum(random.normal(size=(600, 2)), axis=0)
    walk[300:303] = [(0, 0), (1.8e-162, 0), (2.75e-162, 0)]
    shapes = [shapely.LineString(walk), shapely.LineString(walk[:303] * 1e-165), shapely.MultiPoint(walk * 1e-160)]
    shapes += [shapely.MultiPoint(np.vstack([walk, random.normal(size=(600, 2)) * 1e-170]))]
    asked = [Asked(shape, WITHIN_DISTANCE, far, PLANAR) for shape in shapes for far in (0.0, 1e-163, 0.9, 1.0, 3.0)]
    asked += [Asked(shape, INTERSECTS, crs=PLANAR) for shape in shapes]
    near = random.normal(size=(200, 2))
    x, y = np.concatenate([near, near * 1e-160, near * 1e-163, walk[298:304], [(1.8e-162, 1), (0, 1)]]).T.copy()
    assert_as_shapely(asked, x, y)


def test_the_plane_has_no_turns_and_no_end() -> None:
    random = np.random.default_rng(3)
    shapes = [star(random, 9, *random.uniform(-2e6, 2e6, 2), 1e5) for _ in range(30)]
    asked = [Asked(shape, CONTAINS, crs=PLANAR) for shape in shapes]
    vertices = np.concatenate([shapely.get_coordinates(shape) for shape in shapes])
    anywhere = random.uniform(-3e6, 3e6, (500, 2))
    x, y = np.concatenate([vertices, anywhere, [[1e300, -1e300]]]).T.copy()
    assert_as_shapely(asked, x, y)


@pytest.mark.parametrize("far", [1e3, 1e9, 1e99])
def test_shapes_that_lie_far_out_leave_the_cells_of_the_others_as_small_as_they_are(far: float) -> None:
    random = np.random.default_rng(4)
    most = [star(random, 7, *random.uniform(-100, 100, 2), 1.0) for _ in range(100)]
    beside = [
        star(random, 7, far, -far, far / 10),
        star(random, 9, -far, 0.0, 2.0 * max(1.0, far * 1e-12)),
        shapely.box(-far, -far, 0.5, 0.5),
        shapely.box(-3, -3, far, 2 * far),
        shapely.LineString([(-far, 0), (far, 1)]),
        shapely.Point(50, far),
    ]
    shapes = most + beside
    asked = [Asked(shape, relation, crs=PLANAR) for shape in shapes for relation in (CONTAINS, INTERSECTS)]
    asked += [Asked(shape, WITHIN_DISTANCE, 1.5, PLANAR) for shape in [*most[:20], *beside]]
    vertices = np.concatenate([shapely.get_coordinates(shape) for shape in shapes])
    near = vertices + random.normal(size=vertices.shape)
    anywhere = np.concatenate([random.uniform(-110, 110, (300, 2)), random.uniform(-2 * far, 2 * far, (100, 2))])
    x, y = np.concatenate([vertices, np.nextafter(vertices, np.inf), near, anywhere]).T.copy()
    assert_as_shapely(asked, x, y)
    listed = []
    for some in (most, most + [shape for shape in beside if not shape.intersects(shapely.box(-101, -101, 101, 101))]):
        dictionary = Dictionary.of([Asked(shape, CONTAINS, crs=PLANAR).key for shape in some])
        own = Shapes.of(dictionary.offsets, dictionary.data)
        index = ShapeIndex.of(own, np.arange(len(dictionary), dtype=np.int32))
        keys = index.cell_keys(*random.uniform(-100, 100, (2, 500)))
        listed.append(sum(len(index.shapes_around(key)) for key in keys.tolist()) / len(keys))
    assert listed[1] < 2 * listed[0] + 0.1


def test_points_in_one_place_and_one_far_out_have_cells() -> None:
    for places in ([(5, 5)] * 4 + [(1e9, 5)], [(0, 0), (1e-9, 0), (1e12, 1e12)], [(1e99, 1e99)] * 2 + [(0, 0)]):
        asked = [Asked(shapely.Point(place), WITHIN_DISTANCE, 1e-9, PLANAR) for place in dict.fromkeys(places)]
        x, y = np.array([*places, (7, 7), (1e99, -1e99)], dtype=float).T.copy()
        assert_as_shapely(asked, x, y)


coordinate = st.integers(-24, 24).map(lambda eighths: eighths / 8)


@st.composite
def polygons(draw: st.DrawFn) -> shapely.Polygon:
    places = draw(st.lists(st.tuples(coordinate, coordinate), min_size=3, max_size=7, unique=True))
    hull = shapely.MultiPoint(places).convex_hull
    return hull if hull.geom_type == "Polygon" else shapely.box(0, 0, 1, 1)


@given(polygons(), st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=40), st.data())
@settings(max_examples=60, deadline=None)
def test_what_does_not_change_a_shape_changes_no_answer(
    shape: shapely.Polygon, places: list[tuple[float, float]], data: st.DataObject
) -> None:
    x, y = np.array(places).T.copy()
    ring = shapely.get_coordinates(shape)[:-1]
    by = data.draw(st.integers(0, len(ring) - 1))
    middles = np.stack([ring, (ring + np.roll(ring, -1, axis=0)) / 2], axis=1).reshape(-1, 2)
    same = [ring, ring[::-1], np.roll(ring, by, axis=0), middles]
    asked = [Asked(shapely.Polygon(own), relation) for own in same for relation in (CONTAINS, INTERSECTS)]
    met = found(asked, x, y)
    assert (met[:, 0::2] == met[:, :1]).all()
    assert (met[:, 1::2] == met[:, 1:2]).all()
    # A turn of the earth, and twice the size.
    turned = found(
        [Asked(shapely.Polygon(np.add(ring, (360, 0))), CONTAINS), Asked(shapely.Polygon(ring), CONTAINS)], x, y
    )
    assert (turned[:, 0] == met[:, 0]).all()
    larger = found([Asked(shapely.Polygon(ring * 4), CONTAINS)], x * 4, y * 4)
    assert (larger[:, 0] == met[:, 0]).all()
    # Cut in two along a line of dyadic coordinates, the halves hold what the whole does.
    low, high = ring[:, 0].min(), ring[:, 0].max()
    box = shapely.box(low, ring[:, 1].min(), high, ring[:, 1].max())
    cut = (low + high) / 2
    halves = [shapely.box(low, box.bounds[1], cut, box.bounds[3]), shapely.box(cut, box.bounds[1], high, box.bounds[3])]
    met = found([Asked(own, INTERSECTS) for own in (box, *halves)], x, y)
    assert (met[:, 1:].any(axis=1) == met[:, 0]).all()


@pytest.mark.parametrize("reach", [1e15, 1e18, 1e22, 1e30, 1e99])
def test_edges_that_go_on_far_beyond_the_square_are_where_they_are(reach: float) -> None:
    """The square is around most shapes; of an edge that leaves it what is rounded hangs on how long it is."""
    random = np.random.default_rng(int(np.log10(reach)))
    places = random.uniform(-100, 100, (100, 2))
    asked = [Asked(shapely.box(a, b, a + 1, b + 1), CONTAINS, crs=PLANAR) for a, b in places.tolist()]
    asked.append(Asked(shapely.box(1e9, 1e9, 1e9 + 1, 1e9 + 1), CONTAINS, crs=PLANAR))
    dictionary = Dictionary.of([one.key for one in asked])
    own = Shapes.of(dictionary.offsets, dictionary.data)
    square = ShapeIndex.of(own, np.arange(len(dictionary), dtype=np.int32)).square
    across, up = 1 / square[5], 1 / square[7]
    # All of the square, and a corner of it, whose cells are the smallest.
    triangles = [[(-reach, -reach), (reach, reach), (reach, -reach)]]
    corner_x, corner_y = square[4] + (2**26 - 30) * across, square[6] + (2**26 - 30) * up
    triangles.append(
        [(corner_x, corner_y), (corner_x + reach, corner_y + 0.6 * reach), (corner_x + reach, corner_y + 2 * reach)]
    )
    asked += [Asked(shapely.Polygon(one), relation, crs=PLANAR) for one in triangles for relation in (0, 1)]
    along = np.linspace(square[4], square[4] + 2**26 * across, 700)
    near = random.uniform(0, 36, 700)
    x = np.concatenate([along, along + 1, along, corner_x + near * across, corner_x + near * across])
    y = np.concatenate([along, along, along - 1, corner_y + 0.6 * near * up, corner_y + 2 * near * up])
    assert_as_shapely(asked, x, y)


@pytest.mark.parametrize("size", [1e-150, 1e-170, 1e-240])
def test_lines_whose_products_are_nothing_are_what_geos_makes_of_them(size: float) -> None:
    random = np.random.default_rng(0)
    asked = [Asked(shapely.LineString(size * random.random((5, 2))), INTERSECTS, crs=PLANAR) for _ in range(40)]
    x, y = size * random.uniform(-0.2, 1.2, (2, 400))
    assert_as_shapely(asked, x, y)


@pytest.mark.parametrize("crs", [PLANAR, WGS84])
def test_shapes_in_one_place_and_none_are_found(crs: int) -> None:
    asked = [Asked(shapely.box(0, 0, 1 + number * 1e-9, 1), CONTAINS, crs=crs) for number in range(500)]
    x, y = np.array([0.5, 2.0, np.nan]), np.array([0.5, 0.5, 0.5])
    assert found(asked, x, y).sum(axis=1).tolist() == [500, 0, 0]
    none = ShapeIndex.of(
        Shapes.of(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.uint8)), np.empty(0, dtype=np.int32)
    )
    assert none.cell_keys(x, y).tolist()[2] == -1
    assert len(none.shapes_around(5)) == 0
