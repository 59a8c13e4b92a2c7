# ruff: noqa: PLR0917 (compiled functions take their arrays one by one, by position)
"""The cost of GEOS's test whether a polygon is valid, estimated before the test, in pairs of edges.

GEOS compares the edges whose boxes meet. It finds them by halving monotone chains (runs of edges that go the same way
in x and in y) whose boxes meet. Mostly these are a few pairs for each edge. But the teeth of a slanted comb all meet
each other: 16,000 vertices take seconds, a million would take hours. GEOS also visits a whole shell for each of its
holes, and a whole hole for each hole whose box is within its box. And it records each pair of rings that have a vertex
in common.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from asc.compiled import allocating, inlined

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

Array = npt.NDArray[Any]
Boxes = npt.NDArray[np.float64]

_VERTICES_A_PAIR, _VERTICES_A_RING = 16, 32
"""_VERTICES_A_PAIR: the number of vertices of a ring that GEOS visits in the time in which it compares one pair of
edges. _VERTICES_A_RING: the number of vertices that GEOS visits in the time in which it begins a ring.
"""

_PAIRS_A_TOUCH = 32
"""The number of pairs of edges that GEOS compares in the time in which it records that two rings touch."""

_CUT = 4
"""The ratio between the lengths of the pieces of a monotone chain in successive steps of the estimate."""


def validity_effort(shape: BaseGeometry) -> int:
    """Estimate the time that GEOS takes to test a (Multi)Polygon that is not empty, in pairs of edges.

    Cost: n log n for n vertices, a microsecond or two for each vertex.
    """
    import shapely

    polygons = shapely.get_parts(shape)
    rings, polygon = shapely.get_rings(polygons[~shapely.is_empty(polygons)], return_index=True)
    vertices, ring = shapely.get_coordinates(rings, return_index=True)
    x1, y1, x2, y2 = shapely.bounds(rings).T
    sizes = np.bincount(ring, minlength=len(rings))
    # GEOS also ignores vertices that repeat the previous one.
    is_edge = (ring[1:] == ring[:-1]) & (vertices[1:] != vertices[:-1]).any(axis=1)
    first, second, own = vertices[:-1][is_edge], vertices[1:][is_edge], ring[1:][is_edge]
    begins = vertices[np.cumsum(sizes) - sizes]
    passed = _passed_for_holes(np.column_stack([x1, y1, x2, y2]), sizes, polygon)
    passed += _passed_for_shells(first, second, begins, sizes, polygon)
    return _pairs_of_pieces(first, second, own) + passed // _VERTICES_A_PAIR + _touches(first) * _PAIRS_A_TOUCH


def _pairs_of_pieces(first: Boxes, second: Boxes, ring: Array) -> int:
    """Return the number of pairs of boxes that GEOS finds to meet while it halves monotone chains. The boxes are those
    of the pieces of chains. The pieces of all steps count, from whole chains down to edges.
    """
    if not len(ring):
        return 0
    low, high, rises = np.minimum(first, second), np.maximum(first, second), second >= first
    begins = np.ones(len(ring), dtype=np.bool_)
    begins[1:] = (ring[1:] != ring[:-1]) | (rises[1:] != rises[:-1]).any(axis=1)
    starts = np.flatnonzero(begins)
    lengths = np.diff(starts, append=len(ring))
    place = np.arange(len(ring)) - np.repeat(starts, lengths)
    pairs, size = 0, 1
    while True:
        pieces = np.flatnonzero(place % size == 0)
        boxes = np.hstack([np.minimum.reduceat(low, pieces), np.maximum.reduceat(high, pieces)])
        # Two chains that were already whole at the previous size were counted then.
        was_whole = np.repeat(lengths, -(-lengths // size)) <= size // _CUT
        pairs += meeting_pairs(boxes) - meeting_pairs(boxes[was_whole])
        if size >= lengths.max():
            return pairs
        size *= _CUT


def _passed_for_holes(boxes: Boxes, sizes: Array, polygon: Array) -> int:
    """Return the number of vertices that GEOS visits for holes: the vertices of the shell for each hole, and the
    vertices of holes whose boxes meet.
    """
    shells = np.flatnonzero(np.diff(polygon, prepend=-1))
    ends = np.append(shells[1:], len(polygon))
    found = int(((ends - shells - 1) * sizes[shells]).sum())
    for shell, end in zip(shells.tolist(), ends.tolist(), strict=True):
        if end - shell > 2:
            found += meeting_pairs(boxes[shell + 1 : end]) * (int(sizes[shell + 1 : end].max()) + _VERTICES_A_RING)
    return found


def _passed_for_shells(first: Boxes, second: Boxes, begins: Boxes, sizes: Array, polygon: Array) -> int:
    """Estimate the number of vertices that GEOS visits for shells that begin on an edge of another polygon. For each
    such shell, GEOS visits all vertices of the other polygon, including those of its holes.
    """
    own = np.tile(begins[np.flatnonzero(np.diff(polygon, prepend=-1))], 2)
    if len(own) == 1:
        return 0
    edges = np.hstack([np.minimum(first, second), np.maximum(first, second)])
    # Each shell begins in the boxes of its own first and last edge. These meetings do not count.
    met = meeting_pairs(np.vstack([edges, own])) - meeting_pairs(edges) - meeting_pairs(own) - 2 * len(own)
    return max(0, met) * int(np.bincount(polygon, weights=sizes).max())


def _touches(begins: Boxes) -> int:
    """Return the number of pairs of edges that begin at the same position."""
    _, counts = np.unique(np.ascontiguousarray(begins).view(np.complex128), return_counts=True)
    return int((counts * (counts - 1) // 2).sum())


def meeting_pairs(boxes: Boxes) -> int:
    """Return the number of pairs of boxes that have a common point. A box is (least x, least y, greatest x, greatest
    y).

    Cost: n log n for n boxes.
    """
    if len(boxes) < 2:
        return 0
    _, ranks = np.unique(boxes[:, [1, 3]], return_inverse=True)
    least, greatest = ranks.reshape(-1, 2).T + 1
    opened, closed = np.argsort(boxes[:, 0], kind="stable"), np.argsort(boxes[:, 2], kind="stable")
    x1, x2 = boxes[opened, 0], boxes[closed, 2]
    return int(_swept(x1, least[opened], greatest[opened], x2, least[closed], greatest[closed]))


@allocating
def _swept(x1: Array, least: Array, greatest: Array, x2: Array, own_least: Array, own_greatest: Array) -> int:
    """Return the number of pairs of boxes that meet, by a sweep along x.

    ``x1``: the least x of each box, ascending. ``least``, ``greatest``: the ranks of the least and greatest y of these
    boxes, from 1 on. ``x2``: the greatest x of each box, ascending. ``own_least``, ``own_greatest``: the ranks in that
    order. The open boxes are in two Fenwick trees (Fenwick 1994).
    """
    size = max(greatest.max(), least.max()) + 1
    lows, highs = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    pairs, closed = 0, 0
    for box in range(x1.size):
        while x2[closed] < x1[box]:
            _add(lows, own_least[closed], -1)
            _add(highs, own_greatest[closed], -1)
            closed += 1
        pairs += _up_to(lows, greatest[box]) - _up_to(highs, least[box] - 1)
        _add(lows, least[box], 1)
        _add(highs, greatest[box], 1)
    return pairs


@inlined
def _add(tree: Array, rank: int, count: int) -> None:
    while rank < tree.size:
        tree[rank] += count
        rank += rank & -rank


@inlined
def _up_to(tree: Array, rank: int) -> int:
    found = 0
    while rank > 0:
        found += tree[rank]
        rank -= rank & -rank
    return found
