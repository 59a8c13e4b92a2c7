"""The driver's part of the handoff ``fold``. It begins the attempts of batches, and commits the partial states that the
tasks of an attempt produce.
"""

from __future__ import annotations

import logging
import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from asc.keys.attribute import PAttribute
from asc.plan.plan import Plan
from broker.config.config import Config
from broker.errors import FoldError
from broker.failure import one_line
from broker.operators.fold_destination import FoldDestination, folds_in
from broker.operators.folder import FoldBatch, Folder
from broker.operators.kinds import fold_kinds
from broker.plans.running_plan import BoundBatch
from broker.stream.diagnosis.fold_parks import FoldParks
from broker.stream.prepared_frame import partitions_of
from broker.stream.source_topic_id import SourceTopicId

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from broker.matching.fold_task import Folding, FoldPartial, TaskPartials

LOG = logging.getLogger("asc.job")

_NAMED_COUNT = 5
"""The largest number of missing partitions that an error names."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of a batch or of the warm-up: a nonce that identifies the run, and the number of its tasks."""

    nonce: str
    tasks: int


@dataclass(frozen=True, slots=True, eq=False)
class _Planned:
    """The folded queries of a plan by id, and the data that workers need to fold their records.

    ``refused``: the queries that workers cannot fold, with the reasons.
    """

    plan: Plan
    queries: Mapping[str, FoldDestination]
    folding: Folding | None
    refused: Mapping[str, str]


