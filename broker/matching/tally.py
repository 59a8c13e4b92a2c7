"""Tallies of batches. A tally has the results of a batch other than its matches: counts by block, a sample, evaluation
errors and dead letters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import Accumulator, SparkContext
from pyspark.accumulators import AccumulatorParam

from asc.evaluation.evaluation_errors import queries_with_errors
from asc.evaluation.executor import Matches
from asc.keys.attribute import PAttribute
from asc.keys.buffers import Mask
from asc.plan.plan import Plan
from broker.matching.alike import Alike
from broker.matching.plan_ids import registered_id
from broker.matching.query_counts import QueryCounting, QueryCounts
from broker.matching.record_times import RecordTimes

Counts = npt.NDArray[np.int64]

REASON_BITS = 16
"""The number of low bits of a record's number that hold the dead-letter reason. The bits are 0 if the record is not a
dead letter.

The higher bits are the record's timestamp in milliseconds, or -1 if the record has no timestamp.
"""

NO_TIME = -(1 << 63)
"""The value that represents a missing or unusable event time."""

Newest = Mapping[tuple[str, int], int]
"""The newest usable event times in microseconds, by time expression and source partition."""

_BYTES_MATCHED = 1_024
"""The number of bytes kept of a sampled text that is matched with patterns. The number is large, because a match may be
anywhere in the text.
"""

_BYTES_KEPT = 64
"""The number of bytes kept of a sampled string or binary value that is not matched with patterns. If no constant of the
predicates is as long, the cut value is in the same region as the whole value.
"""


@dataclass(frozen=True, slots=True)
class Sampling:
    """The rule for sampling tuples. Each tuple is drawn with probability ``share``, and the sample has at most
    ``tuples`` tuples.
    """

    share: float
    tuples: int


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """A uniform sample of tuples (a bottom-k sketch). Each tuple gets an independent uniform random number, and the
    tuples with the smallest numbers are kept.

    ``numbers`` float64[n]: the random numbers of the n kept tuples, ascending. ``values``: a column for each
    p-attribute, with n rows in the same order. The union of two draws, cut to its smallest numbers, is a draw of both
    streams together. Cost: n values for each p-attribute, of at most 64 bytes each, or 1,024 bytes if they are matched
    with patterns.
    """

    numbers: npt.NDArray[np.float64]
    values: pa.Table

    def __len__(self) -> int:
        return len(self.numbers)

    def merged(self, other: Draw, tuples: int) -> Draw:
        """Return the union of two draws, cut to ``tuples`` rows with the smallest numbers. It has the columns that both
        draws have.
        """
        own, others = (draw.values.schema for draw in (self, other))
        if own.equals(others):
            return _union([self, other], tuples)
        names = [field.name for field in own if field.name in others.names and others.field(field.name) == field]
        return _union([Draw(draw.numbers, draw.values.select(names)) for draw in (self, other)], tuples)

    def columns(self, attributes: Sequence[PAttribute]) -> list[pa.ChunkedArray | None]:
        """Return the sampled values of each p-attribute. The p-attributes may be those of a plan other than the sampled
        plan.

        For a p-attribute that was not sampled, the result has None in place of the values.
        """
        place = {(name, self.values.schema.field(name).type): name for name in self.values.column_names}
        names = [place.get((attribute.sql, attribute.type)) for attribute in attributes]
        return [None if name is None else self.values[name] for name in names]


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """The counts and the sample of tuples that were evaluated by one plan.

    ``plan``: the number that the job assigns to each shipped plan; counts by block can be added only under the same
    plan. ``dropped`` and ``evaluated`` int64[blocks]: as in :class:`asc.evaluation.executor.Matches`. ``errors``: by
    the handle (the number of a query in the plan's blocks), the tuples on which the query's evaluation failed
    (:func:`asc.evaluation.evaluation_errors.queries_with_errors`). ``dead_letters``: the number of dead letters by the
    number of the reason. ``match_s``: the seconds that the slowest task spent in the matching function.

    ``written``: the number of records to write, one for each topic of a tuple. ``by_query``: the number of tuples that
    each registered query accepted. ``times``: the timestamps of the tuples. ``newest``: the newest event times of the
    tuples.
    """

    plan: int
    tuples: int
    accepted: int
    dropped: Counts
    evaluated: Counts
    draw: Draw | None
    errors: Mapping[int, int] = field(default_factory=dict)
    dead_letters: Mapping[int, int] = field(default_factory=dict)
    match_s: float = 0.0
    written: int = 0
    by_query: QueryCounts = field(default_factory=QueryCounts.none)
    times: RecordTimes = field(default_factory=lambda: RecordTimes.together(()))
    newest: Newest = field(default_factory=dict)

    def error_counts(self, plan: Plan) -> dict[str, int]:
        """Return the counts of ``errors`` by the id of the registered query. ``plan``: the plan by which the tuples
        were evaluated.

        A join has the largest count of its shapes, because an expression fails on the same records for all of its
        shapes.
        """
        if not self.errors:
            return {}
        ids = plan.query_ids.take(pa.array(plan.ranks[list(self.errors)])).to_pylist()
        found: dict[str, int] = {}
        for plan_id, count in zip(ids, self.errors.values(), strict=True):
            query_id = registered_id(plan_id)
            found[query_id] = max(count, found.get(query_id, 0))
        return found

    def merged(self, other: Tally, sample_tuples: int) -> Tally:
        """Return the sum of two tallies.

        If the plans differ, return the tally of the newer plan. The older tally is ignored, because it comes from a
        late task of a failed batch.
        """
        if self.plan != other.plan:
            return self if self.plan > other.plan else other
        draws = [draw for draw in (self.draw, other.draw) if draw is not None]
        return Tally(
            self.plan,
            self.tuples + other.tuples,
            self.accepted + other.accepted,
            self.dropped + other.dropped,
            self.evaluated + other.evaluated,
            draws[0].merged(draws[1], sample_tuples) if len(draws) == 2 else next(iter(draws), None),
            _sum(self.errors, other.errors),
            _sum(self.dead_letters, other.dead_letters),
            max(self.match_s, other.match_s),
            self.written + other.written,
            QueryCounts.together((self.by_query, other.by_query)),
            RecordTimes.together((self.times, other.times)),
            _newest((self.newest, other.newest)),
        )


class TallyParam(AccumulatorParam["Tally | None"]):
    """The addition of tallies by Spark's accumulator: within a task, and on the driver when tasks end."""

    def __init__(self, sample_tuples: int) -> None:
        self._sample_tuples = sample_tuples

    def zero(self, value: Tally | None) -> Tally | None:
        return None

    def addInPlace(self, value1: Tally | None, value2: Tally | None) -> Tally | None:  # noqa: N802
        if value1 is None or value2 is None:
            return value1 or value2
        return value1.merged(value2, self._sample_tuples)


def tally_accumulator(context: SparkContext, sample_tuples: int) -> Accumulator[Tally | None]:
    """Return the accumulator that receives the workers' tallies.

    Spark keeps an accumulator until the session ends, so one accumulator serves many batches.
    """
    return context.accumulator(None, TallyParam(sample_tuples))


@dataclass(frozen=True, slots=True)
class Tallying:
    """The instructions for tallies in a worker: the accumulator, the plan's number, and the sampling (or None).

    ``counts_records``: whether the last value of a row is the record's number (see REASON_BITS). ``times``: the names
    of the event times that a row also has. The value of an event time is NO_TIME if the record has no usable one.
    """

    accumulator: Accumulator[Tally | None]
    plan: int
    sampling: Sampling | None
    counts_records: bool = False
    times: tuple[str, ...] = ()


class TaskTally:
    """The tally of one task, which adds up its batches in the worker and sends the result once, when the task ends.

    The tally runs in the task that matches, so an error of the tally must not fail the task. After an error, the tally
    sends nothing, and the monitor receives no data from this task. Draws are collected, and merged when together they
    are twice as large as the sample. From then on, only tuples whose random number is below the greatest kept number
    are drawn. So most batches cost only a comparison of random numbers and a copy of a few rows. ``alike``: queries
    that get the counts of the queries that replace them.
    """

    def __init__(self, tallying: Tallying, alike: Alike | None = None) -> None:
        self._tallying = tallying
        self._alike = alike
        # Each task has another random seed. Only the sample depends on the numbers.
        self._random = np.random.default_rng()
        self._counts: Tally | None = None
        self._draws: list[Draw] = []
        self._errors: Counter[int] = Counter()
        self._dead_letters: Counter[int] = Counter()
        self._times: list[RecordTimes] = []
        self._by_query: QueryCounting | None = None
        self._written = 0
        self._newest: Newest = {}
        self._below = tallying.sampling.share if tallying.sampling else 0.0
        self._gave_up = False

    def add(self, attributes: Sequence[PAttribute], columns: Sequence[pa.Array], matches: Matches) -> None:
        """Count a batch and sample its tuples."""
        if self._gave_up:
            return
        try:
            self._add(attributes, columns, matches)
        except Exception:
            self._gave_up = True

    def add_errors(self, plan: Plan, columns: Sequence[pa.Array], errors: Callable[[], Mapping[int, Mask]]) -> None:
        """Count the evaluation errors of a batch.

        ``errors`` returns masks bool[rows] of the failed evaluations, by the index of a p-attribute of the plan, for
        p-attributes with errors.
        """
        if self._gave_up:
            return
        try:
            found = errors()
            if not found:
                return
            rows = np.flatnonzero(np.logical_or.reduce(list(found.values())))
            taken = [column.take(pa.array(rows)) for column in columns]
            handles, counts = queries_with_errors(plan, taken, {slot: mask[rows] for slot, mask in found.items()})
            self._errors.update(dict(zip(handles.tolist(), counts.tolist(), strict=True)))
        except Exception:
            self._gave_up = True

    def add_records(self, numbers: npt.NDArray[np.int64]) -> Mask | None:
        """Count the records of a batch by timestamp, and its dead letters by reason. Return the mask of the dead
        letters, bool[rows]. Return None if there are no dead letters, as in most batches.
        """
        self._times.append(RecordTimes.of(numbers >> REASON_BITS))
        reasons = numbers & ((1 << REASON_BITS) - 1)
        if not reasons.any():
            return None
        dead = reasons > 0
        found, counts = np.unique(reasons[dead], return_counts=True)
        self._dead_letters.update(dict(zip(found.tolist(), counts.tolist(), strict=True)))
        return dead

    def add_times(self, partitions: npt.NDArray[np.integer], times_us: Sequence[npt.NDArray[np.int64]]) -> None:
        """Note the newest value of each event time in a batch, by source partition."""
        for partition in np.unique(partitions).tolist():
            own = partitions == partition
            for name, times in zip(self._tallying.times, times_us, strict=True):
                newest = int(times[own].max())
                if newest != NO_TIME:
                    self._newest = _newest((self._newest, {(name, partition): newest}))

    def add_accepted(self, queries: int, ordinals: npt.NDArray[np.integer], written: int) -> None:
        """Count accepted records by query, and add ``written`` to the number of records to write. ``ordinals``: the
        index of the accepting query for each accepted record. ``queries``: the number of registered queries.
        """
        self._by_query = self._by_query or QueryCounting(queries)
        self._by_query.add(ordinals)
        self._written += written

    def hand_over(self, match_s: float = 0.0) -> None:
        """Send the counts and the sample to the driver. ``match_s``: the seconds that the task spent on matching."""
        if self._counts is None or self._gave_up:
            return
        sampling = self._tallying.sampling
        with suppress(Exception):
            draw = _union(self._draws, sampling.tuples) if sampling and self._draws else None
            by_query = self._by_query.counts() if self._by_query else QueryCounts.none()
            counts = replace(
                self._counts,
                draw=draw,
                errors=dict(self._errors),
                dead_letters=dict(self._dead_letters),
                match_s=match_s,
                written=self._written,
                by_query=by_query if self._alike is None else self._alike.counted(by_query),
                times=RecordTimes.together(self._times),
                newest=self._newest,
            )
            self._tallying.accumulator.add(counts)

    def _add(self, attributes: Sequence[PAttribute], columns: Sequence[pa.Array], matches: Matches) -> None:
        accepted = int(np.count_nonzero(np.diff(matches.rows, prepend=-1)))
        counts = (matches.tuples, accepted, matches.block_dropped, matches.block_evaluated)
        tally = Tally(self._tallying.plan, *counts, None)
        self._counts = tally if self._counts is None else self._counts.merged(tally, 0)
        sampling = self._tallying.sampling
        if sampling is None or not attributes:
            return
        draw = self._draw(attributes, columns, matches.tuples, sampling)
        if draw is not None:
            self._draws.append(draw)
        if sum(map(len, self._draws)) >= 2 * sampling.tuples:
            merged = _union(self._draws, sampling.tuples)
            # A later tuple with a greater number cannot enter the sample any more.
            self._draws, self._below = [merged], float(merged.numbers[-1])

    def _draw(
        self, attributes: Sequence[PAttribute], columns: Sequence[pa.Array], tuples: int, sampling: Sampling
    ) -> Draw | None:
        numbers = self._random.random(tuples)
        drawn = np.flatnonzero(numbers < self._below)
        if not len(drawn):
            return None
        order = drawn[np.argsort(numbers[drawn])][: sampling.tuples]
        rows = pa.array(order)
        # An attribute that is both compared and matched with patterns is drawn once.
        by_text = dict(zip((attribute.sql for attribute in attributes), columns, strict=True))
        matched = {attribute.sql for attribute in attributes if attribute.is_matched}
        kept = {sql: _BYTES_MATCHED if sql in matched else _BYTES_KEPT for sql in by_text}
        values = {sql: _cut(column.take(rows), kept[sql]) for sql, column in by_text.items()}
        return Draw(numbers[order], pa.table(values))


def _newest(parts: Iterable[Newest]) -> Newest:
    found: dict[tuple[str, int], int] = {}
    for part in parts:
        for place, newest in part.items():
            found[place] = max(newest, found.get(place, newest))
    return found


def _sum(first: Mapping[int, int], second: Mapping[int, int]) -> Mapping[int, int]:
    return Counter(first) + Counter(second) if first and second else first or second


def _union(draws: Sequence[Draw], tuples: int) -> Draw:
    numbers = np.concatenate([draw.numbers for draw in draws])
    order = np.argsort(numbers, kind="stable")[:tuples]
    return Draw(numbers[order], pa.concat_tables([draw.values for draw in draws]).take(pa.array(order)))


def _cut(values: Any, most: int) -> Any:
    """Return strings and binaries cut to their first ``most`` bytes. The cut may be inside a character."""
    if pa.types.is_string(values.type):
        return pc.binary_slice(values.view(pa.binary()), 0, most).view(pa.string())
    return pc.binary_slice(values, 0, most) if pa.types.is_binary(values.type) else values
