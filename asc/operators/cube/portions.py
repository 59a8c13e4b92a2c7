"""Portions of cells: successive cells that are converted to Python objects together, in a bounded amount of memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from asc.operators.cube.answer_memory import is_variable
from asc.operators.cube.cells import Cells

_CELLS_MOST = 10_000
"""The largest number of cells of a portion."""

_BYTES_MOST = 16 << 20
"""The largest number of bytes of texts and binary values in a portion. A single cell may have more."""


def portions(cells: Cells) -> Iterator[Cells]:
    """Yield all cells in their order, in portions. Cost: a pass over the sizes of texts and binary values."""
    ends = np.cumsum(_text_bytes(cells))
    start = 0
    while start < cells.count:
        before_bytes = int(ends[start - 1]) if start else 0
        stop = int(np.searchsorted(ends, before_bytes + _BYTES_MOST, side="right"))
        stop = min(max(stop, start + 1), start + _CELLS_MOST, cells.count)
        yield cells.slice(start, stop)
        start = stop


def _text_bytes(cells: Cells) -> npt.NDArray[np.int64]:
    """Return the bytes of the texts and binary values of each cell."""
    sizes = np.zeros(cells.count, dtype=np.int64)
    for key in cells.keys:
        if key.has_bytes:
            sizes += key.sizes[key.codes]
    for state in filter(is_variable, cells.states):
        sizes += pc.fill_null(pc.binary_length(state), 0).to_numpy(zero_copy_only=False)
    return sizes
