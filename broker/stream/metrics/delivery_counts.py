"""The number of records that each query of a stream accepted, in total and by minute."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from asc.plan.compiler import compile_plan
from asc.plan.plan import Plan, insertion_point
from broker.matching.plan_ids import RegisteredIds
from broker.matching.query_counts import QueryCounts

Integers = npt.NDArray[np.int64]

MINUTES = 60
_ENTRIES_MAX = 4_000_000
"""The largest number of counts that all minutes hold together, which take 48 MB.

If more queries accept records in each minute, the counts cover fewer minutes.
"""

_LOOKED_UP_ONE_BY_ONE = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class _Minute:
    """The counts of one minute. ``numbers`` int32[n]: the numbers of the queries that accepted records, in ascending
    order. ``counts`` int64[n]: the number of records that each of these queries accepted.
    """

    minute: int
    numbers: npt.NDArray[np.int32]
    counts: Integers

    def of(self, number: int) -> int:
        place = int(np.searchsorted(self.numbers, number))
        return int(self.counts[place]) if place < len(self.numbers) and self.numbers[place] == number else 0


class DeliveryCounts:
    """The counts of the records that each query of a stream accepted, since the daemon started.

    A replaced query continues its count. A query that was out of the plan (paused or removed) starts at 0 when it
    returns. The records of a replayed batch are counted again.

    Invariant: three arrays have the same positions as ``_ids``, the registered queries of ``_plan``. ``_counts`` has
    the counts, and ``_before`` the counts at the start of the minute. ``_numbers`` has the numbers by which the counts
    of minutes identify queries; each query that was ever counted here has its own number. The arrays are converted when
    a batch of another plan is counted.

    Cost: 20 bytes for each query. A batch costs a step for each accepting query. A change of the plan and the end of a
    minute each cost a few passes over all queries.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._plan = compile_plan(())
        self._ids: pa.StringArray = self._plan.query_ids
        self._counts: Integers = np.zeros(0, dtype=np.int64)
        self._before: Integers = np.zeros(0, dtype=np.int64)
        self._numbers: npt.NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self._next_number = 0
        self._minute = 0
        self._minutes: deque[_Minute] = deque(maxlen=MINUTES)
        self.total = 0
        """The sum over all queries, including queries that were removed."""

    def count(self, plan: Plan, by_query: QueryCounts, now_s: float) -> None:
        """Add the counts of a batch that ran with ``plan``."""
        with self._lock:
            self._end_minute(now_s)
            ordinals, counts = by_query.ordinals, by_query.counts
            self.total += int(counts.sum())
            if plan is not self._plan and plan.version >= self._plan.version:
                self._carry(plan)
            if plan is not self._plan:
                # The batch is replayed with its former plan, so its ordinals are converted to those of the present
                # plan.
                found = _by_id(self._ids, RegisteredIds.of(plan.query_ids).ids.take(pa.array(ordinals)))
                ordinals, counts = found[found >= 0], counts[found >= 0]
            self._counts[ordinals] += counts

    def of(self, query_id: str) -> int:
        """Return the number of records that a query accepted."""
        with self._lock:
            ordinal = self._ordinal(query_id)
            return 0 if ordinal is None else int(self._counts[ordinal])

    def by_minute(self, query_id: str, now_s: float) -> list[tuple[int, int]]:
        """Return the minutes of the last hour in which a query accepted records, oldest first.

        Each entry has the start of the minute in seconds since 1970, and the number of records.
        """
        with self._lock:
            self._end_minute(now_s)
            ordinal = self._ordinal(query_id)
            if ordinal is None:
                return []
            number = int(self._numbers[ordinal])
            found = [(each.minute, each.of(number)) for each in self._minutes]
            found.append((self._minute, int(self._counts[ordinal] - self._before[ordinal])))
        first = int(now_s // 60) - MINUTES
        return [(minute * 60, count) for minute, count in found if count and minute > first]

    def most(self, queries: int) -> list[tuple[str, int]]:
        """Return the queries that accepted the most records, with their counts in descending order.

        ``queries``: the largest number of queries to return. Queries with a count of 0 are excluded.
        """
        with self._lock:
            counts = self._counts
            some = np.argpartition(-counts, queries)[:queries] if len(counts) > queries else np.arange(len(counts))
            some = some[counts[some] > 0]
            order = some[np.lexsort((some, -counts[some]))]
            ids = self._ids.take(pa.array(order)).to_pylist()
            return list(zip(ids, counts[order].tolist(), strict=True))

    def counts(self) -> tuple[pa.StringArray, Integers]:
        """Return the ids of the queries of the last batch's plan, and the number of records of each query."""
        with self._lock:
            return self._ids, self._counts.copy()

    def last_minute(self, now_s: float) -> tuple[pa.StringArray, Integers]:
        """Return the ids of the queries of the last batch's plan, and the records of each in the last full minute."""
        with self._lock:
            # These objects never change in place, so batches need not wait while the caller reads them.
            ids, numbers, last = self._ids, self._numbers, self._last_minute(now_s)
        if last is None:
            return ids, np.zeros(len(numbers), dtype=np.int64)
        places = np.minimum(np.searchsorted(last.numbers, numbers), len(last.numbers) - 1)
        return ids, np.where(last.numbers[places] == numbers, last.counts[places], 0)

    def of_last_minute(self, query_id: str, now_s: float) -> int:
        """Return the number of records that a query accepted in the last full minute."""
        with self._lock:
            ordinal, last = self._ordinal(query_id), self._last_minute(now_s)
            return 0 if ordinal is None or last is None else last.of(int(self._numbers[ordinal]))

    def _last_minute(self, now_s: float) -> _Minute | None:
        self._end_minute(now_s)
        last = self._minutes[-1] if self._minutes else None
        return last if last is not None and last.minute == self._minute - 1 else None

    def _end_minute(self, now_s: float) -> None:
        minute = int(now_s // 60)
        if minute <= self._minute:
            return
        since = self._counts - self._before
        some = np.flatnonzero(since)
        if len(some):
            order = some[np.argsort(self._numbers[some], kind="stable")]
            self._minutes.append(_Minute(self._minute, self._numbers[order], since[order]))
            self._before = self._counts.copy()
        held = sum(len(each.numbers) for each in self._minutes)
        while held > _ENTRIES_MAX and len(self._minutes) > 1:
            held -= len(self._minutes.popleft().numbers)
        self._minute = minute

    def _ordinal(self, query_id: str) -> int | None:
        place = insertion_point(self._ids, query_id)
        return place if place < len(self._ids) and self._ids[place].as_py() == query_id else None

    def _carry(self, plan: Plan) -> None:
        before_plan, before_ids = self._plan, self._ids
        self._plan = plan
        if plan.query_ids is before_plan.query_ids:
            return
        found = RegisteredIds.of(plan.query_ids)
        ids, is_plain = found.ids, found.owner is None and before_ids is before_plan.query_ids
        places = _places(before_plan, plan) if is_plain else _by_id(before_ids, ids)
        known = places >= 0
        counts, before = (np.zeros(len(ids), dtype=np.int64) for _ in range(2))
        numbers = np.empty(len(ids), dtype=np.int32)
        counts[known] = self._counts[places[known]]
        before[known] = self._before[places[known]]
        numbers[known] = self._numbers[places[known]]
        new = int(np.count_nonzero(~known))
        numbers[~known] = np.arange(self._next_number, self._next_number + new)
        self._next_number += new
        self._ids, self._counts, self._before, self._numbers = ids, counts, before, numbers


def _places(old: Plan, new: Plan) -> Integers:
    """Return, for each query of the plan ``new``, its index in the plan ``old``, or -1 for a query that ``old`` does
    not have.
    """
    if new.query_ids.equals(old.query_ids):
        return np.arange(len(new), dtype=np.int64)
    shared = {id(block) for block in old.blocks}
    if not any(id(block) in shared for block in new.blocks):
        return _by_id(old.query_ids, new.query_ids)
    # Plans that share a block have one numbering of handles: only new or replaced queries are looked up by id.
    handles = new.handles
    places = np.full(len(new), -1, dtype=np.int64)
    known = handles < len(old.ranks)
    places[known] = old.ranks[handles[known]]
    unknown = np.flatnonzero(places < 0)
    if len(unknown) > _LOOKED_UP_ONE_BY_ONE:
        places[unknown] = _by_id(old.query_ids, new.query_ids.take(pa.array(unknown)))
    else:
        ids = new.query_ids.take(pa.array(unknown)).to_pylist()
        ordinals = (old.ordinal(query_id) for query_id in ids)
        places[unknown] = [-1 if ordinal is None else ordinal for ordinal in ordinals]
    return places


def _by_id(old: pa.StringArray, ids: pa.StringArray) -> Integers:
    found: Integers = pc.index_in(ids, value_set=old).fill_null(-1).to_numpy(zero_copy_only=False)
    return found.astype(np.int64)
