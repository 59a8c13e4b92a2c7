# ruff: noqa: PLR0917 (compiled functions take their arguments by position)
"""Covers: the cells in which a position may satisfy a spatial test, found by compiled loops.

A cell of a cover is *full* if every position in it satisfies the test, else *partial*. No position outside of a cover
satisfies the test. Each cell is enlarged by more than all rounding errors, so that both statements are certain. For
polygons and lines with few vertices, a partial cell also has the states of its sixteenths. There are no such states for
shapes so small that GEOS rounds products to zero, because positions beside such shapes also satisfy the test.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from asc.compiled import allocating, compiled
from asc.spatial.cells import ACROSS, SIDE, cell_of, rectangle, z_order
from asc.spatial.location import (
    INSIDE,
    LEAST_DISTANCE,
    OUTSIDE,
    UNDECIDED,
    ShapeArrays,
    crosses,
    is_near,
    is_short,
    place_in_polygons,
    sphere_distance_m,
    squared_distance,
)
from asc.spatial.shape import (
    DISTANCE_WORD,
    EARTH_RADIUS_M,
    HEAD_WORDS,
    KIND_WORD,
    POINTS,
    POLYGONS,
    RELATION_WORD,
    RINGS_WORD,
    WITHIN_DISTANCE,
)
from asc.spatial.subcells import ALL_EMPTY, ALL_FILLED, SUBCELL_CAPACITY, SUBCELL_LEVELS, fill_subcells, subcells_number

Array = npt.NDArray[Any]

FULL = 1
TURN_BITS, PARTED, NEAR_BITS = 1, 8, 4
"""The flags of an entry, which is a pair of a cell and a shape. FULL: whether the cell is full. From bit TURN_BITS on:
the turn of the earth (0, 360 or -360 degrees) by which the positions of the cell are moved before the test
(:data:`asc.spatial.cell_edges.Place`). PARTED: whether the cell has states of its sixteenths. From bit NEAR_BITS on:
the number of these states (:mod:`asc.spatial.subcells`), or the number of the cell's list of near edges plus one; 0 if
there is no list. Near edges are the edges of the shape that decide for the positions of the cell.
"""

LARGE = 512
"""The least number of vertices of a large shape. The cells of large shapes are divided further and have lists of near
edges. The cells of smaller shapes have states of sixteenths.
"""

NEAR = 24
"""The number of near edges up to which a cell is not divided further."""

STORED = 8
"""The greatest ratio of the near edges stored for all cells of a shape to the shape's vertices."""

LOOKED = 512
"""The greatest ratio of the edges read, while the cells of a shape are divided, to the shape's vertices. For a million
vertices this takes a second or two.
"""


class EntryArrays(NamedTuple):
    """The entries of an index of shapes. An entry is a cell, with a shape whose test a position in the cell may
    satisfy.

    ``starts`` int64: the start of each cell in the Z-order. ``shifts`` uint8: the size of the cell, as the number of
    halvings of its side down to the smallest cells. ``places`` int32: the number of the shape. ``entry_flags`` int32:
    the flags of the entry.
    """

    starts: Array
    shifts: Array
    places: Array
    entry_flags: Array


@compiled
def vertices_of(words: Array, base: int) -> int:
    """Return the number of vertices of all rings of a shape."""
    rings = words[base + RINGS_WORD]
    return words[base + HEAD_WORDS + rings - 1] >> 1 if rings > 0 else 0


