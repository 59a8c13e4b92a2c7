"""The compiled loop that fills the bitmaps of regions. Shapes and dtypes are the callers' duty."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from asc.compiled import compiled

Array = npt.NDArray[Any]

_ONE = np.uint64(1)


@compiled
def admit_regions(regions: Array, bits: Array, lows: Array, highs: Array) -> None:
    """Set bit ``bits[i]`` in the rows ``lows[i]`` to ``highs[i]`` of uint64[rows, words]."""
    for i in range(bits.size):
        word = bits[i] >> 6
        mask = _ONE << np.uint64(bits[i] & 63)
        for row in range(lows[i], highs[i] + 1):
            regions[row, word] |= mask
