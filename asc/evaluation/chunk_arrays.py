"""Named tuples of the arrays of the kernels that evaluate tuples: the tuples of a chunk, and scratch.

A kernel is compiled for the dtype, the layout and the mutability of each array. So the arrays of a field always have
the same dtype, layout and mutability.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from asc.plan.block import LINE

Array = npt.NDArray[Any]


class ChunkArrays(NamedTuple):
    """The tuples of a chunk, as arrays of their regions and keys.

    ``regions`` uint16[slots + 1, rows]: the last row, that of slot -1, is all zeros. ``keys`` int64[slots, rows]: read
    only by verification. If no block verifies, the array has one row, which is scratch. ``null_regions`` uint16[slots].
    ``has_null``: whether any value of these rows may be NULL. ``offset``: the number of tuples of the batch before the
    chunk.
    """

    regions: Array
    keys: Array
    null_regions: Array
    has_null: bool
    offset: int


class Scratch(NamedTuple):
    """The memory in which kernels store the intermediate results of one tuple.

    ``grb`` uint64[words + 2 lines]: the non-zero words that are left of a GRB. ``unverified`` uint64[words + 2 lines]:
    the bits of these words that have to be verified. ``places`` int64[words + 2 lines]: the index of each of these
    words in the GRB. ``offsets`` int64[2, m]: the byte offsets of rows, then of masks, where m is the number of
    constructs, rounded up to a multiple of four. ``geb`` bool[constructs]: the GEB.
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
