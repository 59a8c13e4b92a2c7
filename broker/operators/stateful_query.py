"""The stateful Spark query that reads the feed of a stream for one kind of operator, and writes outputs to Kafka."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from broker.batch_failure import BatchFailure
from broker.errors import BrokerError
from broker.failure import one_line, root_cause, text_of
from broker.operators.feed_part import PARTS
from broker.operators.held_counts import HeldCounts
from broker.operators.latest_figures import LatestFigures
from broker.plans.offsets import Offsets

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from broker.operators.feed_keys import FeedKeys
    from broker.operators.feed_sink import FeedSink
    from broker.operators.feed_task import FeedTally

LOG = logging.getLogger("asc.operators")

_TIME_ZONE = "spark.sql.session.timeZone"
_BACKOFF_S = (1, 2, 5, 10, 20)
_LOOK_S = 0.25
_FAILURE = f"{BatchFailure.__module__}.{BatchFailure.__qualname__}: "
_STOP_S = 10.0

_MESSAGES_LEAST = 20_000
"""The least number of messages that a batch of a feed may read, however few records a batch of the stream has.

A record may have a message for each track, and a batch takes over a second even if it reads few messages.
"""

STATE_OPTIONS = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # Each batch writes only its changes, and not the whole store.
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # After a fault, Spark only needs the last batch.
    "spark.sql.streaming.minBatchesToRetain": "10",
}


def feed_messages_max(records_max: int) -> int:
    """Return the most messages of a feed in one batch, if the stream's batches have at most ``records_max`` records.

    >>> feed_messages_max(200_000), feed_messages_max(1_000)
    (200000, 20000)
    """
    return max(records_max, _MESSAGES_LEAST)


class FeedReader(Protocol):
    """The part of a feed query that depends on the kind of operator.

    ``name``: the tag of the kind, and the name of the folder of its state. ``messages_max``: the largest number of
    messages of the feed in one batch.
    """

    name: str
    messages_max: int

    def writer(self, feed: DataFrame, tallies: Any) -> DataStreamWriter:
        """Return the writer of the outputs for the records of a feed (FED_DDL). The caller sets the writer's
        checkpoint.

        ``tallies``: the accumulator to which its tasks add their counts.
        """

    def warm_up(self, spark: SparkSession) -> None:
        """Let a Spark worker load and compile the code of the tasks, if this takes long."""
        return


class StatefulQuery:
    """A Spark query that reads the feed of a stream for one kind, besides the query of the stream's job.

    It starts when the stream has its first query of the kind, or at the daemon's start if it was started before. After
    a failure it restarts, with a pause. A failed batch runs again from the state with which it began: its outputs are
    written again unchanged, and none is lost. Invariant: sixteen groups with one state each, one group for each
    partition of the feed. Cost: a batch reads and writes the states of the groups for which it has messages.
    """

    def __init__(
        self,
        stream: str,
        spark: SparkSession,
        topic: str,
        folder: Path,
        reader: FeedReader,
        *,
        sink: FeedSink,
        keys: FeedKeys,
        summed_figures: Collection[str],
        source: Mapping[str, str],
        prepare: Callable[[], None],
    ) -> None:
        """Create the query, without starting it.

        ``sink``: the sink of the reader. ``keys``: the keys of the feed, which the stream's readers share.
        ``summed_figures``: see :class:`broker.operators.kind.FeedKind`. ``source``: options of Spark's Kafka source.
        ``prepare`` creates missing topics.
        """
        self._stream = stream
        self._spark = spark
        self._topic = topic
        self._reader = reader
        self._name = reader.name
        self._folder = folder / reader.name
        self._sink = sink
        self._keys = keys
        self._source = source
        self._prepare = prepare
        self._wanted = threading.Event()
        self._stopping = threading.Event()
        self._query: StreamingQuery | None = None
        self._supervisor = threading.Thread(target=self._supervise, name=f"{reader.name}-{stream}", daemon=True)
        self._tallies: Any = None
        self._held = HeldCounts(self._folder)
        self._latest = LatestFigures(self._folder, summed_figures)
        self.failures = 0
        """The number of times that the query ended with an error and was started again."""
        self.problem: str | None = None
        """The reason, in one line, why the query does not run although it should; None if it runs."""
        self.done: Offsets = {}
        """The first offset that is not processed, by partition of the feed, as Spark has reported since the start."""

    @property
    def is_used(self) -> bool:
        """Return whether the query runs, or should run."""
        return self._wanted.is_set()

    @property
    def tally(self) -> FeedTally | None:
        """Return the counts of the query's batches since the daemon started. Return None if the query was not
        started.
        """
        found: FeedTally | None = None if self._tallies is None else self._tallies.value
        return found

    @property
    def held(self) -> int | None:
        """Return the number of objects, observations or points in the states of all parts of the feed. Return None if
        no batch has counted them.
        """
        return self._held.total

    def latest(self, query_id: str) -> Mapping[str, Any] | None:
        """Return the figures of a query after the last batch that was sent. Return None if there are none."""
        return self._latest.of(query_id)

    def warm_up(self, *, is_rehearsal: bool = False) -> None:
        """Warm up the tasks before the start, if the query was started before. If the warm-up fails, only the first
        batch is slower.

        ``is_rehearsal``: warm up even if the query was never started.
        """
        if not is_rehearsal and not self._folder.exists():
            return
        try:
            self._reader.warm_up(self._spark)
        except Exception as error:
            said = one_line(root_cause(error))
            LOG.warning("stream '%s': the first batch of %s will take longer: %s", self._stream, self._name, said)

    def start(self) -> None:
        """Start the supervision, and also the query if it was started before."""
        if self._folder.exists():
            self.begin()
        self._supervisor.start()

    def begin(self) -> None:
        """Let the query start, now that there are queries of its kind."""
        self._keys.want(self._name)
        self._wanted.set()

    def ask_to_stop(self) -> None:
        """Prevent further starts."""
        self._stopping.set()
        self._wanted.set()

    def stop(self) -> None:
        """Stop the query. An interrupted batch runs again at the next start. Do nothing if the query is already
        stopped.
        """
        self.ask_to_stop()
        query = self._query
        if query is not None:
            try:
                query.stop()
            except Exception as error:
                LOG.warning(
                    "stream '%s': Spark did not stop the reader of %s: it ends with the daemon: %s",
                    self._stream,
                    self._name,
                    one_line(error),
                )
        if self._supervisor.is_alive():
            self._supervisor.join(timeout=_STOP_S)

    # -- the query and its supervision

    def _supervise(self) -> None:
        self._wanted.wait()
        failures = 0
        while not self._stopping.is_set():
            start_s = time.monotonic()
            done = self.done
            try:
                self._prepare()
                self._sink.begin_anew()
                self._query = self._started()
                self._watch(self._query)
            except Exception as error:
                if self._stopping.is_set():
                    return
                self._sink.failed(error)
                failures = 0 if self.done != done else failures
                pause = _BACKOFF_S[min(failures, len(_BACKOFF_S) - 1)]
                failures += 1
                self.failures += 1
                said = f"the reader of {self._name} stopped and is started again in {pause} s"
                self.problem = f"{said}: {self._cause(error)}"
                LOG.error("stream '%s' %s (after %.0f s)", self._stream, self.problem, time.monotonic() - start_s)
                self._query = None
                self._stopping.wait(pause)

    def _cause(self, error: BaseException) -> str:
        text = one_line(root_cause(error), 2_000).rpartition("terminated with exception: ")[2][:300]
        whole = text_of(error)
        if "PythonException" in text:
            # The cause is the last line before those of the JVM.
            text = one_line(whole.partition("\n\tat ")[0].strip().splitlines()[-1])
        if _FAILURE in whole:
            # Spark's text contains the error of the batch function in its middle.
            text = one_line(whole.rpartition(_FAILURE)[2])
        if "data may have been lost" in text or "OffsetOutOfRange" in text:
            remedy = f"stop the daemon and remove {self._folder}: what was known of objects is forgotten"
            return f"records of '{self._topic}' expired unread, or it was made again: {remedy}"
        return text

    def _watch(self, query: StreamingQuery) -> None:
        while not self._stopping.is_set():
            ended = query.awaitTermination(_LOOK_S)  # type: ignore[arg-type]  # takes parts of a second
            if ended and not self._stopping.is_set():
                remedy = "was stopped from outside: see the log of Spark; what it has not done is done after the start"
                raise BrokerError(f"the reader of {self._name} of stream", self._stream, remedy)
            if self._sink.is_outdated:
                # The batch that this interrupts runs again, and then compares the sizes of its outputs.
                query.stop()
                return
            progress: Any = query._jsq.lastProgress()
            if progress is None:
                continue
            ends = json.loads(progress.json())["sources"][0]["endOffset"] or {}
            self.done = {int(partition): int(offset) for partition, offset in ends.get(self._topic, {}).items()}
            self.problem = None
            if self.tally is not None:
                self._held.keep(self.tally.held)
                self._latest.keep(self._sink.figures(self.tally))

    def _started(self) -> StreamingQuery:
        from broker.operators.feed_task import feed_accumulator

        # A separate session, because the job must not have the properties for the state.
        session = self._spark.newSession()
        own = {**STATE_OPTIONS, _TIME_ZONE: str(self._spark.conf.get(_TIME_ZONE))}
        for name, value in own.items():
            session.conf.set(name, value)
        partitions = min(PARTS, self._spark.sparkContext.defaultParallelism)
        session.conf.set("spark.sql.shuffle.partitions", str(partitions))
        self._tallies = self._tallies or feed_accumulator(self._spark.sparkContext)
        feed = (
            session.readStream.format("kafka")
            .options(**self._source)
            .option("subscribe", self._topic)
            .option("startingOffsets", "earliest")
            .option("maxOffsetsPerTrigger", self._reader.messages_max)
            .option("kafka.isolation.level", "read_committed")
            .load()
        )
        read = feed.filter(self._keys.is_read_by(self._name))
        fed = read.selectExpr("partition AS bucket", "offset", "value AS message")
        writer = self._reader.writer(fed, self._tallies)
        return (
            writer.queryName(f"asc-{self._name}-{self._stream}")
            .option("checkpointLocation", str(self._folder))
            .outputMode("append")
            .start()
        )