class FoldCommits:
    """The commits of a stream's batches into the states of the operator kinds with the handoff ``fold``.

    Invariant: a commit of a batch contains the results of exactly one attempt of each of its tasks. A missing task or a
    failed commit fails the batch. A query whose state failed is in no commit from that batch on, and is reported to
    ``parks`` until it is parked. A stream without folded queries has no attempts. Only one batch of the job, or warm-up
    batch, runs at a time.
    """

    def __init__(
        self,
        stream: str,
        config: Config,
        folders: Mapping[str, Folder],
        parks: FoldParks,
        *,
        topic_id: SourceTopicId,
        check_folder: Callable[[], None],
    ) -> None:
        """Create the commits. ``folders``: the owner of the states of each kind, by the kind's tag.

        ``check_folder`` raises BrokerError if another daemon has taken over the stream's folder.
        """
        self._stream = stream
        self._config = config
        self._folders = folders
        self._parks = parks
        self._topic_id = topic_id
        self._check_folder = check_folder
        self._accumulator: Any = None
        self._planned: _Planned | None = None
        self._failed: dict[str, tuple[str, str]] = {}

    def forget_topic(self) -> None:
        """Forget the cached id of the source topic after a failure, because the topic may have been deleted and created
        again.
        """
        self._topic_id.forget()

    def folding(self, spark: SparkSession, plan: Plan) -> Folding | None:
        """Return the folding that workers need for a plan. Return None if no query of the plan is folded."""
        planned = self._planned
        if planned is None or planned.plan is not plan:
            queries = {own.id: own for own in folds_in(plan)}
            refused: dict[str, str] = {}
            folding = self._made(spark, queries, refused) if queries else None
            self._planned = planned = _Planned(plan, queries, folding, refused)
        return planned.folding

    def begin(self, spark: SparkSession, outgoing: DataFrame) -> Attempt:
        """Begin the attempt that writes a DataFrame, and return it. The caller writes the DataFrame afterwards on this
        thread, whose Spark jobs carry the attempt's nonce.
        """
        from broker.matching.fold_task import PROPERTY

        attempt = Attempt(uuid.uuid4().hex, partitions_of(outgoing))
        self._accumulator.value = {}
        spark.sparkContext.setLocalProperty(PROPERTY, f"{attempt.nonce} {attempt.tasks}")
        return attempt

    def commit(self, batch_id: int, batch: BoundBatch, attempt: Attempt, waiting: frozenset[int]) -> None:
        """Commit the partial states of an attempt's tasks, after the batch is written.

        Raise FoldError to fail the batch. Raise BrokerError if another daemon has the states now.
        """
        # A daemon that was suspended during the write is replaced: it no longer owns the states and outputs.
        self._check_folder()
        planned = self._planned
        assert planned is not None
        assert planned.plan is batch.plan
        assert planned.folding is not None
        parts = self._handed_over(batch_id, attempt)
        newest = _newest_of(parts)
        failed = self._failures(planned, parts)
        merged, failed = _merged(planned.folding, parts, failed)
        for op, folder in self._folders.items():
            op_queries = {name: query for name, query in planned.queries.items() if query.op == op}
            if op_queries:
                fold_batch = FoldBatch(
                    *(batch_id, batch.plan.version, self._topic_id.read(), batch.first, batch.end, waiting, op_queries),
                    partials={name: partial for name, partial in merged.items() if name in op_queries},
                    failed={name: reason for name, reason in failed.items() if name in op_queries},
                    newest_us={query.time: newest[query.time] for query in op_queries.values() if query.time in newest},
                )
                failed = {**failed, **self._committed(folder, fold_batch)}
        self._note(failed, planned, batch.plan.version)

    def collected(
        self, attempt: Attempt, plan: Plan
    ) -> tuple[Mapping[str, FoldPartial], Mapping[str, str], Mapping[str, Mapping[int, int]]]:
        """Return the merged states of an attempt that is no batch of the job. Also return the reasons of the queries
        that failed, and the newest times, by the SQL of the time and the partition.

        ``plan``: the plan of the last call of :meth:`folding`. Raise FoldError if the states of a task are missing.
        """
        planned = self._planned
        assert planned is not None
        assert planned.plan is plan
        assert planned.folding is not None
        parts = self._handed_over(-1, attempt)
        failed = {name: reason for part in reversed(parts) for name, reason in part.failed.items()}
        merged, failed = _merged(planned.folding, parts, {**failed, **planned.refused})
        return merged, failed, _newest_of(parts)

    def check_folder(self) -> None:
        """Raise BrokerError if another daemon has the states now."""
        self._check_folder()

    def park(self, reasons: Mapping[str, str], version: int) -> None:
        """Report failed queries by id, with the reasons, to be parked: those whose failure no batch reports, as in a
        backfill. ``version``: the version of the running plan.
        """
        self._log(reasons)
        self._parks.add(_parking_reasons(reasons), version)

    def write_left(self, version: int) -> None:
        """Write the remaining outputs of the last batch, when no further batch comes.

        ``version``: the version of the running plan. Another thread than the job's may call this method. Raise
        BrokerError if the outputs cannot be written now, or if another daemon has the states.
        """
        self._check_folder()
        for folder in self._folders.values():
            self.park(folder.write_left(), version)

    def close(self) -> None:
        """Close all folders. Call it only when no batch runs."""
        for folder in self._folders.values():
            folder.close()

    def _made(self, spark: SparkSession, queries: Mapping[str, FoldDestination], refused: dict[str, str]) -> Folding:
        """Return the folding of queries. Queries whose definition cannot be prepared are added to ``refused``."""
        from broker.matching.fold_task import Folding, FoldQuery, fold_accumulator

        if self._accumulator is None:
            self._accumulator = fold_accumulator(spark.sparkContext)
        carried: dict[PAttribute, int] = {}
        times: dict[str, int] = {}
        columns: dict[str, dict[str, int]] = {}
        for query in queries.values():
            for attribute in query.attributes:
                carried.setdefault(attribute, len(carried))
            times[query.time] = carried[query.attributes[0]]
            places = {column.name: carried[column.attribute] for column in query.columns}
            columns.setdefault(query.op, {}).update(places)
        kinds = fold_kinds()
        limits = {op: kinds[op].partial_limit for op in columns}
        folds = {op: kinds[op].fold() for op in columns}
        prepared: dict[str, FoldQuery] = {}
        for name, own in queries.items():
            try:
                prepared[name] = FoldQuery(own.op, own.time, folds[own.op].prepare(own.definition))
            except Exception as error:
                refused[name] = f"its definition is refused: {one_line(error)}"
        return Folding(
            self._accumulator,
            folds=folds,
            queries=prepared,
            carried=tuple(carried),
            times=times,
            columns=columns,
            future_us=round(self._config.streams[self._stream].max_future_s * 1_000_000),
            bytes_max={op: getattr(self._config.limits, limit) for op, limit in limits.items()},
            limits=limits,
        )

    def _handed_over(self, batch_id: int, attempt: Attempt) -> Sequence[TaskPartials]:
        """Return the partial states of each task of an attempt, in the order of partitions.

        Raise FoldError if any is missing.
        """
        from broker.matching.fold_task import TaskPartials

        handed_over = dict(self._accumulator.value)
        self._accumulator.value = {}
        content_by_partition = {
            partition: content for (nonce, partition), content in handed_over.items() if nonce == attempt.nonce
        }
        missing = sorted(set(range(attempt.tasks)) - content_by_partition.keys())
        if missing:
            named = ", ".join(map(str, missing[:_NAMED_COUNT])) + (", ..." if len(missing) > _NAMED_COUNT else "")
            lost = f"has no states of {len(missing)} of its {attempt.tasks} tasks (partition {named})"
            raise FoldError("batch", batch_id, f"{lost}: it is run again")
        return [TaskPartials.of_bytes(content_by_partition[partition]) for partition in range(attempt.tasks)]

    def _failures(self, planned: _Planned, parts: Sequence[TaskPartials]) -> dict[str, str]:
        """Return the queries of a plan that failed in this batch or in an earlier one, with the reasons."""
        own = {name: query.in_plan().definition for name, query in planned.queries.items()}
        finding = self._parks.finding
        # A query that was parked and is served again was registered anew.
        pending = {} if finding is None else finding.queries
        self._failed = {
            name: known for name, known in self._failed.items() if name in pending and own.get(name) == known[0]
        }
        found = {name: reason for part in reversed(parts) for name, reason in part.failed.items()}
        return {**found, **planned.refused, **{name: reason for name, (_, reason) in self._failed.items()}}

    def _committed(self, folder: Folder, batch: FoldBatch) -> Mapping[str, str]:
        try:
            return folder.commit(batch)
        except Exception as error:
            remedy = f"could not be committed, and is run again: {one_line(error)}"
            raise FoldError("states of batch", batch.batch_id, remedy) from error

    def _note(self, failed: Mapping[str, str], planned: _Planned, version: int) -> None:
        new = {name: reason for name, reason in failed.items() if name not in self._failed}
        self._log(new)
        for name, reason in new.items():
            self._failed[name] = (planned.queries[name].in_plan().definition, reason)
        self._parks.report(_parking_reasons(failed), version)

    def _log(self, failed: Mapping[str, str]) -> None:
        """Log queries that failed, except for a reason that is reported already and for which they wait to be
        parked.
        """
        finding = self._parks.finding
        pending = {} if finding is None else finding.queries
        parking_reasons = _parking_reasons(failed)
        for name, reason in failed.items():
            if pending.get(name) != parking_reasons[name]:
                LOG.error("stream '%s': query '%s' is parked: %s", self._stream, name, reason)


