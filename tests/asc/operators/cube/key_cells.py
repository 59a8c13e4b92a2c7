"""Cells without states, for tests of samples and estimates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.frozen import frozen
from asc.operators.cube.cells import Cells
from asc.operators.cube.keys import Key
from asc.operators.cube.lattice import Lattice
from asc.operators.cube.view import View

Ints = npt.NDArray[Any]


def cells_of(panes: Ints, *codes: Ints) -> Cells:
    """Return cells without states of keys that are integers from 0 on, one for each distinct row."""
    _, rows = np.unique(_numbers(panes, codes), return_index=True)
    return Cells(frozen(panes[rows].astype(np.int64)), tuple(Key.of(pa.array(own[rows])) for own in codes), ())


def cells_in(cells: Cells, lattice: Lattice, view: View) -> int:
    """Return the number of cells of a view, counted over all cells."""
    columns = lattice.dimensions.columns(view.cuboid)
    return len(np.unique(_numbers(cells.panes // view.panes, [cells.keys[place].codes for place in columns])))


def _numbers(panes: Ints, codes: Sequence[Ints]) -> Ints:
    """Return a number for each row, which has the order of the rows."""
    numbers = panes.astype(np.int64)
    for own in codes:
        numbers = numbers * (int(own.max(initial=0)) + 1) + own
    return numbers
