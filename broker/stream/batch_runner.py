"""The execution of one batch: a pipeline, which its plan determines, reads the records from Kafka and writes the
results to Kafka.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from asc.plan.plan import Plan
from broker.config.config import Config
from broker.formats.decoder import Decoder, as_records
from broker.kafka.cluster import KafkaCluster
from broker.kafka.producer_batches import with_batches_within
from broker.monitoring.stream_monitor import StreamMonitor
from broker.operators.feed_destination import FeedDestination, destinations_in, routed_topics
from broker.operators.feed_projection import FeedProjection
from broker.operators.feed_topic import make_feed
from broker.operators.outgoing import usual_limit
from broker.plans.running_plan import BoundBatch
from broker.stream.feed_writer import FeedWriter
from broker.stream.fold_commits import FoldCommits
from broker.stream.metrics.event_time import EventTime
from broker.stream.metrics.phases import BatchPhases
from broker.stream.pipeline import Pipeline
from broker.stream.prepared_frame import PreparedFrame
from broker.stream.schema_questions import SchemaQuestions
from broker.stream.waiting_partitions import WaitingPartitions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

    from broker.matching.shipped_plan import ShippedPlan
    from broker.matching.tally import Sampling, Tally, Tallying

_LINGER_MS = 20
_BATCH_BYTES = 65_536
"""The batch size of the producer in bytes, unless ``kafka.options`` sets another.

