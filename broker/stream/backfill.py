"""The backfill of a stream: a thread that reads past records once more, for states that lack them."""

from __future__ import annotations

import json
import logging
import threading
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from asc.plan.compiler import part_of
from asc.plan.plan import Plan
from broker.config.config import Config
from broker.errors import BrokerError
from broker.failure import one_line, root_cause
from broker.formats.decoder import Decoder
from broker.kafka.cluster import KafkaCluster
from broker.operators.backfill import BackfillBatch, BackfilledFolder, SourceOffsets
from broker.operators.fold_destination import folds_in
from broker.operators.folder import FoldBatch, Folder
from broker.plans.offsets import Offsets
from broker.plans.running_plan import RunningPlan
from broker.stream.fold_commits import FoldCommits
from broker.stream.prepared_frame import PreparedFrame
from broker.stream.source_topic_id import SourceTopicId

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from broker.matching.shipped_plan import ShippedPlan

LOG = logging.getLogger("asc.backfill")

_LOOK_S = 0.5
"""The seconds between two looks for states that lack records."""

_REST = 9
"""The pause before a backfill batch while live batches come, as a multiple of the duration of the last one.

A backfill batch and a live batch compete for the same cores. So even if a live batch did not advance at all beside a
backfill batch, the stream would keep nine tenths of its rate.
"""

_FIRST_S = 3.0
"""The assumed duration of the first backfill batch in seconds, so that a pause precedes it too."""

_IDLE_LOOKS = 4
"""The looks in a row that find the stream idle, after which a pause ends."""

_BACKOFF_S = (1, 2, 5, 10, 30, 60)
_STOPPED_S = 4.0
"""The seconds that a stop waits for the running backfill batch, which it cancels."""


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    """A batch's queries as Spark runs them: the plan of these queries alone, and the frame over the records."""

    batch: BackfillBatch
    plan: Plan
    decoder: Decoder
    shipped: ShippedPlan
    prepared: PreparedFrame


