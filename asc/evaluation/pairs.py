# ruff: noqa: PLR0917 (compiled functions take their arrays one by one, by position)
"""Accepted pairs of a row of a batch and the ordinal of a query: the buffers of pairs, and the compiled loop that sorts
pairs.

Callers guarantee the shapes and dtypes of the arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from asc.compiled import allocating, trailing_zeros

Array = npt.NDArray[Any]

_WORDS_A_PAIR = 8
"""The number of words of the bitmap ``marks`` of :func:`by_row` that can be scanned in the time in which one ordinal is
sorted. It decides between the two ways to sort the ordinals of a row.
"""


class TooManyPairsError(Exception):
    """An error: the rows of a batch may have more accepted pairs of row and query than the caller allowed. The caller
    may try again with fewer rows.

    ``rows``: the approximate number of rows whose pairs were within the bound.
    """

    def __init__(self, rows: float) -> None:
        super().__init__(rows)
        self.rows = rows


def doubled(pairs: npt.NDArray[np.int64], most: int, rows: float) -> npt.NDArray[np.int64]:
    """Return a copy of a buffer of pairs, with twice the capacity.

    ``rows``: the approximate number of rows whose pairs are in the buffer. Raise TooManyPairsError with this number if
    the buffer already has capacity for ``most`` pairs.
    """
    if len(pairs) >= most:
        raise TooManyPairsError(rows)
    return np.concatenate([pairs, np.empty_like(pairs)])


@allocating
def by_row(pairs: Array, begin: int, rows: Array, ordinals: Array, ends: Array, marks: Array) -> int:
    """Write pairs ``row << 32 | ordinal``, with rows in any order, to two arrays sorted by row and then by ordinal.

    Return the number of rows without a pair. ``begin``: the least row. ``ends`` int64[rows + 1]: scratch. ``marks``
    uint64[words]: scratch, one bit for each ordinal; all zeros before and after the call. Cost: three passes over the
    pairs. If the ordinals of a row are not ascending, because several blocks found them, also a sort of these ordinals.
    Many ordinals are sorted with the bits of ``marks``.
    """
    ends[:] = 0
    for i in range(pairs.size):
        ends[(pairs[i] >> 32) - begin + 1] += 1
    for row in range(1, ends.size):
        ends[row] += ends[row - 1]
    # In this loop, ``ends`` has the place of each row's next pair. After the loop, it has the end of each row's pairs.
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
        if not ascending and (end - start) * _WORDS_A_PAIR > marks.size:
            for i in range(start, end):
                marks[ordinals[i] >> 6] |= np.uint64(1) << np.uint64(ordinals[i] & 63)
            place = start
            for word in range(marks.size):
                left = marks[word]
                marks[word] = 0
                while left != 0:
                    ordinals[place] = (word << 6) + np.int64(trailing_zeros(left))  # type: ignore[call-arg]
                    left &= left - np.uint64(1)
                    place += 1
        elif not ascending:
            ordinals[start:end].sort()
        start = end
    return without
