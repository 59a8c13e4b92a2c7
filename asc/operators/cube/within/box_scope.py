"""Boxes as scopes of questions, also across the antimeridian."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from asc.operators.cube.within.cell_boxes import CellBoxes
from asc.operators.cube.within.scope import INSIDE, TOUCHED, Cells, Classes, Pause


@dataclass(frozen=True, slots=True)
class BoxScope:
    """A box in degrees, which contains its edges. If ``west`` is greater than ``east``, the box crosses the
    antimeridian.
    """

    west: float
    south: float
    east: float
    north: float

    def classes(self, cells: Cells, bits: int, pause: Pause) -> Classes:
        """Return the class of each cell: outside, touched or inside. Cost: some 20 ns for each cell."""
        pause()
        boxes = CellBoxes.of(cells, bits)
        classes = np.zeros(len(cells), dtype=np.uint8)
        high = (boxes.south >= self.south) & (boxes.north <= self.north)
        near = (boxes.south <= self.north) & (boxes.north >= self.south)
        is_wide = self.west > self.east
        # A box across the antimeridian is compared as two boxes. No cell crosses the antimeridian, so that at most one
        # of them contains the cell.
        for west, east in ((self.west, 180.0), (-180.0, self.east)) if is_wide else ((self.west, self.east),):
            classes[near & (boxes.west <= east) & (boxes.east >= west) & (classes == 0)] = TOUCHED
            classes[high & (boxes.west >= west) & (boxes.east <= east)] = INSIDE
        return classes