def _parking_reasons(failed: Mapping[str, str]) -> dict[str, str]:
    """Return failures as the reasons with which queries are parked."""
    remedy = "change it, or register it anew to try again"
    return {name: f"is parked, for {reason}: {remedy}" for name, reason in failed.items()}


def _newest_of(parts: Sequence[TaskPartials]) -> Mapping[str, dict[int, int]]:
    found: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for part in parts:
        for (time, partition), time_us in part.newest.items():
            found[time][partition] = max(time_us, found[time].get(partition, time_us))
    return dict(found)


def _merged(
    folding: Folding, parts: Sequence[TaskPartials], failed: Mapping[str, str]
) -> tuple[dict[str, FoldPartial], dict[str, str]]:
    """Return the merged states of the queries that did not fail, and the reasons of all queries that failed."""
    from broker.matching.fold_task import FoldCounts, FoldPartial

    partials: dict[str, FoldPartial] = {}
    failures = dict(failed)
    for name, query in folding.queries.items():
        task_partials = [part.partials[name] for part in parts if name in part.partials]
        if not task_partials or name in failures:
            continue
        try:
            states = [partial.state for partial in task_partials]
            state = states[0] if len(states) == 1 else folding.folds[query.op].merge(query.prepared, states)
        except Exception as error:
            failures[name] = f"its states cannot be merged: {one_line(error)}"
            continue
        counts = FoldCounts()
        for partial in task_partials:
            counts = counts.plus(partial.counts)
        partials[name] = FoldPartial(state, counts)
    return partials, failures
