"""The handoff ``fold`` in a task: partial states of queries are filled during evaluation, and sent to the
driver once.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark import Accumulator, SparkContext, TaskContext
from pyspark.accumulators import AccumulatorParam

from asc.evaluation.executor import Matches
from asc.keys.attribute import PAttribute
from asc.keys.buffers import Mask, fixed_width, null_mask
from asc.operators.fold import Fold, FoldState
from asc.operators.rows_by_query import rows_by_query
from asc.operators.times import FIRST_US, LAST_US
from broker.failure import one_line
from broker.matching.destinations import Folded
from broker.matching.tally import REASON_BITS, Newest

PROPERTY = "asc.fold"
"""The name of the local Spark property that passes two values to a task: the nonce of the attempt, and the number of
tasks. An attempt is one run of a batch or of the warm-up.
"""

_REASON_CHARS = 300

HandedOver = dict[tuple[str, int], bytes]
"""The results of tasks, as bytes of :class:`TaskPartials`. The key is the nonce of the attempt and the number of the
task's Spark partition.
"""


@dataclass(frozen=True, slots=True)
class FoldCounts:
    """The numbers of records that one query accepted. ``counted``: the records that were folded into the query's state.
    The other fields: the excluded records, by reason.
    """

    counted: int = 0
    time: int = 0
    future_timestamp: int = 0
    too_large: int = 0

    def plus(self, other: FoldCounts) -> FoldCounts:
        """Return the sum of two counts."""
        return FoldCounts(
            self.counted + other.counted,
            self.time + other.time,
            self.future_timestamp + other.future_timestamp,
            self.too_large + other.too_large,
        )

    @property
    def excluded(self) -> dict[str, int]:
        """Return the numbers of excluded records by reason."""
        return {"time": self.time, "future_timestamp": self.future_timestamp, "too_large": self.too_large}


@dataclass(frozen=True, slots=True)
class FoldPartial:
    """The state of one query over some records, as bytes, and the counts of these records."""

    state: bytes
    counts: FoldCounts


@dataclass(frozen=True, slots=True)
class TaskPartials:
    """The results that one task sends to the driver.

    ``partials``: the states and counts, by query, for queries that accepted a record. ``failed``: the reasons, by
    query, for queries whose state failed. ``newest``: the newest usable time of all decoded records, by the SQL of a
    time and the source partition.
    """

    partials: Mapping[str, FoldPartial] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    newest: Newest = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """Return the results as bytes."""
        return pickle.dumps(self, protocol=5)

    @staticmethod
    def of_bytes(content: bytes) -> TaskPartials:
        """Return the results from the bytes of :meth:`to_bytes`."""
        found: TaskPartials = pickle.loads(content)
        return found


class FoldParam(AccumulatorParam[HandedOver]):
    """The addition of task results by Spark's accumulator. The addition only collects the results, because it runs in
    Spark's scheduler.
    """

    def zero(self, value: HandedOver) -> HandedOver:
        return {}

    def addInPlace(self, value1: HandedOver, value2: HandedOver) -> HandedOver:  # noqa: N802
        value1.update(value2)
        return value1


def fold_accumulator(context: SparkContext) -> Accumulator[HandedOver]:
    """Return the accumulator for partial states. Spark keeps an accumulator until the session ends, so one accumulator
    serves all batches.
    """
    return context.accumulator({}, FoldParam())


@dataclass(frozen=True, slots=True)
class FoldQuery:
    """A query with the handoff ``fold``, in the form that tasks need.

    ``op``: the tag of the operator's kind. ``time``: the SQL of the query's time in microseconds. ``prepared``: the
    prepared definition of the operator, see :class:`Fold`.
    """

    op: str
    time: str
    prepared: Any


@dataclass(frozen=True, slots=True, eq=False)
class Folding:
    """The data that a worker needs to fold the records of a plan.

    ``folds``: the computation of each kind, by the kind's tag. ``queries``: the folded queries, by the names of their
    destinations. ``carried``: the expressions that cross into Python after the plan's p-attributes. ``times``: the
    index of each time in ``carried``, by the SQL of the time. ``columns``: the index in ``carried`` of each column that
    states read, by the kind and the name of the column.

    ``future_us``: the largest permitted difference, in microseconds, by which a record's time may be later than its
    timestamp. ``bytes_max``: the size limit of a batch's states, by kind; the tasks of the batch share the limit
    equally. ``limits``: the key of ``[limits]`` in the configuration that sets ``bytes_max``, by kind.
    """

    accumulator: Accumulator[HandedOver]
    folds: Mapping[str, Fold]
    queries: Mapping[str, FoldQuery]
    carried: tuple[PAttribute, ...]
    times: Mapping[str, int]
    columns: Mapping[str, Mapping[str, int]]
    future_us: int
    bytes_max: Mapping[str, int]
    limits: Mapping[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Times:
    """Two masks over the rows of a batch: whether the row's time is usable, and whether it is in the future."""

    is_usable: Mask
    is_future: Mask

    @staticmethod
    def of(times: pa.Array, stamps_ms: npt.NDArray[np.int64], future_us: int) -> Times:
        """Return the masks of times in microseconds. ``stamps_ms``: the timestamps of the records, negative for a
        record without a timestamp.

        ``future_us``: the largest permitted difference, in microseconds, by which a record's time may be later than its
        timestamp.
        """
        times_us, nulls = fixed_width(times, np.int64), null_mask(times)
        is_timed = (times_us >= FIRST_US) & (times_us <= LAST_US)
        if nulls is not None:
            is_timed &= ~nulls
        # The difference may overflow for a time out of range, but ``is_timed`` excludes such times.
        is_future = is_timed & (stamps_ms >= 0) & (times_us - future_us > stamps_ms * 1_000)
        return Times(is_timed & ~is_future, is_future)


