"""The streaming job of one stream. It reads records from Kafka, decodes and matches them, and writes the results to
Kafka, with one Spark action for each batch.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from broker.batch_failure import ShortFailing
from broker.config.config import Config
from broker.errors import BrokerError, FoldError, SchemaRegistryError
from broker.failure import is_of_dead_worker, one_line, root_cause, text_of
from broker.formats.decoder import Decoder
from broker.kafka.cluster import KafkaCluster
from broker.monitoring.stream_monitor import StreamMonitor
from broker.operators.feed_destination import FeedDestination
from broker.operators.plan_expressions import expressions_of
from broker.plans.binding import write_durably
from broker.plans.offsets import Offsets
from broker.plans.running_plan import BoundBatch, RunningPlan
from broker.stream.batch_runner import BatchRunner
from broker.stream.diagnosis.batch_diagnosis import BatchDiagnosis
from broker.stream.diagnosis.diagnosis_result import DiagnosisResult
from broker.stream.fold_commits import FoldCommits
from broker.stream.metrics.dead_letters import DeadLetters
from broker.stream.metrics.evaluation_errors import EvaluationErrors
from broker.stream.metrics.event_time import EventTime
from broker.stream.metrics.phases import BatchPhases
from broker.stream.metrics.stream_stats import StreamStats
from broker.stream.source_topic import SourceTopic
from broker.stream.spark_progress import SparkProgress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from broker.matching.tally import Tally

LOG = logging.getLogger("asc.job")

CONSUMER = {
    "kafka.max.poll.records": "5000",
    "kafka.max.partition.fetch.bytes": str(2 << 20),
    "kafka.fetch.max.wait.ms": "10",
}
"""Options of the Kafka consumer, unless ``kafka.options`` sets other values.

With the first two options, the consumer reads a backlog in fewer requests than with Kafka's defaults. The third option
saves a batch that reads to the end of a topic a wait of .5 s. After the last records, the consumer sends a further
fetch request, and Spark asks for the topic's offsets over the same connection. Kafka answers in order: first the fetch
request, which waits up to this time for new records.
"""

_BACKOFF_S = (1, 2, 5, 10, 20)
_STOP_S = 15.0
"""The time in seconds that a running batch may take after a stop was requested. The daemon promises to stop in 20 s."""

_LONG_S = 60.0
"""The duration in seconds after which a running batch is logged, because the stream delivers nothing meanwhile."""

_DISK_FULL = os.strerror(errno.ENOSPC)

_EARLIEST = -2
"""Spark's offset for the earliest record."""

_LOOK_S = 0.25
_IDLE_S = 0.5
"""The time in seconds after which a streaming query that waits for data counts as healthy. A trigger interval is added
to this time.
"""


_AGAIN = 10
"""The pause before a slow batch is searched for slow expressions again, as a multiple of
``spark.expression_timeout_s``.
"""


class _StoppingError(Exception):
    """The error of a batch that begins while the job stops: the batch is neither bound nor committed."""