@compiled
def box_of(words: Array, reals: Array, base: int, box: Array) -> bool:
    """Write to ``box`` the bounding box of the positions that may satisfy the test of the key at ``base``: the least
    and greatest x, then the least and greatest y. Turns of the earth are not considered.

    Return False if there are no such positions, because the shape is empty.
    """
    rings = words[base + RINGS_WORD]
    vertices = base + HEAD_WORDS + rings
    if rings == 0:
        return False
    end = vertices + 2 * vertices_of(words, base)
    box[0] = box[2] = np.inf
    box[1] = box[3] = -np.inf
    for place in range(vertices, end, 2):
        box[0], box[1] = min(box[0], reals[place]), max(box[1], reals[place])
        box[2], box[3] = min(box[2], reals[place + 1]), max(box[3], reals[place + 1])
    relation, distance = words[base + RELATION_WORD], reals[base + DISTANCE_WORD]
    if relation == WITHIN_DISTANCE:
        far = distance * (1 + 1e-9) + 1e-11 * max(abs(box[0]), abs(box[1]), abs(box[2]), abs(box[3])) + 1e-150
        box[0], box[1], box[2], box[3] = box[0] - far, box[1] + far, box[2] - far, box[3] + far
    elif relation > WITHIN_DISTANCE:
        angle = distance / EARTH_RADIUS_M * (1 + 1e-9) + 1e-9
        up = math.degrees(angle)
        low, high = box[2] - up, box[3] + up
        wide = math.sin(angle) / math.cos(math.radians(box[2]))
        # If the sine of the cap's width is about 1, rounding makes its arc useless: the cap nearly touches a pole, or
        # is half of the earth.
        if low <= -90.0 or high >= 90.0 or angle >= math.pi / 2 or wide >= 1 - 1e-9:
            box[0], box[1] = -180.0, 180.0
        else:
            across = math.degrees(math.asin(wide)) + 1e-9
            box[0], box[1] = box[0] - across, box[1] + across
            if box[1] - box[0] >= 360.0:
                box[0], box[1] = -180.0, 180.0
        box[2], box[3] = low, high
    return True


@compiled
def cover_shape(
    words: Array,
    reals: Array,
    base: int,
    number: int,
    turn: int,
    box: Array,
    square: Array,
    parts: Array,
    entries: EntryArrays,
    count: int,
) -> int:
    """Write the cells that cover shape ``number``, from index ``count`` of ``entries`` on. ``turn``: the degrees that
    are added to the longitudes of positions (0: none, 1: 360, 2: -360). ``box``: as :func:`box_of` writes it.

    Return the number of cells so far, or -1 if the arrays lack capacity for all cells that may come.

    ``square`` float64[10] has least and greatest x, least and greatest y of the area that is searched. Then come the
    origin and the scale of columns, those of rows, and the amounts by which a cell is enlarged on each side in x and in
    y. The outermost cells extend to the ends of that area. ``parts`` uint8[SUBCELL_CAPACITY]: scratch.
    """
    starts, shifts, places, entry_flags = entries.starts, entries.shifts, entries.places, entries.entry_flags
    if count + (ACROSS + 2) * (ACROSS + 2) > starts.size:
        return -1
    moved = 360.0 if turn == 1 else (-360.0 if turn == 2 else 0.0)
    least_x, greatest_x = max(box[0] - moved, square[0]), min(box[1] - moved, square[1])
    least_y, greatest_y = max(box[2], square[2]), min(box[3], square[3])
    if least_x > greatest_x or least_y > greatest_y:
        return count
    # A shape that was moved by a turn has rounded coordinates, so one more cell on each side is tested; few of these
    # are covered.
    slack = 1 if turn > 0 else 0
    first = max(0, cell_of(least_x, square[4], square[5]) - slack)
    last = min(SIDE - 1, cell_of(greatest_x, square[4], square[5]) + slack)
    low, high = cell_of(least_y, square[6], square[7]), cell_of(greatest_y, square[6], square[7])
    shift = 0
    while (max(last - first, high - low) + 1) >> shift > ACROSS:
        shift += 1
    is_area = words[base + KIND_WORD] & 0xFF == POLYGONS
    is_points = words[base + KIND_WORD] & 0xFF == POINTS
    is_region = words[base + RELATION_WORD] < WITHIN_DISTANCE
    is_cap, metres = words[base + RELATION_WORD] > WITHIN_DISTANCE, reals[base + DISTANCE_WORD]
    is_tiny = max(box[1] - box[0], box[3] - box[2]) < LEAST_DISTANCE
    if is_region and not is_points and not is_tiny and shift >= SUBCELL_LEVELS and vertices_of(words, base) < LARGE:
        cells = first >> shift, last >> shift, low >> shift, high >> shift
        fill_subcells(words, reals, base, square, shift, cells, moved, is_area, parts)
        return _write_parted(parts, cells, shift, number, turn, entries, count)
    for column in range(first >> shift, (last >> shift) + 1):
        for row in range(low >> shift, (high >> shift) + 1):
            x0, y0, x1, y1 = rectangle(square, shift, column, row, moved)
            full = False
            if is_cap:
                x, y = (x0 + x1) / 2, (y0 + y1) / 2
                far, _ = sphere_distance_m(reals[base + HEAD_WORDS + 1], reals[base + HEAD_WORDS + 2], x, y)
                # No position in the cell is farther from its middle than on a plane with these degrees. The added terms
                # cover rounding: half a metre at the antipode, next to nothing for a small distance.
                reach = EARTH_RADIUS_M * math.radians(math.hypot(x1 - x, y1 - y)) + 1e-6 * metres + 1e-5
                if far > metres + reach:
                    continue
                full = far + reach < metres
            elif is_region and not is_points and not _has_edge(words, reals, base, x0, y0, x1, y1):
                middle = place_in_polygons(words, reals, base, (x0 + x1) / 2, (y0 + y1) / 2) if is_area else 0
                if middle != INSIDE:
                    continue
                full = True
            starts[count] = z_order(column, row) << (2 * shift)
            shifts[count] = shift
            places[count] = number
            entry_flags[count] = (FULL if full else 0) | turn << TURN_BITS
            count += 1
    return count


