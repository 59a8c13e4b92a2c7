"""Spatial tests: whether a position has a relation to a shape. The relation and the shape are encoded as one byte
string (the key of the test), which the engine treats like any constant of a predicate.
"""

from __future__ import annotations

import hashlib
import math
import struct
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from asc.spatial.locality import locality

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

CONTAINS, INTERSECTS, WITHIN_DISTANCE, WITHIN_SPHERE, BELOW_SPHERE, COVERS, TOUCHES = range(7)
"""The relations of a position to a shape. CONTAINS: in the interior. INTERSECTS: in the interior or on the boundary.
WITHIN_DISTANCE: at most a distance away in the plane. WITHIN_SPHERE: at most a number of metres away on the sphere.
BELOW_SPHERE: less than a number of metres away on the sphere. COVERS, for boxes only: no part of the box is outside.
TOUCHES, for boxes only: the box and the shape have a common point, but their interiors have none.
"""

POINTS, LINES, POLYGONS = range(3)
"""The kinds of parts of a shape: points, lines (each a row of vertices), rings of polygons."""

PLANAR, WGS84 = range(2)
"""The crs (meaning) of coordinates: x and y in a plane, or longitude and latitude in degrees."""

EARTH_RADIUS_M = 6_371_008.0
"""The radius of the sphere on which distances in metres are measured."""

HEAD_WORDS = 5
"""The number of words of a key before its rings: locality, relation, distance, kind and crs, number of rings."""

RELATION_WORD, DISTANCE_WORD, KIND_WORD, RINGS_WORD = 1, 2, 3, 4

_SHORT = 8
"""The most vertices of a shape whose text has all vertices."""