At its end, a task sends the records that still wait in the producer. So a few records need not wait until a Kafka batch
is full, and many records share large requests.
"""

_WARM_UP_RECORDS = 500
"""The number of records per core in a warm-up batch."""


def sink_options(config: Config, cluster: KafkaCluster) -> dict[str, str]:
    """Return the options of Spark's Kafka sink: all replicas acknowledge a record, and producers are idempotent."""
    return {
        "kafka.linger.ms": str(_LINGER_MS),
        "kafka.batch.size": str(min(_BATCH_BYTES, config.kafka.buffer_bytes // 4)),
        **cluster.client.spark_options(),
        "kafka.acks": "all",
        "kafka.enable.idempotence": "true",
        "kafka.max.request.size": str(config.kafka.request_bytes),
        "includeHeaders": "true",
    }


@dataclass(frozen=True, slots=True)
class _Made:
    """The inputs that a pipeline was built from: the shipped plan, sampling, the limits of its topics, the decoder and
    the feed.
    """

    shipped: ShippedPlan
    sampling: Sampling | None
    limits: tuple[int, dict[str, int]]
    decoder: Decoder
    feed: FeedProjection | None

    def crosses_as(self, other: _Made) -> bool:
        """Return True if a pipeline for ``other`` would differ from this one only in the Python function."""
        is_read_alike = self.decoder is other.decoder and self.shipped.transport is other.shipped.transport
        return is_read_alike and self.limits == other.limits and self.feed == other.feed


class BatchRunner:
    """The runner of the batches of one stream, one batch at a time.

    It caches the parts that depend only on the plan. Invariant: ``_shipped``, ``_limits`` and ``_pipeline`` belong to
    the plan that is stored with them. A batch of another plan rebuilds them. If the new plan reads the same
    p-attributes, as after most changes of one query, only the plan's bytes and Python function are replaced. Cost: the
    bytes of a plan on the driver and in each worker, and its operators in the JVM.
    """

    def __init__(
        self,
        name: str,
        config: Config,
        *,
        spark: SparkSession,
        cluster: KafkaCluster,
        decoder: Decoder,
        monitor: StreamMonitor,
        phases: BatchPhases,
        event_time: EventTime,
        folds: FoldCommits,
        check_folder: Callable[[], None],
        fed: Callable[[Sequence[FeedDestination]], None] = lambda found: None,
    ) -> None:
        """Create the runner.

        ``check_folder``: see :class:`FeedWriter`. If the plan has queries with an operator of the feed, ``fed`` is
        called with their destinations before the batch is written.
        """
        self._fed = fed
        self._dead_letter_topic = config.dead_letter_topic(name)
        self._registry_topic = config.kafka.registry_topic
        self._waiting = WaitingPartitions(cluster.client, config.streams[name].topic)
        self._spark = spark
        self._cluster = cluster
        self._decoder = decoder
        self._monitor = monitor
        self._phases = phases
        self._sink: Mapping[str, str] = sink_options(config, cluster)
        self._shipped: ShippedPlan | None = None
        self._plans_shipped = 0
        self._tallies: tuple[int, Any] | None = None
        self._limits: tuple[Plan, dict[str, int], tuple[int, dict[str, int]]] | None = None
        self._pipeline: tuple[_Made, Pipeline] | None = None
        self._event_time = event_time
        self._folds = folds
        self._feed_writer = FeedWriter(name, config, cluster, check_folder)
        self._max_future_s = config.streams[name].max_future_s
        self._feed: tuple[Plan, tuple[FeedProjection, Sequence[FeedDestination]] | None] | None = None
        self._looking: tuple[Decoder, PreparedFrame | None] | None = None
        self._questions = SchemaQuestions(name)

    @property
    def waits_for(self) -> str | None:
        """Return the cause for which the current batch waits before it runs, in one line. Return None if it does not
        wait.
        """
        return self._questions.waits_for

    def run(
        self,
        batch_id: int,
        records: DataFrame,
        batch: BoundBatch,
        stopping: threading.Event,
    ) -> Tally | None:
        """Match the records of a batch with the plan that it is bound to, write the deliveries, and commit the states.

        Return the counts of the workers, or None if the counts were lost.

        Wait while a schema registry that the records need does not answer. Raise SchemaRegistryError if the stream
        stops during that wait. Raise FoldError if fold states are lost or cannot be committed.
        """
        plan = batch.plan
        with self._phases.timed("build"):
            self._decoder = self._questions.answered(
                self._decoder, lambda decoder: self._unknown(decoder, records), records, stopping
            )
            shipped = self._shipped_of(plan, records)
            tallying = self._tallying(plan)
            feed = self._feed_of(plan)
            outgoing = self._pipeline_of(records, shipped, tallying).outgoing(records)
        with self._phases.timed("run"):
            uses_feed = feed is not None or self._feed_writer.has_queries or self._event_time.has_times
            tracks = {} if feed is None else {track.name: track.time_name for track in feed[0].tracks}
            if uses_feed:
                marks = self._event_time.before(batch_id, tracks)
                self._feed_writer.begin(() if feed is None else feed[1], marks)
            if feed is not None:
                self._fed(feed[1])
            attempt = None if shipped.folding is None else self._folds.begin(self._spark, outgoing)
            self._write(outgoing)
        if attempt is not None:
            with self._phases.timed("keep"):
                # This runs before Spark commits the batch, so a failure here repeats the batch.
                self._folds.commit(batch_id, batch, attempt, self._waiting.of(batch))
        tally: Tally | None = tallying.accumulator.value
        # A task of a failed batch may report late, with the counts of the former plan.
        if tally is not None and tally.plan != tallying.plan:
            tally = None
        if uses_feed:
            newest = {} if tally is None else tally.newest
            waiting = self._waiting.of(batch) if newest else frozenset[int]()
            self._event_time.passed(batch_id, newest, tracks, read=batch.partitions, waiting=waiting)
        if tally is None:
            return None
        self._phases.note("match", tally.match_s)
        return tally

    def _unknown(self, decoder: Decoder, records: DataFrame) -> list[Row] | None:
        """Return one row for each schema that the records name and the decoder does not know.

        Return None if the decoder needs no schemas.
        """
        if self._looking is None or self._looking[0] is not decoder:
            looked = decoder.unknown(records)
            prepared = None if looked is None else PreparedFrame.of(records, lambda r: decoder.unknown(r) or r)
            self._looking = (decoder, prepared)
        prepared = self._looking[1]
        return None if prepared is None else prepared.over(records).collect()

    def warm_up(self, plan: Plan, seconds: float, stopping: threading.Event) -> None:
        """Run batches of generated records for ``seconds``, at least one batch, and write none of their results. So the
        first real records need not wait until workers are started, the plan is read, producers are connected, and the
        JVM has compiled its code. The generated records are in no metric.
        """
        from pyspark.sql import functions as sf

        end = time.monotonic() + seconds
        self._read_registry()
        cores = self._spark.sparkContext.defaultParallelism
        rows = self._spark.range(_WARM_UP_RECORDS * cores, numPartitions=cores)
        # Every second record is a dead letter, because these are written even if no query accepts a record.
        value = sf.when(sf.col("id") % 2 == 0, sf.lit(self._decoder.example()))
        records = as_records(rows, value=value)
        shipped = self._shipped_of(plan, records)
        # Spark would fold rand() < 0 to FALSE, and run nothing.
        never = sf.rand() + 1 < 0
        while True:
            outgoing = self._pipeline_of(records, shipped, self._tallying(plan)).outgoing(records)
            if shipped.folding is not None:
                # This test write has a separate nonce, so that nothing counts it as records of a batch.
                self._folds.begin(self._spark, outgoing)
            self._write(outgoing.filter(never))
            if time.monotonic() >= end or stopping.is_set():
                return

    def _read_registry(self) -> None:
        """Read a record of the registry topic with Spark's Kafka source, to connect it; failures are ignored."""
        registry = self._spark.read.format("kafka").options(**self._cluster.client.spark_options())
        with suppress(Exception):
            registry.option("subscribe", self._registry_topic).load().limit(1).count()

    def forget_topics(self) -> None:
        """Forget the cached facts about topics, which may be wrong after a failure."""
        self._limits = self._pipeline = None
        self._feed_writer.forget()
        self._folds.forget_topic()

    def close(self) -> None:
        """Release the plan in the workers, and close the connections. Call it only when no batch runs."""
        self._feed_writer.close()
        self._folds.close()
        self._waiting.close()
        if self._shipped is not None:
            self._shipped.release()

    def _write(self, outgoing: DataFrame) -> None:
        options = self._sink
        if self._limits is not None:
            usual, others = self._limits[2]
            options = with_batches_within(options, [usual, *others.values()])
        outgoing.write.format("kafka").options(**options).save()

    def _pipeline_of(self, records: DataFrame, shipped: ShippedPlan, tallying: Tallying) -> Pipeline:
        limits, usual = self._limits_of(shipped.plan)
        own = self._feed_of(shipped.plan)
        feed = None if own is None else own[0]
        now = _Made(shipped, tallying.sampling, usual, self._decoder, feed)
        if self._pipeline is not None:
            made, pipeline = self._pipeline
            if made == now:
                return pipeline
            if made.crosses_as(now):
                self._pipeline = (now, pipeline.with_plan(records, shipped, tallying))
                return self._pipeline[1]
        pipeline = Pipeline.of(
            *(records, self._decoder, shipped, tallying),
            dead_letter_topic=self._dead_letter_topic,
            limits=limits,
            feed=feed,
        )
        self._pipeline = (now, pipeline)
        return pipeline

    def _feed_of(self, plan: Plan) -> tuple[FeedProjection, Sequence[FeedDestination]] | None:
        """Return the feed projection of a plan and its destinations.

        Return None if the plan has no query for the feed.
        """
        if self._feed is None or self._feed[0] is not plan:
            found = destinations_in(plan)
            writer = self._feed_writer
            projection = FeedProjection.of(found, writer.topic, self._max_future_s, writer.name)
            self._feed = (plan, None if projection is None else (projection, found))
        return self._feed[1]

    def _tallying(self, plan: Plan) -> Tallying:
        """Return the tallying of the next batch. Counts that an earlier batch left in the accumulator are cleared."""
        from broker.matching.tally import Tallying, tally_accumulator

        sampling = self._monitor.sampling()
        sample_tuples = sampling.tuples if sampling else 0
        if self._tallies is None or self._tallies[0] != sample_tuples:
            self._tallies = (sample_tuples, tally_accumulator(self._spark.sparkContext, sample_tuples))
        accumulator = self._tallies[1]
        accumulator.value = None
        feed = self._feed_of(plan)
        times = () if feed is None else feed[0].time_names
        return Tallying(accumulator, self._plans_shipped, sampling, counts_records=True, times=times)

    def _limits_of(self, plan: Plan) -> tuple[dict[str, int], tuple[int, dict[str, int]]]:
        """Return the record size limit of each topic in bytes. Also return the most frequent limit, and the topics that
        have another limit.

        Topics that were not seen since the last failure are created if they are missing.
        """
        if self._limits is None or self._limits[0] is not plan:
            topics = {self._dead_letter_topic, *routed_topics(plan)}
            feed = self._feed_writer.topic if self._feed_of(plan) is not None else None
            known = {} if self._limits is None else self._limits[1]
            unseen = topics - known.keys()
            if unseen:
                self._cluster.ensure_topics(unseen)
            if feed is not None and feed not in known:
                make_feed(self._cluster, feed)
            if feed is not None:
                topics.add(feed)
                unseen = topics - known.keys()
            found = {**known, **self._cluster.record_limits(unseen)}
            limits = {topic: found[topic] for topic in topics}
            self._limits = (plan, limits, usual_limit(limits))
        return self._limits[1:]

    def _shipped_of(self, plan: Plan, records: DataFrame) -> ShippedPlan:
        from broker.matching.shipped_plan import ShippedPlan

        if self._shipped is None or self._shipped.plan is not plan:
            old, folding = self._shipped, self._folds.folding(self._spark, plan)
            if old is not None and old.crosses(plan, folding):
                self._shipped = old.with_plan(self._spark, plan, folding)
            else:
                frame = self._decoder.decode(records)
                self._shipped = ShippedPlan.of(frame, plan, counts_errors=True, before=old, folding=folding)
            self._plans_shipped += 1
            if old is not None:
                # One batch runs at a time, so nothing uses the old one any more.
                old.release(self._shipped)
        return self._shipped