@compiled
def _write_parted(
    parts: Array,
    cells: tuple[int, int, int, int],
    shift: int,
    number: int,
    turn: int,
    entries: EntryArrays,
    count: int,
) -> int:
    """Write the cells of a shape that have a sixteenth in which a position may satisfy the test, with the states of
    their sixteenths. Return the number of cells so far.
    """
    starts, shifts, places, entry_flags = entries.starts, entries.shifts, entries.places, entries.entry_flags
    first, last, low, high = cells
    for column in range(first, last + 1):
        for row in range(low, high + 1):
            states = subcells_number(parts, cells, column, row)
            if states == ALL_EMPTY:
                continue
            starts[count] = z_order(column, row) << (2 * shift)
            shifts[count] = shift
            places[count] = number
            entry_flags[count] = (FULL if states == ALL_FILLED else PARTED | states << NEAR_BITS) | turn << TURN_BITS
            count += 1
    return count


@compiled
def _has_edge(words: Array, reals: Array, base: int, x0: float, y0: float, x1: float, y1: float) -> bool:
    rings = words[base + RINGS_WORD]
    vertices = base + HEAD_WORDS + rings
    begin = vertices
    for ring in range(rings):
        end = vertices + 2 * (words[base + HEAD_WORDS + ring] >> 1)
        for place in range(begin + 2, end, 2):
            if is_near(reals[place - 2], reals[place - 1], reals[place], reals[place + 1], x0, y0, x1, y1):
                return True
        begin = end
    return False


@allocating
def cover_shapes(
    shapes: ShapeArrays,
    wanted: Array,
    first: int,
    square: Array,
    entries: EntryArrays,
    count: int,
) -> tuple[int, int]:
    """Write the cells of the shapes ``wanted[first:]`` at every turn, until the arrays are full or all shapes are
    covered. ``wanted``: indices of ``shapes.bases``.

    Return the index in ``wanted`` of the next shape, and the number of cells so far.
    """
    words, reals, bases = shapes.words, shapes.reals, shapes.bases
    box, parts = np.empty(4), np.empty(SUBCELL_CAPACITY, dtype=np.uint8)
    for place in range(first, wanted.size):
        number = wanted[place]
        base = bases[number]
        if not box_of(words, reals, base, box):
            continue
        is_around = words[base + RELATION_WORD] > WITHIN_DISTANCE and box[0] <= -180.0 and box[1] >= 180.0
        turns = 3 if words[base + KIND_WORD] >> 8 > 0 and not is_around else 1
        count_before = count
        for turn in range(turns):
            count = cover_shape(words, reals, base, number, turn, box, square, parts, entries, count)
            if count < 0:
                return place, count_before
    return wanted.size, count


@compiled
def find_parents(starts: Array, shifts: Array, parents: Array) -> None:
    """Write the parent of each cell: the smallest other cell around the cell; -1 if there is none. Cells are sorted by
    start, larger cells first.
    """
    for cell in range(starts.size):
        around = cell - 1
        while around >= 0 and starts[cell] >= starts[around] + (1 << (2 * shifts[around])):
            around = parents[around]
        parents[cell] = around


