"""Sixteenths of cells: what is empty is met nowhere, what is filled everywhere, on borders and an ulp beside too."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import shapely

from asc.compiled import compiled
from asc.keys.dictionary import Dictionary
from asc.spatial.cells import z_order
from asc.spatial.cover import FULL, LARGE, NEAR_BITS, PARTED
from asc.spatial.index import ShapeIndex, Shapes
from asc.spatial.shape import CONTAINS, INTERSECTS, PLANAR, WGS84, Asked
from asc.spatial.subcells import ALL_FILLED, EMPTY, FILLED, PARTLY, subcell_of, subcell_state, subcells_number

Reals = npt.NDArray[np.float64]


@compiled
def read(number: int, key: int, shift: int) -> int:
    return subcell_state(number, subcell_of(key, shift))


def ring(random: np.random.Generator, vertices: int, x: float, y: float, reach: float) -> list[tuple[float, float]]:
    angle = np.sort(random.random(vertices)) * 2 * np.pi
    far = reach * random.uniform(0.3, 1.0, vertices)
    return list(zip((x + far * np.cos(angle)).tolist(), (y + far * np.sin(angle)).tolist(), strict=True))


def drawn(random: np.random.Generator, x: float, y: float, reach: float) -> list[shapely.Geometry]:
    shapes = [shapely.Polygon(ring(random, int(random.integers(3, 60)), x, y, reach)) for _ in range(6)]
    shapes += [
        shapely.box(x, y, x + reach, y + reach / 3),
        # A hole, a sliver, two parts, a way, and one along a column of cells.
        shapely.Polygon(
            [(x, y), (x + reach, y), (x + reach, y + reach), (x, y + reach)],
            [[(x + reach * dx, y + reach * dy) for dx, dy in ((0.25, 0.25), (0.5, 0.25), (0.5, 0.75), (0.25, 0.75))]],
        ),
        shapely.Polygon([(x, y), (x + reach, y + reach), (x + reach, y + reach * 1.0001)]),
        shapely.MultiPolygon(
            [shapely.box(x, y, x + reach / 8, y + reach), shapely.box(x + reach / 2, y, x + reach, y + 1)]
        ),
        shapely.LineString(ring(random, 9, x, y, reach)),
        shapely.LineString([(x, y), (x, y + reach)]),
    ]
    shapes += [aligned(x, y, reach, towards) for towards in (0, np.inf, -np.inf)]
    return [shape for shape in shapes if shape.is_valid]


def aligned(x: float, y: float, reach: float, towards: float) -> shapely.Geometry:
    """A polygon whose edges are on borders of sixteenths of degrees, or an ulp beside them."""
    side = 2 ** int(np.log2(reach * 2**26 / 360) - 3)
    wide, high = 360 / 2**26 * side, 180 / 2**26 * side
    column, row = round((x + 180) / wide), round((y + 90) / high)
    corners = np.array([(0, 0), (6, 0), (6, 3), (9, 3), (9, 20), (0, 20)]) + np.array([column - 5, row - 9])
    on_borders = corners * (wide, high) - (180, 90)
    return shapely.Polygon(on_borders if towards == 0 else np.nextafter(on_borders, towards))


def places_of(shape: shapely.Geometry, index: ShapeIndex, random: np.random.Generator) -> Reals:
    """Positions in and around a shape: anywhere, on its vertices and edges, on borders of sixteenths, an ulp beside."""
    left, low, right, high = shape.bounds
    wide = max(right - left, high - low)
    some = random.uniform((left - wide / 8, low - wide / 8), (right + wide / 8, high + wide / 8), (400, 2))
    vertices = shapely.get_coordinates(shape)
    share = random.random((len(vertices) - 1, 1))
    on_edges = vertices[:-1] * share + vertices[1:] * (1 - share)
    size = int(index.shifts.min()) - 2
    borders = some.copy()
    for axis, (origin, scale) in enumerate(((index.square[4], index.square[5]), (index.square[6], index.square[7]))):
        lines = np.round((some[:, axis] - origin) * scale / (1 << size)) * (1 << size) / scale + origin
        borders[:, axis] = np.where(random.random(len(some)) < 0.7, lines, some[:, axis])
    found = np.concatenate([some, vertices, on_edges, borders])
    beside = np.nextafter(found, random.choice([-np.inf, np.inf], found.shape))
    return np.concatenate([found, beside])


@pytest.mark.parametrize("crs", [WGS84, PLANAR])
@pytest.mark.parametrize("relation", [CONTAINS, INTERSECTS])
@pytest.mark.parametrize(
    ("x", "y", "reach"),
    [
        (13.4, 52.5, 0.01),
        (0.0, 0.0, 8.0),
        (179.9, -60.0, 0.25),
        (-180.0, 80.0, 3.0),
        (5.0, 89.0, 1.0),
        (2.0, 3.0, 1e-4),
    ],
)
def test_what_a_sixteenth_tells_is_so_of_each_position_in_it(
    crs: int, relation: int, x: float, y: float, reach: float
) -> None:
    random = np.random.default_rng(int(reach * 1e5) + relation)
    states, decided = set(), []
    for shape in drawn(random, x, y, reach):
        asked = Asked(shape, relation, crs=crs)
        dictionary = Dictionary.of([asked.key])
        index = ShapeIndex.of(Shapes.of(dictionary.offsets, dictionary.data), np.zeros(1, dtype=np.int32))
        assert (index.entry_flags & (PARTED | FULL)).all()
        places = places_of(shape, index, random)
        if crs == WGS84:
            places = np.concatenate([places, places + np.array([360, 0]), places - np.array([360, 0])])
            places = places[(np.abs(places) <= (180, 90)).all(axis=1)]
        own_x, own_y = places.T.copy()
        keys, met = index.cell_keys(own_x, own_y).tolist(), asked.decide(own_x, own_y).tolist()
        for key, is_met, place in zip(keys, met, places.tolist(), strict=True):
            sizes = 1 << 2 * index.shifts.astype(np.int64)
            around = np.flatnonzero((index.starts <= key) & (key < index.starts + sizes))
            entries = [entry for cell in around for entry in range(index.first[cell], index.first[cell + 1])]
            flags = [int(index.entry_flags[entry]) for entry in entries]
            numbers = [ALL_FILLED if says & FULL else says >> NEAR_BITS for says in flags]
            own = [read(number, key, int(index.shifts[around[0]])) for number in numbers]
            states |= set(own)
            decided.append(PARTLY not in own)
            assert not (is_met and all(state == EMPTY for state in own)), (shape, place)
            assert is_met or FILLED not in own, (shape, place)
    assert states == {EMPTY, PARTLY, FILLED}
    # Most positions are on an edge, a vertex, or a border: of the others hardly any is left open.
    assert np.mean(decided) > 0.3


def test_a_number_holds_what_sixteen_sixteenths_are() -> None:
    """Of two cells side by side and one above, as rows of sixteenths."""
    random = np.random.default_rng(0)
    cells = 5, 6, 9, 10
    parts = random.integers(0, 3, 64, dtype=np.uint8)
    for column in (5, 6):
        for row in (9, 10):
            number = subcells_number(parts, cells, column, row)
            assert 0 <= number <= ALL_FILLED
            for across in range(4):
                for up in range(4):
                    key = (z_order(4 * column + across, 4 * row + up) << 6) + 17
                    state = parts[(4 * (row - 9) + up) * 8 + 4 * (column - 5) + across]
                    assert read(number, key, 5) == state


def test_large_shapes_and_the_smallest_have_cells_without() -> None:
    angle = np.linspace(0, 2 * np.pi, LARGE, endpoint=False)
    large = shapely.Polygon(np.column_stack([np.cos(angle), np.sin(angle)]))
    small = shapely.box(0, 0, 360 / 2**26, 180 / 2**26)
    for shape in (large, small):
        dictionary = Dictionary.of([Asked(shape, CONTAINS).key])
        index = ShapeIndex.of(Shapes.of(dictionary.offsets, dictionary.data), np.zeros(1, dtype=np.int32))
        assert not (index.entry_flags & PARTED).any()
