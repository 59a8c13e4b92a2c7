"""The number of records that each query accepted, counted while records are matched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

_FOLDED_AT = 1 << 16
"""The smallest number of ordinals (one for each pair of record and query) that a task collects before it adds them up
to counts.
"""


@dataclass(frozen=True, slots=True, eq=False)
class QueryCounts:
    """The number of records that each query accepted under one plan. Queries that accepted no record are not included.

    ``ordinals`` int64[n], ascending: the indexes of the queries among the registered ids of the plan
    (:class:`RegisteredIds`). ``counts`` int64[n]: the number of records that each of these queries accepted; all are
    positive. Cost: 16 bytes for each query that accepted a record.
    """

    ordinals: Integers
    counts: Integers

    @staticmethod
    def none() -> QueryCounts:
        """Return counts that include no query."""
        return QueryCounts(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))

    @staticmethod
    def together(counts: Sequence[QueryCounts]) -> QueryCounts:
        """Return the sum of several counts under the same plan."""
        some = [each for each in counts if len(each.ordinals)]
        if len(some) < 2:
            return some[0] if some else QueryCounts.none()
        ordinals = np.concatenate([each.ordinals for each in some])
        return _added(ordinals, np.concatenate([each.counts for each in some]), int(ordinals.max()) + 1)


class QueryCounting:
    """The counter of one task, which counts the pairs of record and query that the executor finds.

    Each pair is noted as the ordinal of its query. Ordinals are collected until they are as many as the queries, but at
    least ``_FOLDED_AT``, and then added up. So counting a pair takes a copy and an addition, whatever the number of
    queries, and a batch with few matches takes little time. Invariant: the counts are those in ``_sums`` plus those of
    the ordinals in ``_aside``.
    """

    def __init__(self, queries: int) -> None:
        self._queries = queries
        self._sums: Integers | None = None
        self._aside: list[npt.NDArray[np.integer]] = []
        self._aside_count = 0

    def add(self, ordinals: npt.NDArray[np.integer]) -> None:
        """Count one accepted record for each ordinal, the index of the accepting query. An ordinal may occur several
        times.
        """
        self._aside.append(ordinals)
        self._aside_count += len(ordinals)
        if self._aside_count >= max(_FOLDED_AT, self._queries):
            sums = np.zeros(self._queries, dtype=np.int64) if self._sums is None else self._sums
            sums += np.bincount(np.concatenate(self._aside), minlength=self._queries)
            self._sums, self._aside, self._aside_count = sums, [], 0

    def counts(self) -> QueryCounts:
        """Return the counts so far."""
        found = [_added(np.concatenate(self._aside), None, self._queries)] if self._aside_count else []
        if self._sums is not None:
            filled = np.flatnonzero(self._sums)
            found.append(QueryCounts(filled, self._sums[filled]))
        return QueryCounts.together(found)


def _added(ordinals: npt.NDArray[np.integer], counts: Integers | None, size: int) -> QueryCounts:
    # Counting in a table of all ordinals is faster than sorting, unless the table is much larger than the data.
    if size <= 16 * len(ordinals):
        sums = np.bincount(ordinals, counts, minlength=size)
        filled = np.flatnonzero(sums)
        return QueryCounts(filled, sums[filled].astype(np.int64))
    found, places, once = np.unique(ordinals, return_inverse=True, return_counts=True)
    sums = once if counts is None else np.bincount(places, counts)
    return QueryCounts(found.astype(np.int64), sums.astype(np.int64))
