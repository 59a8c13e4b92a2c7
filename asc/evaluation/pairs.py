"""The compiled loop that puts pairs of row and ordinal in their order. Shapes and dtypes are the callers' duty."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from asc.compiled import compiled

Array = npt.NDArray[Any]


@compiled
def by_row(pairs: Array, begin: int, rows: Array, ordinals: Array, ends: Array) -> int:
    """Pairs ``row << 32 | ordinal``, the rows in any order, as two arrays sorted by row and then by ordinal; the
    number of rows that have none.

    ``begin``: the least row; ``ends`` int64[rows + 1]: room, one more than there are rows. Cost: three passes, and a
    sort of the rows whose ordinals do not come ascending.
    """
    ends[:] = 0
    for i in range(pairs.size):
        ends[(pairs[i] >> 32) - begin + 1] += 1
    for row in range(1, ends.size):
        ends[row] += ends[row - 1]
    # From here on where the next pair of each row goes, at last where they end.
    for i in range(pairs.size):
        row = (pairs[i] >> 32) - begin
        place = ends[row]
        rows[place] = pairs[i] >> 32
        ordinals[place] = pairs[i] & 0x7FFFFFFF
        ends[row] = place + 1
    start = 0
    without = 0
    for row in range(ends.size - 1):
        end = ends[row]
        without += end == start
        ascending = True
        for i in range(start + 1, end):
            ascending &= ordinals[i - 1] < ordinals[i]
        if not ascending:
            ordinals[start:end].sort()
        start = end
    return without
