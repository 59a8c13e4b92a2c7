"""Sorting of values and states by cell, so that a sketch reads the values of a cell as one slice."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from asc.frozen import frozen
from asc.operators.cube.states.by_cell_kernels import count_by_cell, number_by_cell, place_by_cell
from asc.operators.cube.states.state import Places, Rows, Values

Bounds = npt.NDArray[np.int64]


def sorted_by_cell(values: Values, rows: Rows, cells: Places, count: int) -> tuple[npt.NDArray[Any], Bounds]:
    """Return the values of ``rows`` that are not NULL, sorted by cell, and int64[count + 1], the position of each
    cell's first value. Values of one cell keep the order of the rows. Cost: a stable counting sort, two passes.
    """
    bounds = np.zeros(count + 1, dtype=np.int64)
    count_by_cell(values.nulls, rows, cells, bounds)
    np.cumsum(bounds, out=bounds)
    ordered = np.empty(int(bounds[-1]), dtype=values.numbers.dtype)
    place_by_cell(values.numbers, values.nulls, rows, cells, bounds[:-1].copy(), ordered)
    return ordered, frozen(bounds)


def numbered_by_cell(cells: Places, count: int) -> tuple[Rows, Bounds]:
    """Return the indices of states, sorted by cell, and int64[count + 1], the position of each cell's first state.
    States of one cell keep their order.
    """
    bounds = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(cells, minlength=count), out=bounds[1:])
    order = np.empty(len(cells), dtype=np.int64)
    number_by_cell(cells, bounds[:-1].copy(), order)
    return frozen(order), frozen(bounds)
