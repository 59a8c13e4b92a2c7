# ruff: noqa: PLR0917 (compiled functions take their arrays one by one, by position)
"""Compiled decisions whether a position satisfies a spatial test, such as containment in a shape. A key represents the
test (:mod:`asc.spatial.shape`). The library GEOS decides doubtful cases.

A ray from the position to the right is intersected with the rings, as in GEOS. The sign of a determinant decides on
which side of an edge a position is, if the determinant is larger than its rounding error can be. This is Shewchuk's
filter, with the factor that GEOS uses. Otherwise the answer is UNSURE, and GEOS decides. Cost: 1 to 2 ns for each
vertex of polygons. It is 3 to 5 ns if a vertex has the same y as the position, because the ring is then read twice.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from asc.compiled import compiled, inlined
from asc.spatial.shape import (
    DISTANCE_WORD,
    EARTH_RADIUS_M,
    HEAD_WORDS,
    INTERSECTS,
    KIND_WORD,
    POINTS,
    POLYGONS,
    RELATION_WORD,
    RINGS_WORD,
    WITHIN_DISTANCE,
)

Array = npt.NDArray[Any]

NO, YES, UNSURE = 0, 1, 2
OUTSIDE, BOUNDARY, INSIDE, UNDECIDED = 0, 1, 2, 3

_FILTER = 1e-15
"""The relative error bound of the determinant of an edge and a position. Multiplied by the sum of the absolute values
of its two products, it exceeds all rounding errors.
"""

_LEAST_PRODUCT = 1e-290
"""The least product of two numbers that a double represents with its full precision."""

_LEAST_SQUARE, LEAST_DISTANCE = 1e-300, 1e-140
"""The least square that a double represents with its full precision, and the least distance with such a square."""

_LEAST_EDGE = 1e-145
"""The least length of an edge whose square a double represents with its full precision. GEOS divides by this square. So
the distance of a position from a shorter edge, as GEOS computes it, may be wrong by half.
"""

_RELATIVE = 1e-9
"""The relative difference below which GEOS decides whether the distance of a position is within the distance of a test.
Rounding errors are a millionth of this difference.
"""

_FAR_HALF, _AT_ANTIPODE_M = 0.99, 10.0
"""_FAR_HALF: the haversine above which rounding errors are large, because the positions are nearly antipodal.
_AT_ANTIPODE_M: an error bound for the distance of such positions, in metres.
"""


class ShapeArrays(NamedTuple):
    """The keys of shapes as kernels read them: the arrays of :class:`asc.spatial.index.Shapes`."""

    words: Array
    reals: Array
    bases: Array


@inlined
def side_of(ax: float, ay: float, bx: float, by: float, x: float, y: float) -> int:
    """Return the side of the line from a to b on which a position is: 1 left, -1 right, 0 on the line. Return 2 if
    rounding errors leave the side undecided.
    """
    left = (ax - x) * (by - y)
    right = (ay - y) * (bx - x)
    if abs(left) < _LEAST_PRODUCT and abs(right) < _LEAST_PRODUCT:
        return 2
    difference = left - right
    if left > 0.0:
        if right <= 0.0:
            return 1 if difference > 0.0 else (-1 if difference < 0.0 else 0)
        total = left + right
    elif left < 0.0:
        if right >= 0.0:
            return 1 if difference > 0.0 else (-1 if difference < 0.0 else 0)
        total = -left - right
    else:
        return 1 if difference > 0.0 else (-1 if difference < 0.0 else 0)
    bound = _FILTER * total
    if difference >= bound:
        return 1
    if -difference >= bound:
        return -1
    return 2


@inlined
def is_on(ax: float, ay: float, bx: float, by: float, x: float, y: float) -> int:
    """Return YES if a position is on an edge, NO if not, or UNSURE if rounding errors leave it undecided. The two ends
    of the edge may be one point.
    """
    if max(ax, bx) < x or min(ax, bx) > x or max(ay, by) < y or min(ay, by) > y:
        return NO
    if ax == bx or ay == by or (ax == x and ay == y) or (bx == x and by == y):
        return YES
    return NO if abs(side_of(ax, ay, bx, by, x, y)) == 1 else UNSURE


@inlined
def is_near(ax: float, ay: float, bx: float, by: float, x0: float, y0: float, x1: float, y1: float) -> bool:
    """Return False if an edge certainly has no point in a rectangle, otherwise True."""
    if max(ax, bx) < x0 or min(ax, bx) > x1 or max(ay, by) < y0 or min(ay, by) > y1:
        return False
    across, up = bx - ax, by - ay
    middle_x, middle_y = (x0 + x1) / 2, (y0 + y1) / 2
    first, second = across * (middle_y - ay), up * (middle_x - ax)
    reach = abs(across) * (y1 - y0) / 2 + abs(up) * (x1 - x0) / 2
    return abs(first - second) <= reach * (1 + 1e-9) + 1e-14 * (abs(first) + abs(second))


@inlined
def parity_of_ring(reals: Array, begin: int, end: int, x: float, y: float) -> int:
    """Return 1 if a ray from a position to the right crosses an odd number of edges of the ring ``reals[begin:end]``,
    otherwise 0.

    The result is 2 or 3, and has no other meaning, if a vertex has the same y as the position, or the side of an edge
    is uncertain. The loop has no branch, so that the processor evaluates several edges at once.
    """
    odd, uncertain = np.int64(0), np.int64(0)
    next_x, next_y = reals[begin] - x, reals[begin + 1] - y
    is_above = reals[begin + 1] > y
    # The indices are unsigned: numba would add a branch for negative numbers to a signed index.
    for vertex in range(np.uint64(1), np.uint64(end - begin >> 1)):
        place = np.uint64(begin) + np.uint64(2) * vertex
        height = reals[place + np.uint64(1)]
        before_x, before_y, was_above = next_x, next_y, is_above
        next_x, next_y = reals[place] - x, height - y
        is_above = height > y
        left, right = before_x * next_y, before_y * next_x
        found, total = left - right, abs(left) + abs(right)
        is_astride = was_above != is_above
        is_certain = (abs(found) >= _FILTER * total) & (total >= _LEAST_PRODUCT)
        odd ^= np.int64(is_astride & ((found > 0.0) == is_above))
        uncertain |= np.int64((height == y) | (is_astride & (not is_certain)))
    return int(2 * uncertain + odd)


@inlined
def place_in_ring(reals: Array, begin: int, end: int, x: float, y: float) -> int:
    """Return where a position is relative to the ring with the vertices ``reals[begin:end]``.

    The result is BOUNDARY, UNDECIDED, INSIDE or OUTSIDE. It is INSIDE if a ray to the right crosses an odd number of
    edges.
    """
    inside = False
    was_above = reals[begin + 1] > y
    for place in range(begin + 2, end, 2):
        next_y = reals[place + 1]
        is_above = next_y > y
        # Skip edges that do not cross the line of the ray, and that do not end on it: nearly all edges.
        if is_above == was_above and next_y != y:
            continue
        before_x, before_y, next_x = reals[place - 2], reals[place - 1], reals[place]
        if next_x == x and next_y == y:
            return BOUNDARY
        if is_above == was_above:
            if before_y == y and min(before_x, next_x) <= x <= max(before_x, next_x):
                return BOUNDARY
        elif before_x == x and next_x == x:
            return BOUNDARY
        elif before_x >= x or next_x >= x:
            side = side_of(before_x, before_y, next_x, next_y, x, y)
            if side == 0:
                return BOUNDARY
            if side == 2:
                return UNDECIDED
            inside ^= (side > 0) == is_above
        was_above = is_above
    return INSIDE if inside else OUTSIDE


@inlined
def place_in_polygons(words: Array, reals: Array, base: int, x: float, y: float) -> int:
    """Return where a position is relative to the polygons of a valid shape: INSIDE, OUTSIDE, BOUNDARY or UNDECIDED. It
    is INSIDE if an odd number of the rings contain the position. ``base``: the index of the shape's key in ``words``.
    """
    rings = words[base + RINGS_WORD]
    vertices = base + HEAD_WORDS + rings
    begin = vertices
    inside = False
    for ring in range(rings):
        end = vertices + 2 * (words[base + HEAD_WORDS + ring] >> 1)
        parity = parity_of_ring(reals, begin, end, x, y)
        if parity < 2:
            inside ^= parity == 1
        else:
            found = place_in_ring(reals, begin, end, x, y)
            if found in (BOUNDARY, UNDECIDED):
                return found
            inside ^= found == INSIDE
        begin = end
    return INSIDE if inside else OUTSIDE


@inlined
def crosses(ax: float, ay: float, bx: float, by: float, x: float, y: float, to_x: float, to_y: float) -> int:
    """Return 1 if an edge crosses the line segment from one position to another, 0 if not, 2 if rounding errors leave
    it undecided.

    The result is also 2 if the edge and the line touch.
    """
    if max(ax, bx) < min(x, to_x) or min(ax, bx) > max(x, to_x):
        return 0
    if max(ay, by) < min(y, to_y) or min(ay, by) > max(y, to_y):
        return 0
    first, second = side_of(ax, ay, bx, by, x, y), side_of(ax, ay, bx, by, to_x, to_y)
    if first * second == 1:
        return 0
    third, fourth = side_of(x, y, to_x, to_y, ax, ay), side_of(x, y, to_x, to_y, bx, by)
    if third * fourth == 1:
        return 0
    return 1 if first * second == -1 and third * fourth == -1 else 2


@inlined
def is_short(ax: float, ay: float, bx: float, by: float) -> bool:
    """Return True if an edge is so short that a double represents the square of its length only imprecisely. An edge
    between equal vertices is not short.
    """
    return 0.0 < max(abs(bx - ax), abs(by - ay)) < _LEAST_EDGE


@inlined
def squared_distance(ax: float, ay: float, bx: float, by: float, x: float, y: float) -> float:
    """Return the square of the distance of a position from an edge."""
    across, up = bx - ax, by - ay
    length = across * across + up * up
    along = ((x - ax) * across + (y - ay) * up) / length if length > 0.0 else 0.0
    along = min(1.0, max(0.0, along))
    off_x, off_y = ax + along * across - x, ay + along * up - y
    return off_x * off_x + off_y * off_y


@compiled
def _within_distance(words: Array, reals: Array, base: int, x: float, y: float) -> int:
    """Return NO, YES or UNSURE: whether a position is within the distance of the test from the shape, in the plane.
    Inside a polygon the distance is zero. ``base``: the index of the key in ``words``.
    """
    distance = reals[base + DISTANCE_WORD]
    kind, rings = words[base + KIND_WORD] & 0xFF, words[base + RINGS_WORD]
    is_unclear = False
    if kind == POLYGONS:
        place = place_in_polygons(words, reals, base, x, y)
        if place in (INSIDE, BOUNDARY):
            return YES
        is_unclear = place == UNDECIDED
    vertices = base + HEAD_WORDS + rings
    begin, least, size = vertices, np.inf, 0.0
    for ring in range(rings):
        end = vertices + 2 * (words[base + HEAD_WORDS + ring] >> 1)
        # A point is an edge with two equal ends. For a line, only its edges count, as in GEOS.
        for place in range(min(begin + 2, end - 2), end, 2):
            last = max(begin, place - 2)
            ax, ay, bx, by = reals[last], reals[last + 1], reals[place], reals[place + 1]
            size = max(size, abs(ax), abs(ay), abs(bx), abs(by))
            if is_short(ax, ay, bx, by):
                is_unclear = True
            else:
                least = min(least, squared_distance(ax, ay, bx, by, x, y))
        begin = end
    return _by_distance(least, distance, max(size, abs(x), abs(y)), is_unclear)


@inlined
def _by_distance(least: float, distance: float, size: float, is_unclear: bool) -> int:
    """Return NO, YES or UNSURE: whether a position is within ``distance`` of a shape. ``least``: the square of the
    position's distance from the nearest edge. ``size``: the largest coordinate, for the bound of rounding errors.
    ``is_unclear``: whether the position may be nearer to the shape than ``least``.
    """
    far = math.sqrt(least)
    if least < _LEAST_SQUARE and distance < LEAST_DISTANCE:
        return UNSURE
    if abs(far - distance) <= _RELATIVE * distance + 1e-12 * size:
        return UNSURE
    if far < distance:
        return YES
    return UNSURE if is_unclear else NO


@inlined
def sphere_distance_m(x1: float, y1: float, x2: float, y2: float) -> tuple[float, float]:
    """Return the distance in metres of two positions in degrees, and its error bound in metres."""
    low, high = math.radians(y1), math.radians(y2)
    across, up = math.sin(math.radians(x2 - x1) / 2), math.sin((high - low) / 2)
    half = up * up + math.cos(low) * math.cos(high) * across * across
    far = 2 * EARTH_RADIUS_M * math.asin(min(1.0, math.sqrt(half)))
    # A distance of less than a micrometre may be a rounding error of two equal positions.
    return far, _AT_ANTIPODE_M if half > _FAR_HALF else 1e-6


@compiled
def _within_sphere(words: Array, reals: Array, base: int, x: float, y: float) -> int:
    metres = reals[base + DISTANCE_WORD]
    far, sure = sphere_distance_m(reals[base + HEAD_WORDS + 1], reals[base + HEAD_WORDS + 2], x, y)
    if abs(far - metres) <= _RELATIVE * metres + sure:
        return UNSURE
    return YES if far < metres else NO


@inlined
def holds_in_plane(words: Array, reals: Array, base: int, x: float, y: float) -> int:
    """Return NO, YES or UNSURE: whether a position satisfies the test of the key that begins at ``words[base]``.

    ``words`` int64 and ``reals`` float64 are the same memory. The position is not also tried 360 degrees to the east
    and west (see :func:`holds`).
    """
    relation = words[base + RELATION_WORD]
    if relation == WITHIN_DISTANCE:
        return _within_distance(words, reals, base, x, y)
    if relation > WITHIN_DISTANCE:
        return _within_sphere(words, reals, base, x, y)
    kind = words[base + KIND_WORD] & 0xFF
    if kind == POLYGONS:
        place = place_in_polygons(words, reals, base, x, y)
        if place == UNDECIDED:
            return UNSURE
        return YES if place == INSIDE or (place == BOUNDARY and relation == INTERSECTS) else NO
    rings = words[base + RINGS_WORD]
    vertices = base + HEAD_WORDS + rings
    if kind == POINTS:
        for place in range(vertices, vertices + 2 * rings, 2):
            if reals[place] == x and reals[place + 1] == y:
                return YES
        return NO
    begin = vertices
    for ring in range(rings):
        end = vertices + 2 * (words[base + HEAD_WORDS + ring] >> 1)
        for place in range(begin + 2, end, 2):
            found = is_on(reals[place - 2], reals[place - 1], reals[place], reals[place + 1], x, y)
            if found != NO:
                return YES if found == YES and relation == INTERSECTS else UNSURE
        begin = end
    return NO


@compiled
def holds_by_edges(
    words: Array,
    reals: Array,
    base: int,
    edges: Array,
    inside: bool,
    to_x: float,
    to_y: float,
    x: float,
    y: float,
) -> int:
    """Return the same result as :func:`holds_in_plane`, but read only the edges near the position's cell.

    ``edges``: for each of these edges, the offset of its end vertex from the key. ``to_x``, ``to_y``: the spot, a
    position of the same cell. ``inside``: whether the spot is inside the shape. The caller ensures that only these
    edges cross the line from the spot to the position.
    """
    kind = words[base + KIND_WORD] & 0xFF
    back = 0 if kind == POINTS else 2
    relation = words[base + RELATION_WORD]
    if relation != WITHIN_DISTANCE:
        for number in range(edges.size):
            end = base + edges[number]
            on = is_on(reals[end - back], reals[end - back + 1], reals[end], reals[end + 1], x, y)
            if on != NO:
                # A line does not contain its boundary, and GEOS decides which of its points are the boundary.
                return YES if on == YES and (kind == POINTS or relation == INTERSECTS) else UNSURE
        return NO
    least, size, is_unclear, is_inside = np.inf, max(abs(x), abs(y)), False, inside
    for number in range(edges.size):
        end = base + edges[number]
        ax, ay, bx, by = reals[end - back], reals[end - back + 1], reals[end], reals[end + 1]
        size = max(size, abs(ax), abs(ay), abs(bx), abs(by))
        least = min(least, squared_distance(ax, ay, bx, by, x, y))
        if kind == POLYGONS:
            crossed = crosses(ax, ay, bx, by, x, y, to_x, to_y)
            is_unclear |= crossed == 2
            is_inside ^= crossed == 1
    by_distance = _by_distance(least, reals[base + DISTANCE_WORD], size, False)
    if by_distance == YES or kind != POLYGONS:
        return by_distance
    # If it is undecided whether the line from the spot crosses an edge, all rings of the shape decide.
    if is_unclear:
        return _within_distance(words, reals, base, x, y)
    return YES if is_inside else by_distance


@compiled
def holds(words: Array, reals: Array, base: int, x: float, y: float) -> int:
    """Return the result of :func:`holds_in_plane`, with the position tried also 360 degrees to the east and to the west
    if coordinates are in degrees. A shape may extend past the antimeridian.
    """
    found = holds_in_plane(words, reals, base, x, y)
    if found != NO or words[base + KIND_WORD] >> 8 == 0 or words[base + RELATION_WORD] > WITHIN_DISTANCE:
        return found
    for turn in (-360.0, 360.0):
        other = holds_in_plane(words, reals, base, x + turn, y)
        if other != NO:
            return other
    return NO
