"""Estimates of the size of a cube from some records, and the warning if the cube is hardly smaller than the records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from asc.operators.cube.cells import Cells
from asc.operators.cube.layout import Layout

RECORDS_A_CELL = 2
"""The number of records per cell below which a cube is hardly smaller than its records."""
UNWARNED_CELLS = 100
"""The largest number of cells for which there is never a warning. So few cells are no load, and so few records say
nothing about a stream.
"""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The size of a cube over some records.

    ``records``: the number of records read. ``counted``: the number of records that are in the cells. ``size_bytes``:
    the size of the pieces as they are stored.
    """

    records: int
    counted: int
    panes: int
    cells: int
    size_bytes: int

    @staticmethod
    def of(layout: Layout, cells: Cells, *, records: int, counted: int, panes_most: int | None = None) -> Estimate:
        """Return the size of cells of the base cuboid.

        ``panes_most``: if there are more panes, only this number of evenly spread panes is measured, and the other
        panes are assumed to be alike. Cost: the measured panes are serialised, at some .1 ms each.
        """
        panes = cells.different_panes()
        measured = cells
        if panes_most is not None and len(panes) > panes_most:
            chosen = panes[np.linspace(0, len(panes) - 1, panes_most).astype(np.int64)]
            measured = cells.take(np.flatnonzero(np.isin(cells.panes, chosen)))
        size_bytes = sum(len(piece.to_bytes()) for piece in measured.pieces(layout))
        if measured.count < cells.count:
            size_bytes = round(size_bytes * cells.count / measured.count)
        return Estimate(records, counted, len(panes), cells.count, size_bytes)

    @property
    def warning(self) -> str | None:
        """Return a warning if the cube is hardly smaller than its records. Return None for any other cube."""
        if self.cells <= max(UNWARNED_CELLS, self.counted / RECORDS_A_CELL):
            return None
        return f"{self.cells:,} cells of {self.counted:,} records: group by less, or round"

    def plain(self) -> dict[str, Any]:
        """Return the estimate as answers show it. A figure is null if it is unknown, as when no record is counted.

        >>> Estimate(10, 8, 2, 4, 500).plain()["records_a_cell"], Estimate(10, 0, 0, 0, 0).plain()["cells"]
        (2.0, None)
        """
        is_known = self.cells > 0
        return {
            "records": self.records,
            "counted": self.counted,
            "panes": self.panes if is_known else None,
            "cells": self.cells if is_known else None,
            "bytes": self.size_bytes if is_known else None,
            "cells_a_pane": round(self.cells / self.panes, 2) if is_known else None,
            "bytes_a_cell": round(self.size_bytes / self.cells, 2) if is_known else None,
            "records_a_cell": round(self.counted / self.cells, 2) if is_known else None,
        }
