"""A stream: its schema, the analyser of predicates, the running plan, the job and the monitor."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asc.plan.plan import Plan
from broker.config.config import Config
from broker.formats.record_attributes import attributes_of
from broker.kafka.cluster import KafkaCluster
from broker.kafka.source_record import Place, SourceRecord, record_at
from broker.monitoring.stream_monitor import StreamMonitor
from broker.operators.feed_destination import FeedDestination
from broker.operators.feed_keys import FeedKeys
from broker.operators.feed_sink import FeedSink
from broker.operators.feed_topic import make_feed
from broker.operators.fold_destination import folds_in
from broker.operators.folder import FoldContext
from broker.operators.kind import FeedKind, StreamContext
from broker.operators.kinds import feed_kinds, fold_kinds
from broker.operators.stateful_query import StatefulQuery, feed_messages_max
from broker.plans.binding import BatchBindings
from broker.plans.checkpoint import mend_checkpoint
from broker.plans.running_plan import RunningPlan
from broker.plans.stream_folder import stream_folder
from broker.stream.analyser import StreamAnalyser
from broker.stream.backfill import Backfill
from broker.stream.batch_runner import sink_options
from broker.stream.diagnosis.condition_diagnosis import ConditionDiagnosis
from broker.stream.diagnosis.diagnosis_result import DiagnosisResult
from broker.stream.diagnosis.fold_parks import FoldParks
from broker.stream.diagnosis.parked_queries import ParkedQueries
from broker.stream.fold_commits import FoldCommits
from broker.stream.job import CONSUMER, StreamJob
from broker.stream.metrics.dead_letters import DeadLetters
from broker.stream.metrics.evaluation_errors import EvaluationErrors
from broker.stream.metrics.event_time import EventTime
from broker.stream.metrics.lag import Lag
from broker.stream.metrics.phases import BatchPhases, DoneBatch
from broker.stream.metrics.stream_stats import StreamStats
from broker.stream.operator_status import OperatorStatus, PlanDestinations, fold_statuses, operator_statuses
from broker.stream.recent_records import RecentRecords
from broker.stream.source_topic_id import SourceTopicId
from broker.stream.starting_offsets import starting_offsets

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOG = logging.getLogger("asc.stream")


class Stream:
    """One stream with all its components, under one name.

    Registration and the monitor change ``running``; the job gets the plan of each batch from it. The schema is read
    once, by the constructor, so later changes of its file have no effect. The object is created before the registry is
    read, because its schema and analyser validate the registered queries. It is started when the first plan is in
    place. ``on_batch_done`` is called with each finished batch that had records, after its phases and counts are
    complete. Raise ConfigError if Spark cannot decode with the stream's options. Raise KafkaError.
    """

    def __init__(
        self,
        name: str,
        config: Config,
        spark: SparkSession,
        cluster: KafkaCluster,
        on_batch_done: Callable[[DoneBatch], None] = lambda batch: None,
    ) -> None:
        self.name = name
        self.config = config.streams[name]
        self.kafka = cluster.client
        self.dead_letter_topic = config.dead_letter_topic(name)
        self._cluster = cluster
        self.fields = self.config.fields()
        self.time_zone = config.spark.time_zone
        decoder = self.config.decoder(self.fields, self.time_zone, config.schema_registry.registry())
        attributes = attributes_of(self.fields).with_crs(self.config.crs)
        limits = config.limits.of_predicates()
        self.analyser = StreamAnalyser(spark, self.config.topic, decoder, attributes, limits)
        self.analyser.check_decoding()
        self.recent = RecentRecords(self.config.topic, spark, cluster.client, decoder)
        self.evaluation_errors = EvaluationErrors(name)
        self.dead_letters = DeadLetters(name, decoder.reasons)
        folder = stream_folder(config.spark.checkpoint_dir, name)
        for mended in mend_checkpoint(folder, self.config.topic):
            LOG.warning("stream '%s': %s", name, mended)
        bindings = BatchBindings(folder / "bindings", folder / "spark")
        starting = starting_offsets(folder, cluster, self.config)
        self.running = RunningPlan(name, bindings, starting)
        self.parked = ParkedQueries(folder)
        self.monitor = StreamMonitor(name, config.monitor, self.running)
        self.figures = StreamStats(Lag(name, self.config.topic, cluster.client, self.running.done_offsets()))
        self._phases = BatchPhases(on_batch_done)
        self._feed_topic = config.feed_topic(name)
        self._feed_lag = Lag(f"{name}-feed", self._feed_topic, cluster.client, {})
        self._event_time = EventTime(folder)
        self._destinations = PlanDestinations()
        self._conditions = {
            op: ConditionDiagnosis(op, name, config, folder, lambda: self.running.plan.version) for op in feed_kinds()
        }
        self._feed_keys = FeedKeys(feed_kinds())
        self.feed_queries: Mapping[str, StatefulQuery] = {
            op: self._feed_query(op, kind, config, spark, folder) for op, kind in feed_kinds().items()
        }
        """The readers of the stream's feed, by the tag of their kind."""
        self._topic_id = SourceTopicId(self.config.topic, cluster)
        context = FoldContext(
            *(name, config.spark.checkpoint_dir, attributes, config.limits),
            lateness_us=round(self.config.lateness_s * 1_000_000),
            time_zone=self.time_zone,
            cluster=cluster,
            read_to=self._read_to,
            lag=self.figures.lag.records,
        )
        self.folders = {op: kind.folder(context) for op, kind in fold_kinds().items()}
        """The folders of the stream, which own the states that workers fill, by the name of their kind."""
        self._fold_parks = FoldParks()
        self._folds = FoldCommits(
            *(name, config, self.folders, self._fold_parks),
            topic_id=self._topic_id,
            check_folder=self.running.check_folder,
        )
        self.backfill = Backfill(
            *(name, config),
            spark=spark,
            cluster=cluster,
            decoder=decoder,
            running=self.running,
            folders=self.folders,
            folds=FoldCommits(
                *(name, config, self.folders, self._fold_parks),
                topic_id=self._topic_id,
                check_folder=self.running.check_folder,
            ),
            topic_id=self._topic_id,
            options={**CONSUMER, **cluster.client.spark_options()},
        )
        """The backfill of the states that lack past records."""
        self.job = StreamJob(
            name,
            config,
            folder,
            spark=spark,
            cluster=cluster,
            decoder=decoder,
            starting=starting,
            running=self.running,
            monitor=self.monitor,
            evaluation_errors=self.evaluation_errors,
            dead_letters=self.dead_letters,
            figures=self.figures,
            phases=self._phases,
            event_time=self._event_time,
            folds=self._folds,
            fed=self._begin_feed_queries,
        )

    def _feed_query(
        self, op: str, kind: FeedKind[Any], config: Config, spark: SparkSession, folder: Path
    ) -> StatefulQuery:
        sink = FeedSink(
            self.name,
            sink_options(config, self._cluster),
            request_bytes=self._cluster.request_bytes,
            topics=lambda: self._destinations.topics(self.running.plan, op),
            limits_of=self._record_limits,
        )
        messages_max = feed_messages_max(config.spark.max_records_per_batch)
        context = StreamContext(self.name, sink, messages_max, self.analyser, self._conditions[op])
        return StatefulQuery(
            *(self.name, spark, self._feed_topic, folder, kind.reader(context)),
            sink=sink,
            keys=self._feed_keys,
            summed_figures=kind.summed_figures,
            source={**CONSUMER, **self.kafka.spark_options()},
            prepare=self._prepare_feed,
        )

    def _read_to(self) -> dict[tuple[str, int], int]:
        """Return the offsets up to which batches are committed, by topic id and partition of the source topic. Return
        an empty mapping if the last batch will be run again, because the commit of a replayed batch itself compares the
        offsets. Raise KafkaError.
        """
        if not self.running.is_settled:
            return {}
        topic_id = self._topic_id.read()
        return {(topic_id, partition): offset for partition, offset in self.running.done_offsets().items()}

    @property
    def problem(self) -> str | None:
        """Return the reason why the job or a reader of the feed does not run, in one line.

        Return None if all of them run.
        """
        of_feed = (query.problem for query in self.feed_queries.values())
        return self.job.problem or self.job.waits_for or next(filter(None, of_feed), None)

    @property
    def finding(self) -> DiagnosisResult | None:
        """Return a finding whose queries are to be parked. Return None if there is none.

        The stream delivers nothing until the queries are parked, unless the finding names them by id.
        """
        findings = (diagnosis.finding for diagnosis in self._conditions.values())
        return self.job.finding or next(filter(None, findings), None) or self._fold_parks.finding

    def phases(self) -> dict[str, float]:
        """Return the median seconds of each phase over the last batches with records: see ``PHASES``."""
        return self._phases.medians()

    def phase_totals(self) -> dict[str, tuple[int, float]]:
        """Return for each phase the number of batches with records that have it, and the sum of its seconds."""
        return self._phases.totals()

    @property
    def failures(self) -> int:
        """Return the number of times that the job ended with an error and was restarted."""
        return self.job.failures

    def record_at(self, place: Place, *, timeout_s: float, most_bytes: int) -> SourceRecord:
        """Return the record at a place (topic, partition, offset): see :func:`broker.kafka.source_record.record_at`."""
        return record_at(self._cluster.client, place, timeout_s=timeout_s, most_bytes=most_bytes)

    def go_on(self, finding: DiagnosisResult) -> None:
        """Let the stream continue after no plan contains the queries of a finding."""
        self.job.go_on(finding)
        for diagnosis in self._conditions.values():
            diagnosis.go_on(finding)
        self._fold_parks.go_on(finding)

    def keep_states(
        self,
        registered: Mapping[str, Mapping[str, int | None]],
        plan: Plan,
        version: int,
        unserved: Mapping[str, str],
    ) -> None:
        """Keep the fold states of registered queries, by kind, before a plan runs (:meth:`Folder.set_registered`)."""
        planned = folds_in(plan)
        for op, folder in self.folders.items():
            folder.set_registered(registered[op], {own.id: own for own in planned if own.op == op}, version, unserved)

    def tidy_states(self) -> None:
        """Delete the states that :meth:`keep_states` could not delete: see :meth:`Folder.tidy`."""
        for folder in self.folders.values():
            folder.tidy()

    def write_left(self) -> None:
        """Write the remaining outputs of the last batch: see :meth:`Folder.write_left`."""
        self._folds.write_left(self.running.plan.version)

    def warm_up(self, seconds: float, *, is_rehearsal: bool = False) -> None:
        """Warm up the job (:meth:`broker.stream.job.StreamJob.warm_up`) and the readers of the feed, before the start.

        If ``seconds`` is 0, the readers are not warmed up. ``is_rehearsal``: warm up also readers that were never
        started.
        """
        self.job.warm_up(seconds)
        for query in self.feed_queries.values() if seconds else ():
            query.warm_up(is_rehearsal=is_rehearsal)

    def start(self) -> None:
        """Start the monitor and the job, and return when the job's query runs. Raise the error of a failed start."""
        self.monitor.start()
        self.figures.lag.start()
        self.job.start()
        self.backfill.start()
        for query in self.feed_queries.values():
            query.start()

    def ask_to_stop(self) -> None:
        """Request a stop: no further batch begins, and no further block is measured."""
        self.backfill.ask_to_stop()
        self.job.ask_to_stop()
        self.monitor.ask_to_stop()
        self.figures.lag.ask_to_stop()
        self._feed_lag.ask_to_stop()
        for diagnosis in self._conditions.values():
            diagnosis.ask_to_stop()
        for query in self.feed_queries.values():
            query.ask_to_stop()

    def operators(self) -> dict[str, OperatorStatus]:
        """Return the status of each kind of operator that the stream uses."""
        lags = {
            op: self._feed_lag.records(query.done) if query.done else None for op, query in self.feed_queries.items()
        }
        destinations = self._destinations.of(self.running.plan)
        lateness_us = round(self.config.lateness_s * 1_000_000)
        folded = fold_statuses(self._destinations.folded(self.running.plan), self.folders)
        fed = operator_statuses(destinations, self.feed_queries, lags, self._event_time.marks, lateness_us)
        return {**fed, **folded}

    def _begin_feed_queries(self, destinations: Sequence[FeedDestination]) -> None:
        """Start the readers of the feed that a batch's queries need."""
        used = {each.track.op for each in destinations}
        # In the order of the table, by which a reader is chosen for messages with unknown keys.
        for op in (op for op in self.feed_queries if op in used):
            self.feed_queries[op].begin()
            of_kind = (each.conditions for each in destinations if each.track.op == op)
            self._conditions[op].allow({condition for conditions in of_kind for condition in conditions})

    def _prepare_feed(self) -> None:
        """Create the feed, and the destination topics of its readers, if they are missing. Raise KafkaError."""
        self._feed_lag.start()
        make_feed(self._cluster, self._feed_topic)
        self._cluster.ensure_topics({each.query.topic for each in self._destinations.of(self.running.plan)})

    def _record_limits(self, topics: Collection[str]) -> Mapping[str, int]:
        """Return the largest record of each topic in bytes. Create missing topics. Raise KafkaError."""
        self._cluster.ensure_topics(topics)
        return self._cluster.record_limits(topics)

    def stop(self) -> None:
        """Wait until the running batch is committed, then stop. Further calls do nothing."""
        self.backfill.stop()
        self.job.stop()
        for query in self.feed_queries.values():
            query.stop()
        self.monitor.stop()
        self.analyser.close()
        self.recent.close()
