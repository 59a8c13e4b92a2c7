"""Rows by query: pairs of a row and a query that accepts it, arranged so that the rows of each query are contiguous."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from asc.compiled import compiled


def rows_by_query(
    rows: npt.NDArray[np.int64], places: npt.NDArray[np.int32], count: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the rows sorted by query, int64[n], and the start of each query's rows in them, int64[count + 1].

    The pair i consists of ``rows[i]`` and the query with the index ``places[i]``. ``count``: the number of queries. The
    rows of one query stay in their order. Cost: a counting sort, which is two passes over the pairs and one over the
    queries.

    >>> found, starts = rows_by_query(np.array([4, 7, 9]), np.array([2, 0, 2], dtype=np.int32), 3)
    >>> found.tolist(), starts.tolist()
    ([7, 4, 9], [0, 1, 1, 3])
    """
    found, starts = np.empty(len(rows), dtype=np.int64), np.zeros(count + 2, dtype=np.int64)
    _scatter(rows, places, starts, found)
    return found, starts[:-1]


@compiled
def _scatter(rows: Any, places: Any, starts: Any, scattered: Any) -> None:
    """Write the rows to ``scattered``, sorted by query. ``starts`` int64[count + 2], initially zeros: receives the
    start of each query's rows, then the number of all rows.
    """
    # Shifted by two: the scatter moves each start to its end, which leaves the starts shifted by one.
    for i in range(places.size):
        starts[places[i] + 2] += 1
    for place in range(2, starts.size):
        starts[place] += starts[place - 1]
    for i in range(places.size):
        place = places[i] + 1
        scattered[starts[place]] = rows[i]
        starts[place] += 1