class StreamJob:
    """The job of one stream. After a failure, the job is restarted after a pause, until a stop is requested.

    Each batch runs with the plan that it is bound to (:class:`RunningPlan`), even if the running plan is replaced
    meanwhile. The parts that depend only on the plan are built once for all its batches.
    """

    def __init__(
        self,
        name: str,
        config: Config,
        folder: Path,
        *,
        spark: SparkSession,
        cluster: KafkaCluster,
        decoder: Decoder,
        starting: Offsets,
        running: RunningPlan,
        monitor: StreamMonitor,
        evaluation_errors: EvaluationErrors,
        dead_letters: DeadLetters,
        figures: StreamStats,
        phases: BatchPhases,
        event_time: EventTime,
        folds: FoldCommits,
        fed: Callable[[Sequence[FeedDestination]], None] = lambda found: None,
    ) -> None:
        """Create the job without starting it. ``fed``: see :class:`BatchRunner`."""
        self.name = name
        self._config = config
        self._stream = config.streams[name]
        self._folder = folder
        self._spark = spark
        self._cluster = cluster
        self._starting = starting
        self._running = running
        self._monitor = monitor
        self._evaluation_errors = evaluation_errors
        self._dead_letters = dead_letters
        self._figures = figures
        self._phases = phases
        self._runner = BatchRunner(
            *(name, config),
            spark=spark,
            cluster=cluster,
            decoder=decoder,
            monitor=monitor,
            phases=self._phases,
            event_time=event_time,
            folds=folds,
            check_folder=running.check_folder,
            fed=fed,
        )
        self._batch_lock = threading.Lock()
        self._stopping = threading.Event()
        self._stop_by = 0.0
        self._query: StreamingQuery | None = None
        self._supervisor = threading.Thread(target=self._supervise, name=f"job-{name}", daemon=True)
        self._error: BaseException | None = None
        self._progress = SparkProgress()
        self._batches_done = 0
        self._done_batch_id = -1
        self._batch_began_s: float | None = None
        self._looked = -float("inf")
        self._source = SourceTopic(self._stream, folder, cluster)
        self._diagnosis = BatchDiagnosis(name, config, cluster, decoder, running)
        self.failures = 0
        """The number of times that the job ended with an error and was restarted."""
        self.finding: DiagnosisResult | None = None
        """The finding for which queries must be parked before the job can continue; None if there is none."""
        self.problem: str | None = "is starting"
        """The reason why the job does not run, in one line; None if it runs."""

    def start(self) -> None:
        """Start the streaming query, and return when it runs. Raise the error of the first start; later failures are
        retried.

        If a batch must be diagnosed first, return at once: a thread diagnoses the batch, and then starts the query.
        """
        if self._source.fault() is None and self._diagnosis.due() is None:
            self._start_query()
        self._supervisor.start()

    def warm_up(self, seconds: float) -> None:
        """Run batches of generated records for ``seconds``, at least one batch, before the streaming query is started.

        Run no batch if the last start of the daemon ended during the warm-up, or if a batch of the source was started
        in vain. In these cases an expression may have ended the process. A warm-up could end this process too, before
        the diagnosis of the source's batches finds the expression.
        """
        from broker.runtime.spark import has_stopped

        marker = self._folder / "warming-up"
        if marker.exists() or self._diagnosis.due() is not None:
            LOG.warning("stream '%s': starts cold, for the last start ended while it was warmed up", self.name)
            marker.unlink(missing_ok=True)
            return
        write_durably(marker, "")
        try:
            self._runner.warm_up(self._running.plan, seconds, self._stopping)
        except Exception as error:  # a fault of the plan shows in the batch that fails of it
            LOG.warning("stream '%s': its first batch will take longer: %s", self.name, one_line(root_cause(error)))
            if has_stopped(self._spark):
                return
        marker.unlink(missing_ok=True)

    def go_on(self, finding: DiagnosisResult) -> None:
        """Forget a finding after no plan contains its queries."""
        if self.finding is finding:
            self.finding = None

    @property
    def waits_for(self) -> str | None:
        """Return the cause for which the running batch waits, in one line. Return None if it does not wait."""
        return self._runner.waits_for

    def ask_to_stop(self) -> None:
        """Request a stop: no further batch begins."""
        if not self._stopping.is_set():
            self._stop_by = time.monotonic() + _STOP_S
            self._stopping.set()

    def stop(self) -> None:
        """Wait until the running batch is committed, then stop. A batch that takes too long is left for a replay."""
        self.ask_to_stop()
        if self._batch_lock.acquire(timeout=max(0.0, self._stop_by - time.monotonic())):
            self._batch_lock.release()
            self._await_commit(time.monotonic() + 3)
        else:
            LOG.warning(
                "stream '%s': the running batch did not end in %.0f s and will be run again", self.name, _STOP_S
            )
        if self._query is not None:
            try:
                self._query.stop()
            except Exception as error:
                LOG.warning("stream '%s': Spark did not stop its query: %s", self.name, one_line(error))
        if self._supervisor.is_alive():
            self._supervisor.join(timeout=3)
        self._runner.close()

    # -- the query and its supervision

    def _start_query(self) -> None:
        # Spark needs a starting offset for each partition. A partition that was added later is read from its first
        # record.
        starting = {**dict.fromkeys(self._cluster.partitions(self._stream.topic), _EARLIEST), **self._starting}
        source = (
            self._spark.readStream.format("kafka")
            .options(**CONSUMER | self._cluster.client.spark_options())
            .option("subscribe", self._stream.topic)
            .option("startingOffsets", json.dumps({self._stream.topic: {str(p): o for p, o in starting.items()}}))
            .option("maxOffsetsPerTrigger", self._config.spark.max_records_per_batch)
            .option("includeHeaders", "true")
            # Records of transactions that were aborted never were.
            .option("kafka.isolation.level", "read_committed")
            .load()
        )
        self._query = (
            source.writeStream.queryName(f"asc-{self.name}")
            .foreachBatch(ShortFailing(self.name, self._run_batch))
            .option("checkpointLocation", str(self._folder / "spark"))
            .trigger(processingTime=f"{self._config.spark.trigger_interval_ms} milliseconds")
            .start()
        )

    def _supervise(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            done = self._batches_done
            try:
                if self._query is None:
                    self._begin()
                self._watch()
            except Exception as error:
                if self._stopping.is_set():
                    return
                finding = self._diagnosis.of_failure(self._error)
                if finding is not None:
                    self._query, self._error = None, None
                    self._runner.forget_topics()
                    self._have_parked(finding)
                    continue
                # Only a completed batch ends a series of failures, not the time since the last failure.
                failures = 0 if self._batches_done > done else failures
                pause = _BACKOFF_S[min(failures, len(_BACKOFF_S) - 1)]
                failures += 1
                self.failures += 1
                self.problem = f"stopped and is started again every {pause} s: {self._cause(error)}"
                LOG.error("stream '%s' %s", self.name, self.problem)
                self._query, self._error = None, None
                self._runner.forget_topics()
                self._stopping.wait(pause)

    def _begin(self) -> None:
        from broker.runtime.spark import has_stopped

        if has_stopped(self._spark):
            # This error ends the daemon. The next daemon searches for the cause of the batch's failure.
            raise BrokerError("Spark", "its context", "has stopped: start the daemon again")
        fault = self._source.fault()
        if fault is not None:
            raise BrokerError("source topic", self._stream.topic, fault)
        self._look_into_batch()
        if not self._stopping.is_set():
            self._start_query()

    def _watch(self) -> None:
        query = self._query
        assert query is not None
        idle_since: float | None = None
        wanted_s = _IDLE_S + self._config.spark.trigger_interval_ms / 1000
        while not self._stopping.is_set():
            ended = query.awaitTermination(_LOOK_S)  # type: ignore[arg-type]  # takes parts of a second
            if ended and not self._stopping.is_set():
                raise BrokerError("streaming query", self.name, "was stopped from outside")
            if self._is_overdue():
                self._look_into_slow_batch(query)
            self._log_long_batch()
            for done in self._progress.new(query, self._done_batch_id):
                self._phases.count_spark(done.batch_id, done.began_s, done.durations_ms)
            # A restarted job is healthy again when it has completed a batch, or has waited for records for some time.
            if self.problem is not None:
                now = time.monotonic()
                if query.status["message"] != "Waiting for data to arrive":
                    idle_since = None
                elif idle_since is None:
                    idle_since = now
                elif now - idle_since >= wanted_s:
                    self.problem = None

    def _cause(self, error: BaseException) -> str:
        # If a task met the error, Spark wraps its own error, whose cause in Kafka's client says less.
        said = self._source.lost(f"{text_of(self._error)}\n{text_of(error)}")
        if said is not None:
            return said
        text = one_line(root_cause(self._error or error), 2_000)
        text = text.rpartition("terminated with exception: ")[2][:300]
        if _DISK_FULL in text:
            # Spark's error does not say which file was written. Spark writes to these two folders.
            folders = f"'{self._folder}' or Spark's temporary folder '{tempfile.gettempdir()}'"
            text = f"{text}: free space in {folders}"
        return text

    # -- what it cannot go on with

    def _look_into_batch(self) -> None:
        """Find the expressions that end a batch that was started in vain, and have their queries parked."""
        batch = self._diagnosis.due()
        if batch is None:
            return
        self.problem = f"looks for the expression that ended batch {batch.batch_id} {batch.start_count} times"
        LOG.warning("stream '%s' %s", self.name, self.problem)
        finding = self._diagnosis.of_batch(batch, lambda: not self._stopping.is_set())
        if finding is not None:
            self._have_parked(finding)
            if self.finding is None:
                self._running.excuse(batch.start_count)

    def _is_overdue(self) -> bool:
        began_s, limit_s, now = self._batch_began_s, self._config.spark.expression_timeout_s, time.monotonic()
        if (
            self.waits_for is not None
            or began_s is None
            or now - began_s <= limit_s
            or now - self._looked <= _AGAIN * limit_s
        ):
            return False
        return any(attribute.is_computed for attribute in expressions_of(self._running.plan))

    def _log_long_batch(self) -> None:
        """Log a batch that has been running for too long.

        A stopped worker that Spark waits for, or a destination that accepts no records, raises no error.
        """
        began_s = self._batch_began_s
        if began_s is None or self.problem is not None or self.waits_for is not None:
            return
        if time.monotonic() - began_s > _LONG_S:
            self.problem = f"runs one batch for more than {_LONG_S:.0f} s, and delivers nothing until that is done"
            LOG.warning("stream '%s' %s", self.name, self.problem)

    def _look_into_slow_batch(self, query: StreamingQuery) -> None:
        """Find the expressions that make the running batch slow, and have their queries parked.

        Raise BrokerError if the batch had to be stopped for this.
        """
        from broker.runtime.spark import running_tasks

        began_s = self._batch_began_s
        self.problem = "looks for the expression that its batch takes so long for"
        LOG.warning("stream '%s' %s", self.name, self.problem)
        finding = self._diagnosis.of_slow(lambda: not self._stopping.is_set())
        if finding is None:
            self._looked = time.monotonic()
            self.problem = None
            return
        self._have_parked(finding)
        if self.finding is not None or self._batch_began_s != began_s:
            return
        # This start does not count as a failure of the batch, which runs again without the parked queries.
        self._running.excuse()
        tasks = running_tasks(self._spark)
        query.stop()
        give_up = time.monotonic() + _STOP_S
        while tasks & running_tasks(self._spark):
            if time.monotonic() > give_up:
                # A computation without an end cannot be cancelled, and keeps a core until the process ends.
                LOG.error("stream '%s': a task of its batch does not stop, and Spark is ended", self.name)
                self._spark.stop()
                break
            time.sleep(_LOOK_S)
        raise BrokerError("batch", "that took too long", "was stopped, and is run again without what was parked")

    def _have_parked(self, finding: DiagnosisResult) -> None:
        """Publish a finding, and wait until no plan contains the queries that use it."""
        self.problem = "waits for queries to be parked"
        self.finding = finding
        while self.finding is not None and not self._stopping.wait(_LOOK_S):
            pass

    # -- one batch

    def _run_batch(self, records: DataFrame, batch_id: int) -> None:
        with self._batch_lock:
            if self._stopping.is_set():
                raise _StoppingError(f"stream '{self.name}' stops before batch {batch_id}")
            self._batch_began_s = time.monotonic()
            try:
                with self._phases.timed("bind"):
                    batch = self._running.bind(batch_id)
                tally = self._run_bound(batch_id, records, batch)
                self._report(batch_id, batch, tally)
            except SchemaRegistryError:
                # The stream was stopped before the batch was read, so this start does not count as a failure.
                self._running.excuse()
                raise
            except BaseException as error:
                if isinstance(error, FoldError):
                    # Expressions are not the cause, because the batch was computed and written.
                    self._running.excuse()
                self._error = error
                raise
            finally:
                self._batch_began_s = None
            self._error = self.problem = None
            self._batches_done += 1
            self._done_batch_id = batch_id

    def _run_bound(self, batch_id: int, records: DataFrame, batch: BoundBatch) -> Tally | None:
        """Run a batch. If a Python worker dies in it, run the batch once more at once.

        A worker dies of a signal, or of lack of memory, more often than of an expression. A second death counts against
        the batch as any failure does.
        """
        try:
            return self._runner.run(batch_id, records, batch, self._stopping)
        except Exception as error:
            if self._stopping.is_set() or not is_of_dead_worker(error):
                raise
            cause = one_line(root_cause(error))
            LOG.warning("stream '%s': batch %d is run again at once: %s", self.name, batch_id, cause)
        return self._runner.run(batch_id, records, batch, self._stopping)

    def _report(self, batch_id: int, batch: BoundBatch, tally: Tally | None) -> None:
        """Pass on the counts of a batch. Its matches are already written, so an error here must not cause a replay."""
        # A batch may have no records, because transaction markers have offsets too.
        self._figures.lag.done = self._running.effective_offsets()
        if tally is None:
            return
        try:
            if tally.tuples:
                self._phases.count(
                    batch_id,
                    plan_version=batch.plan.version,
                    records=tally.tuples,
                    accepted=tally.accepted,
                    written=tally.written,
                    dead_letters=sum(tally.dead_letters.values()),
                )
            self._dead_letters.count(tally.dead_letters)
            self._evaluation_errors.count(batch.plan.version, tally.error_counts(batch.plan))
            self._figures.count(batch.plan, tally)
            # A plan of a replay has other sequences, so its counts say nothing about the current sequences.
            if not batch.is_replay:
                self._monitor.offer(batch.plan, tally)
        except Exception as error:
            LOG.exception("stream '%s': what a batch told is lost: %s", self.name, one_line(error))

    def _await_commit(self, deadline: float) -> None:
        while not self._running.is_settled and self.problem is None and time.monotonic() < deadline:
            time.sleep(0.02)
