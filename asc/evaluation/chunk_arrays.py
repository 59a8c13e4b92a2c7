"""The tuples of a chunk and the scratch of the kernels that evaluate them, by name.

A kernel is compiled for the dtype, the layout and the mutability of each array. So each field always has the same ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from asc.plan.block import LINE

Array = npt.NDArray[Any]


class ChunkArrays(NamedTuple):
    """The tuples of a chunk.

    ``regions`` uint16[slots + 1, rows]: the last row, that of slot -1, is all zeros. ``keys`` int64[slots, rows]: read
    by verification alone, and scratch of one row where nothing is verified. ``null_regions`` uint16[slots].
    ``has_null``: any value of these rows may be NULL. ``offset``: the number of tuples of the batch before the chunk.
    """

    regions: Array
    keys: Array
    null_regions: Array
    has_null: bool
    offset: int


class Scratch(NamedTuple):
    """The memory of the kernels for one tuple at a time.

    ``grb`` uint64[words + 2 lines]: the non-zero words that are left of a GRB. ``unverified`` uint64[words + 2 lines]:
    their bits to verify. ``places`` int64[words + 2 lines]: the index of each in the GRB. ``offsets`` int64[2, 4 p]:
    the byte offsets of rows and of masks. ``geb`` bool[c]: the GEB.
    """

    grb: Array
    unverified: Array
    places: Array
    offsets: Array
    geb: Array

    @staticmethod
    def of(words: int, constructs: int) -> Scratch:
        """Return scratch for GRBs of up to ``words`` words, and for up to ``constructs`` constructs."""
        capacity, filled_up = words + 2 * LINE, 4 * max(1, -(-constructs // 4))
        return Scratch(
            grb=np.empty(capacity, dtype=np.uint64),
            unverified=np.empty(capacity, dtype=np.uint64),
            places=np.empty(capacity, dtype=np.int64),
            offsets=np.empty((2, filled_up), dtype=np.int64),
            geb=np.zeros(constructs, dtype=np.bool_),
        )
