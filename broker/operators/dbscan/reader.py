"""The feed reader of DBSCAN queries: it turns observations into output records in the topics of the queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asc.operators.dbscan.dbscan_query import OP
from broker.interpreter import own_interpreter
from broker.operators.feed_outputs import outputs_of
from broker.operators.stateful_query import FeedReader

if TYPE_CHECKING:
    from pyspark.core.broadcast import Broadcast
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from broker.operators.dbscan.worker_parts import WorkerParts
    from broker.operators.feed_sink import FeedSink


class DbscanReader(FeedReader):
    """The feed reader of clusters (:class:`asc.operators.dbscan.records.DbscanOutput`).

    ``sink``: the sink of the records. ``messages_max``: the largest number of messages of the feed in one batch.
    """

    name = OP

    def __init__(self, sink: FeedSink, messages_max: int) -> None:
        self.messages_max = messages_max
        self._sink = sink
        self._parts: Broadcast[WorkerParts] | None = None

    def writer(self, feed: DataFrame, tallies: Any) -> DataStreamWriter:
        """Return the writer that sends the records of windows to the topics of their queries."""
        from broker.operators.dbscan.task import RECORDS_DDL, dbscan_task
        from broker.operators.dbscan.worker_parts import WorkerParts

        if self._parts is None:
            # One broadcast for all starts of the query: the caches of workers stay valid across starts.
            self._parts = feed.sparkSession.sparkContext.broadcast(WorkerParts())
        return self._sink.writer(outputs_of(feed, dbscan_task(tallies, self._parts), RECORDS_DDL), tallies)

    def warm_up(self, spark: SparkSession) -> None:
        """Let one worker compile the kernels. The compiled code is then on disk for all workers."""
        from broker.operators.dbscan.task import WARM_DDL, warmed

        with own_interpreter(spark.sparkContext):
            spark.range(1, numPartitions=1).mapInArrow(warmed, WARM_DDL).collect()