class Backfill:
    """The backfill of one stream, one batch at a time, beside the live batches.

    A batch has the same decoder, predicates and folding as a live batch, but writes no records. It reads only offsets
    before the live batches, and the folder commits them by offsets. So a record is counted once, whoever reads it
    first. The folder's coverage is the progress, so that a start continues a backfill without another state.

    Cost: while live batches come, a tenth of the time of the cores that read the batch.
    """

    def __init__(
        self,
        name: str,
        config: Config,
        *,
        spark: SparkSession,
        cluster: KafkaCluster,
        decoder: Decoder,
        running: RunningPlan,
        folders: Mapping[str, Folder],
        folds: FoldCommits,
        topic_id: SourceTopicId,
        options: Mapping[str, str],
    ) -> None:
        """Create the backfill without starting it.

        ``folds`` collects the states of backfill batches only. ``options``: those of Spark's Kafka source.
        """
        self.name = name
        self._topic = config.streams[name].topic
        self._spark = spark
        self._cluster = cluster
        self._decoder = decoder
        self._running = running
        self._folders = [own for own in folders.values() if isinstance(own, BackfilledFolder)]
        self._folds = folds
        self._topic_id = topic_id
        self._options = options
        self._begins: tuple[str, Offsets] = ("", {})
        self._took_s = _FIRST_S
        self._read_to: Offsets | None = None
        self._made: _Made | None = None
        self._group = f"asc-backfill-{name}-{uuid.uuid4().hex}"
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._keep_on, name=f"backfill-{name}", daemon=True)
        self.problem: str | None = None
        """The reason why the last batch failed, in one line; None if it did not fail."""

    def start(self) -> None:
        """Start the thread, and return at once."""
        if self._folders:
            self._thread.start()

    def ask_to_stop(self) -> None:
        """Request a stop: no further batch begins, and the running batch is cancelled. Nothing of it is committed."""
        if not self._stopping.is_set():
            self._stopping.set()
            self._cancel()

    def stop(self) -> None:
        """Wait until the thread has ended."""
        self.ask_to_stop()
        end_s = time.monotonic() + _STOPPED_S
        while self._thread.is_alive() and time.monotonic() < end_s:
            self._thread.join(timeout=_LOOK_S)
            # A job that was submitted just after the first request is cancelled as well.
            self._cancel()

    def source(self, begins: Offsets | None = None) -> SourceOffsets:
        """Return the offsets that a backfill can read now. ``begins``: the first offsets that Kafka has; by default
        those that were last asked for. Raise KafkaError.
        """
        # Read first: a batch that is bound after this has the running plan.
        is_settled = self._running.is_settled
        topic_id, ends = self._topic_id.read(), self._running.done_offsets()
        if begins is None:
            begins = self._begins[1] if self._begins[0] == topic_id else {}
        return SourceOffsets(topic_id, ends, begins, is_settled)

    def _release(self) -> None:
        """Release the plan in the workers. Call it only when no batch of the backfill runs."""
        made, self._made = self._made, None
        if made is not None:
            # If Spark has stopped, nothing is left to be released.
            with suppress(Exception):
                made.shipped.release()

    def _cancel(self) -> None:
        # If Spark has stopped, its jobs have ended with it.
        with suppress(Exception):
            self._spark.sparkContext.cancelJobGroup(self._group)

    # -- the thread

    def _keep_on(self) -> None:
        failures, pause_s = 0, _LOOK_S
        while not self._stopping.wait(pause_s):
            pause_s = _LOOK_S
            try:
                if self._step():
                    pause_s = 0
                else:
                    self._release()
                failures, self.problem = 0, None
            except Exception as error:
                if self._stopping.is_set():
                    return
                pause_s = _BACKOFF_S[min(failures, len(_BACKOFF_S) - 1)]
                failures += 1
                self.problem = f"failed, and is tried again in {pause_s} s: {one_line(root_cause(error), 500)}"
                LOG.warning("stream '%s': its backfill %s", self.name, self.problem)
                self._release()

    def _step(self) -> bool:
        """Run one batch, of the first folder that lacks records. Return False if no folder lacks any."""
        batch = self._next()
        if batch is None:
            return False
        is_idle = self._is_alone()
        if not is_idle:
            is_idle = self._rest(_REST * self._took_s)
            # The queries may have changed meanwhile.
            batch = self._next()
        if batch is None or self._stopping.is_set():
            return False
        began_s, self._read_to = time.monotonic(), self._running.effective_offsets()
        self._run(*batch, is_idle=is_idle)
        self._took_s = time.monotonic() - began_s
        return True

    def _is_alone(self) -> bool:
        """Return whether no live batch came beside the last backfill batch, so that the next one need not wait."""
        return self._running.is_settled and self._running.effective_offsets() == self._read_to

    def _rest(self, seconds: float) -> bool:
        """Wait while live batches come, at most ``seconds``. Return whether the stream is idle."""
        end_s, read_to, idle = time.monotonic() + seconds, self._running.effective_offsets(), 0
        while idle < _IDLE_LOOKS and time.monotonic() < end_s:
            if self._stopping.wait(_LOOK_S):
                return False
            before, read_to = read_to, self._running.effective_offsets()
            idle = idle + 1 if self._running.is_settled and before == read_to else 0
        return idle >= _IDLE_LOOKS

    def _next(self) -> tuple[BackfilledFolder, BackfillBatch] | None:
        """Return the next batch of the first folder that lacks records, with the folder. Return None if none lacks
        any.
        """
        for folder in self._folders:
            if not folder.has_backfills or folder.next_backfill(self.source()) is None:
                continue
            # Kafka deletes records meanwhile, so its first offsets are asked for just before they are needed.
            self._begins = (self._topic_id.read(), self._cluster.offsets(self._topic, end=False))
            batch = folder.next_backfill(self.source())
            if batch is not None:
                return folder, batch
        return None

    def _run(self, folder: BackfilledFolder, batch: BackfillBatch, *, is_idle: bool) -> None:
        self._spark.sparkContext.setJobGroup(self._group, f"backfill of '{self.name}'", interruptOnCancel=True)
        plan = self._running.plan
        folded = FoldBatch(
            *(-1, plan.version, batch.source.topic_id),
            first={each: first for each, (first, _) in batch.intervals.items()},
            end={each: end for each, (_, end) in batch.intervals.items()},
            waiting=frozenset(),
            queries=batch.queries,
            partials={},
            failed={},
            newest_us={},
        )
        if batch.intervals:
            folded = self._folded(plan, batch, folded, is_idle=is_idle)
        if self._stopping.is_set():
            return
        # Another daemon may own the states by now.
        self._folds.check_folder()
        self._folds.park(folder.commit_backfill(batch, folded), plan.version)

    def _folded(self, plan: Plan, batch: BackfillBatch, folded: FoldBatch, *, is_idle: bool) -> FoldBatch:
        """Return a batch with the states that Spark's workers folded from its records."""
        if self._topic_id.read() != batch.source.topic_id:
            raise BrokerError("topic of stream", self.name, "was made again while it was read: it is read anew")
        records = self._records(batch, is_idle=is_idle)
        made = self._made_of(plan, batch, records)
        frame = made.prepared.over(records)
        attempt = self._folds.begin(self._spark, frame)
        frame.write.format("noop").mode("overwrite").save()
        partials, failed, newest = self._folds.collected(attempt, made.plan)
        own = {query.time: newest[query.time] for query in batch.queries.values() if query.time in newest}
        return replace(folded, partials=partials, failed=failed, newest_us=own)

    def _records(self, batch: BackfillBatch, *, is_idle: bool) -> DataFrame:
        # An idle stream leaves all cores to the backfill. Cells do not depend on the division into tasks.
        tasks = self._spark.sparkContext.defaultParallelism if is_idle else len(batch.intervals)

        def offsets(end: bool) -> str:
            return json.dumps({self._topic: {str(each): own[end] for each, own in batch.intervals.items()}})

        return (
            self._spark.read.format("kafka")
            .options(**self._options)
            .option("assign", json.dumps({self._topic: sorted(batch.intervals)}))
            .option("startingOffsets", offsets(False))
            .option("endingOffsets", offsets(True))
            .option("includeHeaders", "true")
            .option("minPartitions", max(tasks, len(batch.intervals)))
            .option("kafka.isolation.level", "read_committed")
            .load()
        )

    def _made_of(self, plan: Plan, batch: BackfillBatch, records: DataFrame) -> _Made:
        """Return the queries of a batch as Spark runs them. They are made anew if the queries differ from the last
        batch's, or if the records need other schemas.
        """
        from broker.matching.shipped_plan import ShippedPlan

        self._decoder = decoder = self._decoder.for_records(records)
        made = self._made
        if made is not None and made.decoder is decoder and _is_alike(batch, made.batch):
            return made
        part = part_of(plan, batch.queries)
        self._check_current(part, batch)
        folding = self._folds.folding(self._spark, part)
        shipped = ShippedPlan.of(decoder.decode(records), part, folding=folding)
        prepared = PreparedFrame.of(records, _frame_of(self._spark, decoder, shipped))
        if made is not None:
            made.shipped.release(shipped)
        self._made = made = _Made(batch, part, decoder, shipped, prepared)
        return made

    def _check_current(self, part: Plan, batch: BackfillBatch) -> None:
        """Raise BrokerError if the running plan has other definitions of the batch's queries than the folder."""
        known = {own.id: own.in_plan() for own in folds_in(part)}
        if any(known.get(name) != own.in_plan() for name, own in batch.queries.items()):
            raise BrokerError("queries of stream", self.name, "change just now: the backfill continues afterwards")


def _is_alike(batch: BackfillBatch, other: BackfillBatch) -> bool:
    return {name: own.in_plan() for name, own in batch.queries.items()} == {
        name: own.in_plan() for name, own in other.queries.items()
    }


def _frame_of(spark: SparkSession, decoder: Decoder, shipped: ShippedPlan) -> Any:
    """Return the function from Kafka's records to the frame whose evaluation folds them."""
    from broker.matching.dataframe import delivering
    from broker.matching.tally import Tallying, tally_accumulator
    from broker.operators.feed_projection import source_partition
    from broker.stream.pipeline import record_number

    # The tally is of no use here, but workers get the numbers of the records from it.
    tallying = Tallying(tally_accumulator(spark.sparkContext, 0), 0, None, counts_records=True)
    matching = delivering(spark, shipped, (), tallying, (source_partition(), record_number(decoder)))

    def frame(records: DataFrame) -> DataFrame:
        for columns in (*decoder.projections(), *matching):
            records = records.select(*columns)
        return records

    return frame
