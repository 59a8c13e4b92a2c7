"""The boxes of geohash cells in degrees."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from asc.operators.cube.computed.geohash_kernels import geohash_places
from asc.operators.cube.within.scope import Cells

_Doubles = npt.NDArray[np.floating[Any]]
_WIDE, _HIGH = 180.0, 90.0


class CellBoxes(NamedTuple):
    """The least and the greatest longitude and latitude, as doubles, of the positions in each cell: float64[n] each."""

    west: _Doubles
    south: _Doubles
    east: _Doubles
    north: _Doubles

    @staticmethod
    def of(cells: Cells, bits: int) -> CellBoxes:
        """Return the boxes of cells with ``bits`` bits. With 0 bits, the world is one cell."""
        columns, rows = np.empty(len(cells), dtype=np.int64), np.empty(len(cells), dtype=np.int64)
        geohash_places(cells, bits, columns, rows)
        west, east = _edges(columns, (bits + 1) // 2, _WIDE)
        south, north = _edges(rows, bits // 2, _HIGH)
        return CellBoxes(west, south, east, north)

    def take(self, rows: npt.NDArray[np.int64]) -> CellBoxes:
        """Return the boxes with the indices ``rows``."""
        return CellBoxes(self.west[rows], self.south[rows], self.east[rows], self.north[rows])

    def shrunk(self) -> CellBoxes:
        """Return the boxes without their edges: each side is moved inwards to the next double."""
        return CellBoxes(
            np.nextafter(self.west, np.inf),
            np.nextafter(self.south, np.inf),
            np.nextafter(self.east, -np.inf),
            np.nextafter(self.north, -np.inf),
        )

    def middles(self) -> tuple[_Doubles, _Doubles]:
        """Return the longitude and the latitude of a point within each box."""
        return (self.west + self.east) / 2, (self.south + self.north) / 2

    def polygons(self) -> npt.NDArray[np.object_]:
        """Return the boxes as polygons of shapely."""
        import shapely

        found: npt.NDArray[np.object_] = shapely.box(self.west, self.south, self.east, self.north)
        return found


def _edges(places: Cells, bits: int, extent: float) -> tuple[_Doubles, _Doubles]:
    """Return the first and the last double of each slice. The interval from ``-extent`` to ``extent`` has ``2 ** bits``
    slices.
    """
    count = 1 << bits
    half = extent / count
    ends: _Doubles = (2 * places + (2 - count)) * half
    # The last slice contains its upper edge; other slices end with the double before it.
    is_before = places < count - 1
    ends[is_before] = np.nextafter(ends[is_before], -np.inf)
    begins: _Doubles = (2 * places - count) * half
    return begins, ends
