"""Estimates of the size of a cube from some records, with a warning if the cube is hardly smaller than the records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from asc.operators.cube.cells import Cells
from asc.operators.cube.layout import Layout

RECORDS_A_CELL = 2
"""The least number of records per cell for which there is no warning."""
UNWARNED_CELLS = 100
"""The largest number of cells for which there is never a warning: so few cells need little memory, and so few records
say nothing about a stream.
"""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The size of a cube over some records.

    ``records``: the number of records read. ``counted``: the number of records in the cells. ``panes``, ``cells``: the
    numbers of panes and of cells. ``size_bytes``: the bytes of the stored pieces.
    """

    records: int
    counted: int
    panes: int
    cells: int
    size_bytes: int

    @staticmethod
    def of(layout: Layout, cells: Cells, *, records: int, counted: int, panes_most: int | None = None) -> Estimate:
        """Return the size of cells of the base cuboid.

        ``panes_most``: the largest number of panes whose bytes are measured; None means all. Of more panes, this number
        of evenly spread panes is measured, and the bytes per cell of the others are assumed to be equal. Cost: each
        measured pane is serialised, in some .1 ms.
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
        """Return the estimate as answers show it. A figure is null if it is unknown, because no record was counted.

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