class TaskFold:
    """The partial states of one task, over all of its batches.

    If a query's state fails, only this query fails, and the reason is sent in place of the state. If all states of a
    kind together exceed the task's share of memory, the state with the most bytes fails likewise. Any other error fails
    the task. Cost: a pass over the times of a batch, and the folding of the accepted records.
    """

    def __init__(self, folding: Folding, folded: Folded) -> None:
        """Begin without states, inside the Spark task that fills the states. ``folded``: the plan's queries with the
        handoff ``fold``.
        """
        self._folding = folding
        self._folded = folded
        context = TaskContext.get()
        assert context is not None
        self._partition = context.partitionId()
        self._nonce, _, tasks = (context.getLocalProperty(PROPERTY) or "").partition(" ")
        self._tasks = max(1, int(tasks or 1))
        self._states: dict[str, FoldState] = {}
        self._counts: dict[str, FoldCounts] = {}
        self._failed: dict[str, str] = {}
        self._newest: dict[tuple[str, int], int] = {}
        self._batch: Sequence[pa.Array] = ()
        self._times: dict[str, Times] = {}
        self._accepted: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]] = []

    def begin(
        self,
        carried: Sequence[pa.Array],
        partitions: npt.NDArray[np.integer[Any]],
        numbers: npt.NDArray[np.int64],
        dead: Mask | None,
    ) -> None:
        """Begin a batch. ``carried``: the columns of the carried expressions. ``partitions``: the source partition of
        each record. ``numbers``: the number of each record (see ``REASON_BITS``).

        ``dead``: the mask of the rows that are dead letters, or None if no row is a dead letter.
        """
        self._batch, self._accepted = carried, []
        stamps_ms = numbers >> REASON_BITS
        self._times = {}
        for sql, place in self._folding.times.items():
            own = self._times[sql] = Times.of(carried[place], stamps_ms, self._folding.future_us)
            times_us = fixed_width(carried[place], np.int64)
            self._note_newest(sql, times_us, partitions, own.is_usable if dead is None else own.is_usable & ~dead)

    def _note_newest(
        self, sql: str, times_us: npt.NDArray[np.int64], partitions: npt.NDArray[np.integer[Any]], is_counted: Mask
    ) -> None:
        for partition in np.unique(partitions[is_counted]).tolist():
            newest = int(times_us[is_counted & (partitions == partition)].max())
            place = (sql, int(partition))
            self._newest[place] = max(newest, self._newest.get(place, newest))

    def accept(self, start: int, matches: Matches) -> None:
        """Note the matches of consecutive rows of the batch; :meth:`end` folds them. ``start``: the index of the first
        of these rows.
        """
        is_own = self._folded.is_folded[matches.queries]
        if is_own.any():
            rows = matches.rows[is_own].astype(np.int64) + start
            self._accepted.append((rows, self._folded.place_of[matches.queries[is_own]]))

    def end(self) -> None:
        """End a batch: fold its accepted records."""
        if not self._accepted:
            return
        rows = np.concatenate([rows for rows, _ in self._accepted])
        places = np.concatenate([places for _, places in self._accepted])
        rows, starts = rows_by_query(rows, places, len(self._folded.names))
        columns: dict[str, Any] = {}
        for place in np.flatnonzero(np.diff(starts)).tolist():
            name = self._folded.names[place]
            if name not in self._failed and name in self._folding.queries:
                try:
                    self._fold(name, columns, rows[starts[place] : starts[place + 1]])
                except Exception as error:
                    self._fail(name, f"its state failed: {one_line(error, _REASON_CHARS)}")
        self._keep_to_share(self._compacted_sizes())

    def _fold(self, name: str, columns: dict[str, Any], rows: npt.NDArray[np.int64]) -> None:
        query = self._folding.queries[name]
        fold = self._folding.folds[query.op]
        if query.op not in columns:
            own = {column: self._batch[place] for column, place in self._folding.columns[query.op].items()}
            columns[query.op] = fold.columns(pa.RecordBatch.from_arrays(list(own.values()), names=list(own)))
        if name not in self._states:
            self._states[name] = fold.state(query.prepared)
        times = self._times[query.time]
        is_usable = times.is_usable[rows]
        future = int(np.count_nonzero(times.is_future[rows]))
        kept = rows if is_usable.all() else rows[is_usable]
        too_large = self._states[name].fold(columns[query.op], kept) if len(kept) else 0
        found = FoldCounts(len(kept) - too_large, len(rows) - len(kept) - future, future, too_large)
        self._counts[name] = self._counts.get(name, FoldCounts()).plus(found)

    def _compacted_sizes(self) -> dict[str, int]:
        """Return the bytes of each state, by query. If the states of a kind take more than the task's share of memory,
        compact the states with the most bytes first, until all states of the kind fit.
        """
        sizes = {name: state.nbytes for name, state in self._states.items()}
        for op, most in self._folding.bytes_max.items():
            names = sorted((name for name in sizes if self._folding.queries[name].op == op), key=sizes.__getitem__)
            total = sum(sizes[name] for name in names)
            while names and total > most // self._tasks:
                widest = names.pop()
                total -= sizes.pop(widest)
                try:
                    self._states[widest].compact()
                    sizes[widest] = self._states[widest].nbytes
                except Exception as error:
                    self._fail(widest, f"its state failed: {one_line(error, _REASON_CHARS)}")
                total += sizes.get(widest, 0)
        return sizes

    def _keep_to_share(self, sizes: dict[str, int]) -> None:
        """Fail the states with the most bytes of each kind, until the other states of the kind fit into the task's
        share of memory. ``sizes``: the bytes of each state, by query.
        """
        for op, most in self._folding.bytes_max.items():
            own = {name: size for name, size in sizes.items() if self._folding.queries[name].op == op}
            share = most // self._tasks
            while sum(own.values()) > share:
                widest = max(own, key=lambda name: (own[name], name))
                found = f"its state of {own.pop(widest):,} bytes in one task is the widest"
                limit = f"{share:,}, the task's share of limits.{self._folding.limits[op]}"
                self._fail(widest, f"{found}, and all of its kind may take {limit}")

    def _fail(self, name: str, reason: str) -> None:
        self._failed[name] = reason
        self._states.pop(name, None)
        self._counts.pop(name, None)

    def hand_over(self) -> None:
        """Send all results to the driver, once for each task, even if there was no record."""
        states: dict[str, bytes] = {}
        for name, state in list(self._states.items()):
            try:
                states[name] = state.to_bytes()
            except Exception as error:
                self._fail(name, f"its state failed: {one_line(error, _REASON_CHARS)}")
        self._keep_to_share({name: len(state) for name, state in states.items()})
        partials = {name: FoldPartial(states[name], counts) for name, counts in self._counts.items()}
        task_partials = TaskPartials(partials, self._failed, self._newest)
        self._folding.accumulator.add({(self._nonce, self._partition): task_partials.to_bytes()})