_NAMES = {
    CONTAINS: "ST_Contains",
    INTERSECTS: "ST_Intersects",
    WITHIN_DISTANCE: "ST_DWithin",
    COVERS: "ST_Covers",
    TOUCHES: "ST_Touches",
}
_TURNS = (0.0, -360.0, 360.0)
_SQUARE = 360.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A spatial test: a position must have the ``relation`` to the shape, which may include a ``distance``.

    ``crs``: PLANAR or WGS84. With WGS84 the position is also tried 360 degrees to the east and to the west, because a
    shape may extend past the antimeridian.
    """

    geometry: BaseGeometry
    relation: int
    distance: float = 0.0
    crs: int = WGS84

    @property
    def key(self) -> bytes:
        """The key of the test. A key has whole words of 8 bytes, so that kernels read many keys in one array of
        float64.

        The first word is the position of the shape's middle along a Z-order, big-endian, so that neighbouring shapes
        have neighbouring keys. Little-endian words follow: relation, distance, kind of shape with the crs above it, the
        number r of rings (lines, points). Then come r words with the index after the last vertex of each ring, doubled,
        plus one if the ring is a shell. Then come two words for each vertex.
        """
        kind, vertices, ends = _rings(self.geometry)
        middle = 0
        if len(vertices):
            x, y = ((vertices.min(axis=0) + vertices.max(axis=0)) / 2).tolist()
            middle = locality(x, y, _SQUARE)
        head = struct.pack(">Q", middle) + struct.pack(
            "<qdqq", self.relation, self.distance, kind | self.crs << 8, len(ends)
        )
        # Positive and negative zero are equal for positions, so shapes must not differ in the sign either.
        return head + ends.astype("<i8").tobytes() + (vertices + 0.0).astype("<f8").tobytes()

    @staticmethod
    def of(key: bytes) -> Asked:
        """Return the spatial test that a key represents."""
        relation, distance, kind, count = struct.unpack_from("<qdqq", key, 8)
        start = 8 * (HEAD_WORDS + count)
        ends = np.frombuffer(key, dtype="<i8", count=count, offset=8 * HEAD_WORDS)
        vertices = np.frombuffer(key, dtype="<f8", offset=start).reshape(-1, 2)
        return Asked(_geometry(kind & 0xFF, ends, vertices), relation, distance, kind >> 8)

    def accepts(self, *numbers: float) -> bool:
        """Return True if a position or a box has the relation to the shape. ``numbers``: x and y, or x and y of both
        corners of a box. This is the reference for the kernels.
        """
        if len(numbers) > 2:
            return self._accepts_box(*numbers)
        return bool(self.decide(*(np.array([number]) for number in numbers))[0])

    def _accepts_box(self, x1: float, y1: float, x2: float, y2: float) -> bool:
        """Return True if a box has the relation to the shape, as GEOS decides. A box without width or height is treated
        as a line, or as a point.
        """
        import shapely

        is_met = False
        for turn in _TURNS if self.crs == WGS84 else (0.0,):
            west, east = x1 + turn, x2 + turn
            box = box_of(west, y1, east, y2)
            if self.relation == TOUCHES:
                if shapely.touches(self.geometry, box):
                    is_met = True
                elif shapely.intersects(self.geometry, box):
                    return False
            elif self.relation == WITHIN_DISTANCE:
                with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                    is_met |= bool(shapely.dwithin(self.geometry, box, self.distance))
            else:
                asks = {CONTAINS: shapely.contains, COVERS: shapely.covers, INTERSECTS: shapely.intersects}
                is_met |= bool(asks[self.relation](self.geometry, box))
        return is_met

    def decide(self, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Return bool[n]: True for each position that has the relation to the shape. GEOS decides; for distances on the
        sphere, Python's ``math`` decides.
        """
        if self.relation in (WITHIN_SPHERE, BELOW_SPHERE):
            return self._decide_sphere(x, y)
        met = np.zeros(len(x), dtype=np.bool_)
        for turn in _TURNS if self.crs == WGS84 else (0.0,):
            met |= self._decide_plane(x + turn, y)
        return met

    def _decide_plane(self, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        import shapely

        points = shapely.points(x, y)
        if self.relation == CONTAINS:
            met: Any = shapely.contains(self.geometry, points)
        elif self.relation == INTERSECTS:
            met = shapely.intersects(self.geometry, points)
        else:
            # A position whose squared distance overflows counts as infinitely far. GEOS divides by the squared length
            # of an edge, which is rounded to 0 for a very short edge.
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                met = shapely.dwithin(self.geometry, points, self.distance)
        return np.asarray(met, dtype=np.bool_)

    def _decide_sphere(self, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        import shapely

        ((own_x, own_y),) = shapely.get_coordinates(self.geometry).tolist()
        far = (distance_sphere_m(own_x, own_y, *place) for place in zip(x.tolist(), y.tolist(), strict=True))
        if self.relation == WITHIN_SPHERE:
            return np.array([metres <= self.distance for metres in far], dtype=np.bool_)
        return np.array([metres < self.distance for metres in far], dtype=np.bool_)


def box_of(x1: float, y1: float, x2: float, y2: float) -> BaseGeometry:
    """Return the box with two opposite corners as a polygon. Return a line or a point if the box has no width or no
    height.
    """
    import shapely

    if x1 == x2 and y1 == y2:
        return shapely.Point(x1, y1)
    if x1 == x2 or y1 == y2:
        return shapely.LineString([(x1, y1), (x2, y2)])
    return shapely.box(x1, y1, x2, y2)


def distance_sphere_m(x1: float, y1: float, x2: float, y2: float) -> float:
    """Return the distance in metres of two positions in degrees: haversine on the sphere of EARTH_RADIUS_M.

    >>> round(distance_sphere_m(179.5, 0.0, -179.5, 0.0))
    111195
    """
    low, high = math.radians(y1), math.radians(y2)
    across, up = math.sin(math.radians(x2 - x1) / 2), math.sin((high - low) / 2)
    half = up * up + math.cos(low) * math.cos(high) * across * across
    return 2 * EARTH_RADIUS_M * math.asin(min(1.0, math.sqrt(half)))


def keys_of_areas(areas: npt.NDArray[Any], relation: int, crs: int = WGS84) -> list[bytes]:
    """Return for each of many polygons the key of the test whether a position has ``relation`` to the polygon. The keys
    are equal to those of :attr:`Asked.key`, but take about a twentieth of the time. The caller ensures that no polygon
    is empty.
    """
    import shapely

    parts, owner = shapely.get_parts(areas, return_index=True)
    rings, part = shapely.get_rings(parts, return_index=True)
    vertices, ring = shapely.get_coordinates(rings, return_index=True)
    shells, owner = np.diff(part, prepend=-1) > 0, owner[part]
    stops = np.cumsum(np.bincount(ring, minlength=len(rings)))
    first_ring = np.searchsorted(owner, np.arange(len(areas) + 1))
    first_vertex = np.append(0, stops)[first_ring]
    ends = ((stops - first_vertex[owner]) * 2 + shells).astype("<i8").tobytes()
    content = (vertices + 0.0).astype("<f8").tobytes()
    boxes = shapely.bounds(areas)
    middles = ((boxes[:, :2] + boxes[:, 2:]) / 2).tolist()
    keys = []
    for place, (x, y) in enumerate(middles):
        low, high = first_ring[place], first_ring[place + 1]
        head = struct.pack(">Q", locality(x, y, _SQUARE)) + struct.pack(
            "<qdqq", relation, 0.0, POLYGONS | crs << 8, high - low
        )
        start, stop = 16 * first_vertex[place], 16 * first_vertex[place + 1]
        keys.append(head + ends[8 * low : 8 * high] + content[start:stop])
    return keys


def asked_text(key: bytes, position: str) -> str:
    """Return the SQL text of the test that a key represents, for a position given as SQL. Two tests are the same
    p-attribute if and only if their texts are equal.

    For a shape of few vertices, the text has all vertices. For another shape, it has the number of vertices, and a hash
    of the key, which identifies the key.
    """
    relation, distance, _, _ = struct.unpack_from("<qdqq", key, 8)
    shape = shape_text(key)
    if relation in (WITHIN_SPHERE, BELOW_SPHERE):
        return f"ST_DistanceSphere({shape}, {position}) {'<=' if relation == WITHIN_SPHERE else '<'} {distance!r}"
    more = f", {distance!r}" if relation == WITHIN_DISTANCE else ""
    return f"{_NAMES[relation]}({shape}, {position}{more})"


def shape_text(key: bytes) -> str:
    """Return the text of the shape of a key, as it is in the text of :func:`asked_text`."""
    _, _, kind, count = struct.unpack_from("<qdqq", key, 8)
    vertices = (len(key) // 8 - HEAD_WORDS - count) // 2
    if vertices <= _SHORT:
        return f"ST_GeomFromText('{_wkt(Asked.of(key).geometry)}')"
    digest = hashlib.sha256(key).hexdigest()
    name = ("points", "lines", "polygon")[kind & 0xFF]
    return f"ST_GeomFromText('{name} of {vertices:,} vertices, {digest}')"


def is_of_shape(key: bytes, other: bytes) -> bool:
    """Return True if two keys have the same shape, even if their relations or distances differ."""
    start = 8 * KIND_WORD
    return key[start:] == other[start:]


def _wkt(geometry: Any) -> str:
    """Return the WKT of a shape with all digits of its coordinates.

    The WKT that GEOS writes has one digit less, so that different shapes could have the same text.
    """
    name = geometry.geom_type.upper()
    if geometry.is_empty:
        return f"{name} EMPTY"
    if geometry.geom_type.startswith("Multi"):
        parts = (_wkt(part).partition(" ")[2] for part in geometry.geoms)
        return f"{name} ({', '.join(parts)})"
    if geometry.geom_type == "Polygon":
        rings = (_vertices(ring) for ring in (geometry.exterior, *geometry.interiors))
        return f"{name} ({', '.join(rings)})"
    return f"{name} {_vertices(geometry)}"


def _vertices(line: Any) -> str:
    return f"({', '.join(' '.join(repr(v).removesuffix('.0') for v in vertex) for vertex in line.coords)})"


def _rings(geometry: BaseGeometry) -> tuple[int, npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Return the kind of a shape, the vertices of all its rings, and the end of each ring, as in its key."""
    import shapely

    parts = shapely.get_parts(geometry)
    parts = parts[~shapely.is_empty(parts)]
    if geometry.geom_type in ("Polygon", "MultiPolygon"):
        rings, owner = shapely.get_rings(parts, return_index=True)
        kind, shells = POLYGONS, np.diff(owner, prepend=-1) > 0
    else:
        kind = LINES if geometry.geom_type in ("LineString", "MultiLineString") else POINTS
        rings, shells = parts, np.ones(len(parts), dtype=np.bool_)
    vertices, owner = shapely.get_coordinates(rings, return_index=True)
    ends = np.cumsum(np.bincount(owner, minlength=len(rings)), dtype=np.int64)
    return kind, vertices, ends * 2 + shells


def _geometry(kind: int, ends: npt.NDArray[np.int64], vertices: npt.NDArray[np.float64]) -> BaseGeometry:
    import shapely

    rings = np.split(vertices, ends[:-1] >> 1) if len(ends) else []
    if kind == POINTS:
        points = [shapely.Point(ring[0]) for ring in rings]
        return points[0] if len(points) == 1 else shapely.MultiPoint(points)
    if kind == LINES:
        lines = [shapely.LineString(ring) for ring in rings]
        return lines[0] if len(lines) == 1 else shapely.MultiLineString(lines)
    starts = [*np.flatnonzero(ends & 1).tolist(), len(rings)]
    polygons = [shapely.Polygon(rings[a], rings[a + 1 : b]) for a, b in pairwise(starts)]
    return polygons[0] if len(polygons) == 1 else shapely.MultiPolygon(polygons)