@allocating
def edges_of(words: Array, base: int) -> Array:
    """Return the edges of a shape, each as the offset of its end vertex from the shape's key. A shape of points has an
    edge for each point.
    """
    rings = words[base + RINGS_WORD]
    vertices = base + HEAD_WORDS + rings
    edges = np.empty(vertices_of(words, base), dtype=np.int32)
    count, begin = 0, vertices
    first_end = 0 if words[base + KIND_WORD] & 0xFF == POINTS else 2
    for ring in range(rings):
        end = vertices + 2 * (words[base + HEAD_WORDS + ring] >> 1)
        for place in range(begin + first_end, end, 2):
            edges[count] = place - base
            count += 1
        begin = end
    return edges[:count]


@compiled
def has_short_edge(words: Array, reals: Array, base: int, edges: Array) -> bool:
    """Return True if the test of a key compares a distance, and an edge of the shape is so short that GEOS computes a
    wrong distance from it. The result has to be that of GEOS nevertheless.
    """
    if words[base + RELATION_WORD] != WITHIN_DISTANCE or words[base + KIND_WORD] & 0xFF == POINTS:
        return False
    for number in range(edges.size):
        end = base + edges[number]
        if is_short(reals[end - 2], reals[end - 1], reals[end], reals[end + 1]):
            return True
    return False


@allocating
def near_edges(
    words: Array, reals: Array, base: int, among: Array, x0: float, y0: float, x1: float, y1: float, edges: Array
) -> tuple[int, bool]:
    """Write those edges of ``among`` to ``edges`` that decide whether a position in a rectangle satisfies the test of a
    key.

    Return the number of these edges, and True if certainly every position of the rectangle satisfies the test. For a
    test without a distance, they are the edges with a point in the rectangle. For a test of a distance, they are the
    edges that may be the nearest one to a position and within the distance.
    """
    count = 0
    back = 0 if words[base + KIND_WORD] & 0xFF == POINTS else 2
    if words[base + RELATION_WORD] != WITHIN_DISTANCE:
        for number in range(among.size):
            end = base + among[number]
            if is_near(reals[end - back], reals[end - back + 1], reals[end], reals[end + 1], x0, y0, x1, y1):
                edges[count] = among[number]
                count += 1
        return count, False
    distance = reals[base + DISTANCE_WORD]
    x, y = x0 / 2 + x1 / 2, y0 / 2 + y1 / 2
    half = math.hypot(x1 - x, y1 - y) * (1 + 1e-9)
    slack = 1e-9 * distance + 1e-11 * max(abs(x0), abs(y0), abs(x1), abs(y1)) + LEAST_DISTANCE
    far = np.empty(among.size)
    nearest = np.inf
    for number in range(among.size):
        end = base + among[number]
        ax, ay, bx, by = reals[end - back], reals[end - back + 1], reals[end], reals[end + 1]
        far[number] = math.sqrt(squared_distance(ax, ay, bx, by, x, y))
        rounded = 1e-11 * max(abs(ax), abs(ay), abs(bx), abs(by))
        nearest = min(nearest, far[number] + rounded)
        far[number] -= rounded
    if nearest + half + slack < distance:
        return 0, True
    most = min(distance, nearest + half) + half + slack
    for number in range(among.size):
        if far[number] <= most:
            edges[count] = among[number]
            count += 1
    return count, False


@compiled
def place_from(
    reals: Array, base: int, edges: Array, inside: bool, x: float, y: float, to_x: float, to_y: float
) -> int:
    """Return INSIDE, OUTSIDE or UNDECIDED: where a position is relative to the polygons of a shape. Only ``edges``,
    those near the position's cell, are read.

    ``to_x``, ``to_y``: the spot, another position of the same cell. ``inside``: whether the spot is inside the shape.
    """
    is_inside = inside
    for number in range(edges.size):
        end = base + edges[number]
        crossed = crosses(reals[end - 2], reals[end - 1], reals[end], reals[end + 1], x, y, to_x, to_y)
        if crossed == 2:
            return UNDECIDED
        is_inside ^= crossed == 1
    return INSIDE if is_inside else OUTSIDE
