"""The streaming job of one stream: Kafka in, decode, match, Kafka out, one action a batch."""

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

CONSUMER = {"kafka.max.poll.records": "5000", "kafka.max.partition.fetch.bytes": str(2 << 20)}
"""Options of the consumer, where ``kafka.options`` has no others.

For a backlog it asks less often than by Kafka's defaults.
"""

_BACKOFF_S = (1, 2, 5, 10, 20)
_STOP_S = 15.0
"""The time that a running batch may go on after a stop is asked for; the daemon promises 20 s in all."""

_LONG_S = 60.0
"""The duration of a batch after which it is logged: nothing of the stream is delivered meanwhile."""

_DISK_FULL = os.strerror(errno.ENOSPC)

_EARLIEST = -2
"""Spark's offset for the earliest record."""

_LOOK_S = 0.25
_IDLE_S = 0.5
"""The time, beyond a trigger's interval, that a query has to wait for data before it is taken to be well."""


_AGAIN = 10
"""The number of ``spark.expression_timeout_s`` until a slow batch is searched again, where nothing was found."""


class _StoppingError(Exception):
    """Raised inside a batch that begins while the job stops: it is neither bound nor committed."""


class StreamJob:
    """The job of one stream, started again with a pause after a failure until it is stopped.

    Each batch is run with the plan that it is bound to (:class:`RunningPlan`), whatever is put in place meanwhile. The
    parts that depend on the plan alone are made once for all batches that run with it. Source: spec, sections 2 and 3.
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
        """Create the job, without starting it. ``fed``: see :class:`BatchRunner`."""
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
        """The number of times the job ended with an error and was started again."""
        self.finding: DiagnosisResult | None = None
        """The finding that the job cannot go on with; None while there is none."""
        self.problem: str | None = "is starting"
        """The reason why the job does not run, in one line; None while it runs."""

    def start(self) -> None:
        """Start the query; returns once it runs. The first failure to start is raised, later ones are tried again.

        Where a batch is to be searched first, that is done beside, and the query started after it.
        """
        if self._source.fault() is None and self._diagnosis.due() is None:
            self._start_query()
        self._supervisor.start()

    def warm_up(self, seconds: float) -> None:
        """Run batches of made-up records for so long before the query is started, one batch at least.

        It runs none where the last start ended in it, or where a batch was started in vain. An expression may end this
        process then, and is found where it ends the batches of the source.
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
        """Forget a finding, now that it is in no plan any more."""
        if self.finding is finding:
            self.finding = None

    @property
    def waits_for(self) -> str | None:
        """Return the cause that the running batch waits for, in one line; None while it waits for nothing."""
        return self._runner.waits_for

    def ask_to_stop(self) -> None:
        """Begin no further batch."""
        if not self._stopping.is_set():
            self._stop_by = time.monotonic() + _STOP_S
            self._stopping.set()

    def stop(self) -> None:
        """Let the running batch end and be committed, then stop; a batch that takes too long is left to be replayed."""
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
        # Spark wants all partitions named; those that came since the stream's first start are read from their start.
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
                # However long it took to fail: only a batch that was done ends a row of failures.
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
            # The daemon ends of it. The next one finds the cause of the batch's end.
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
            self._tell_long_batch()
            for done in self._progress.new(query, self._done_batch_id):
                self._phases.count_spark(done.batch_id, done.began_s, done.durations_ms)
            # A job that was started again is well once it has done a batch, or found that there is none to do.
            if self.problem is not None:
                now = time.monotonic()
                if query.status["message"] != "Waiting for data to arrive":
                    idle_since = None
                elif idle_since is None:
                    idle_since = now
                elif now - idle_since >= wanted_s:
                    self.problem = None

    def _cause(self, error: BaseException) -> str:
        # Where tasks met it, Spark's own error is wrapped, and has a cause in Kafka's client that says less.
        said = self._source.lost(f"{text_of(self._error)}\n{text_of(error)}")
        if said is not None:
            return said
        text = one_line(root_cause(self._error or error), 2_000)
        text = text.rpartition("terminated with exception: ")[2][:300]
        if _DISK_FULL in text:
            # What Spark wrote is not said, and it writes to these two.
            folders = f"'{self._folder}' or Spark's temporary folder '{tempfile.gettempdir()}'"
            text = f"{text}: make room in {folders}"
        return text

    # -- what it cannot go on with

    def _look_into_batch(self) -> None:
        """Find the expressions that end a batch that was started in vain, and have their queries parked."""
        batch = self._diagnosis.due()
        if batch is None:
            return
        self.problem = f"looks for the expression that ended batch {batch.batch_id} {batch.times_begun} times"
        LOG.warning("stream '%s' %s", self.name, self.problem)
        finding = self._diagnosis.of_batch(batch, lambda: not self._stopping.is_set())
        if finding is not None:
            self._have_parked(finding)
            if self.finding is None:
                self._running.excuse(batch.times_begun)

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

    def _tell_long_batch(self) -> None:
        """Log a batch that runs for too long.

        A stopped worker that Spark waits for, or a destination that takes nothing, raises no error.
        """
        began_s = self._batch_began_s
        if began_s is None or self.problem is not None or self.waits_for is not None:
            return
        if time.monotonic() - began_s > _LONG_S:
            self.problem = f"runs one batch for more than {_LONG_S:.0f} s, and delivers nothing until that is done"
            LOG.warning("stream '%s' %s", self.name, self.problem)

    def _look_into_slow_batch(self, query: StreamingQuery) -> None:
        """Find the expressions that take the time of the running batch, and have their queries parked.

        BrokerError where the batch had to be stopped for it.
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
        # It is no fault of the batch, which is run again without the parked queries.
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
        """Wait until the queries that use the finding are in no plan."""
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
                self._tell(batch_id, batch, tally)
            except SchemaRegistryError:
                # The stream stops before the batch could be read.
                self._running.excuse()
                raise
            except BaseException as error:
                if isinstance(error, FoldError):
                    # No expression is to blame: it computed, and was written.
                    self._running.excuse()
                self._error = error
                raise
            finally:
                self._batch_began_s = None
            self._error = self.problem = None
            self._batches_done += 1
            self._done_batch_id = batch_id

    def _run_bound(self, batch_id: int, records: DataFrame, batch: BoundBatch) -> Tally | None:
        """Run a batch, and where a Python worker died in it or before, run it once more at once.

        A worker dies of a signal, or of the machine's memory, more often than of an expression. One that dies again
        counts against the batch, as any failure does.
        """
        try:
            return self._runner.run(batch_id, records, batch, self._stopping)
        except Exception as error:
            if self._stopping.is_set() or not is_of_dead_worker(error):
                raise
            cause = one_line(root_cause(error))
            LOG.warning("stream '%s': batch %d is run again at once: %s", self.name, batch_id, cause)
        return self._runner.run(batch_id, records, batch, self._stopping)

    def _tell(self, batch_id: int, batch: BoundBatch, tally: Tally | None) -> None:
        """Hand on the counts of a batch. Its matches are written: nothing here may have it run again."""
        # A batch may have no records: marks of transactions have offsets.
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
            # A plan made for a replay has sequences of its own, which say nothing of those in place.
            if not batch.is_replay:
                self._monitor.offer(batch.plan, tally)
        except Exception as error:
            LOG.exception("stream '%s': what a batch told is lost: %s", self.name, one_line(error))

    def _await_commit(self, deadline: float) -> None:
        while not self._running.is_settled and self.problem is None and time.monotonic() < deadline:
            time.sleep(0.02)
