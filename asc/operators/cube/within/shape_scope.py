"""Polygons as scopes of questions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from asc.errors import CubeError, ShapeError
from asc.operators.cube.within.cell_boxes import CellBoxes
from asc.operators.cube.within.scope import INSIDE, TOUCHED, Cells, Classes, Pause
from asc.spatial.reading import Rules, of_geojson

if TYPE_CHECKING:
    from shapely import STRtree
    from shapely.geometry.base import BaseGeometry

SHAPE_VERTICES_MAX = 10_000
"""The largest number of vertices of the polygons in a question."""

_STEP_BITS = 4
"""The number of bits by which a coarser cell is divided if an edge meets it."""
_BOXES = 4_096
"""The number of boxes that GEOS compares with the polygons between two calls of ``pause``."""
_TURN = 360.0
_Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ShapeScope:
    """Polygons that contain their edges, in the plane of longitude and latitude. ``text``: the GeoJSON in a normal
    form.
    """

    text: str
    shape: BaseGeometry = field(repr=False, compare=False)

    @staticmethod
    def of(plain: Mapping[str, Any]) -> ShapeScope:
        """Return the scope of a GeoJSON object. Raise CubeError if it is no valid Polygon or MultiPolygon
        with an area.
        """
        text = json.dumps(plain, sort_keys=True)
        try:
            shape = of_geojson(text, Rules(vertices_max=SHAPE_VERTICES_MAX)).geometry
        except ShapeError as error:
            raise CubeError("within", error.value, f"{error.subject}: {error.remedy}") from None
        if shape.geom_type not in ("Polygon", "MultiPolygon") or shape.is_empty:
            kind = f"an empty {shape.geom_type}" if shape.is_empty else shape.geom_type
            raise CubeError("within", kind, "has no area: give a Polygon or a MultiPolygon")
        return ShapeScope(text, shape)

    def classes(self, cells: Cells, bits: int, pause: Pause) -> Classes:
        """Return the class of each cell: outside, touched or inside.

        Coarse cells are compared with the polygons first, and only cells that an edge meets are divided. Cost: some
        microseconds for each coarse or fine cell that an edge meets or is near, and a few passes over the cells.
        """
        found = np.zeros(len(cells), dtype=np.uint8)
        for copy in self._copies:
            copy.classify(cells, bits, found, pause)
        return found

    @cached_property
    def _copies(self) -> tuple[_Copy, ...]:
        """Return the polygons, and copies that are shifted by 360 degrees east and west, if these have an area in
        range.

        As in a box, the longitude 180 is not -180: polygons that end at 180 do not touch the cells that begin at -180.
        """
        from shapely.affinity import translate

        west, _, east, _ = self.shape.bounds
        turns = [turn for turn in (-_TURN, 0.0, _TURN) if west + turn < _TURN / 2 and east + turn > -_TURN / 2]
        return tuple(_Copy(translate(self.shape, turn) if turn else self.shape) for turn in turns)


class _Copy:
    """Polygons that are prepared for comparisons with many boxes.

    A box that no edge meets is either completely in the polygons or completely outside, so that one of its points
    decides. So GEOS compares boxes with the edges alone, by an index. A full comparison with polygons of many vertices
    takes milliseconds.
    """

    def __init__(self, shape: BaseGeometry) -> None:
        import shapely

        self._shape, self._edges = shape, shape.boundary
        shapely.prepare([self._shape, self._edges])

    def classify(self, cells: Cells, bits: int, classes: Classes, pause: Pause) -> None:
        """Raise the class of each cell to its class by these polygons, if that is higher. Outside is the lowest class,
        inside the highest.
        """
        places = np.arange(len(cells))
        own_bits = bits % _STEP_BITS or min(_STEP_BITS, bits)
        while len(places):
            coarse = cells[places] >> (bits - own_bits)
            is_first = np.append(True, coarse[1:] != coarse[:-1])
            boxes = CellBoxes.of(coarse[is_first], own_bits)
            is_cut, is_inside = self._compared(boxes, pause)
            if own_bits == bits:
                is_inside[is_cut] = self._has_no_edge_within(boxes.take(np.flatnonzero(is_cut)), pause)
                is_cut &= ~is_inside
            of_place = np.cumsum(is_first) - 1
            classes[places[is_inside[of_place]]] = INSIDE
            places = places[is_cut[of_place]]
            if own_bits == bits:
                classes[places] = np.maximum(classes[places], TOUCHED)
                return
            own_bits += _STEP_BITS

    def _compared(self, boxes: CellBoxes, pause: Pause) -> tuple[_Mask, _Mask]:
        """Return for each box whether an edge meets it, and whether it is in the polygons without meeting an edge."""
        import shapely

        west, south, east, north = self._shape.bounds
        is_near = (boxes.west <= east) & (boxes.east >= west) & (boxes.south <= north) & (boxes.north >= south)
        is_cut, is_inside = np.zeros(len(is_near), dtype=np.bool_), np.zeros(len(is_near), dtype=np.bool_)
        for rows in _portions(np.flatnonzero(is_near)):
            pause()
            is_cut[rows] = shapely.intersects(self._edges, boxes.take(rows).polygons())
            rest = rows[~is_cut[rows]]
            is_inside[rest] = shapely.contains_xy(self._shape, boxes.west[rest], boxes.south[rest])
        return is_cut, is_inside

    def _has_no_edge_within(self, boxes: CellBoxes, pause: Pause) -> _Mask:
        """Return whether boxes that edges meet are in the polygons all the same, because the edges only run along their
        sides.
        """
        import shapely

        is_inside = np.zeros(len(boxes.west), dtype=np.bool_)
        for rows in _portions(np.arange(len(is_inside))):
            pause()
            few = rows[~shapely.intersects(self._edges, boxes.take(rows).shrunk().polygons())]
            is_inside[few] = shapely.contains_xy(self._shape, *boxes.take(few).middles())
        few = np.flatnonzero(is_inside)
        if len(few):
            polygons = boxes.take(few).polygons()
            near, edges = self._segments.query(polygons, predicate="intersects")
            pause()
            is_crossed = shapely.relate_pattern(self._segments.geometries[edges], polygons[near], "T********")
            is_inside[few[near[is_crossed]]] = False
        return is_inside

    @cached_property
    def _segments(self) -> STRtree:
        """Return the edges as single lines, in an index of their bounding boxes."""
        import shapely

        segments = []
        for line in shapely.get_parts(self._edges).tolist():
            ends = shapely.get_coordinates(line)
            segments.append(np.stack([ends[:-1], ends[1:]], axis=1))
        lines: Any = shapely.linestrings(np.concatenate(segments))
        return shapely.STRtree(lines)


def _portions(rows: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.int64]]:
    for start in range(0, len(rows), _BOXES):
        yield rows[start : start + _BOXES]
