"""Events, of a stream's feed: from observations, by buckets in a state of Spark's, to the topics of queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from broker.interpreter import own_interpreter
from broker.operators.feed_query import FeedReader
from broker.operators.headers import event_headers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter


class EventsReader(FeedReader):
    """Writes events (:class:`asc.operators.events.bucket.Event`). ``sink``: options of Spark's Kafka sink;
    ``records_max``: of the feed in one batch.
    """

    name = "events"

    def __init__(self, sink: Mapping[str, str], records_max: int) -> None:
        self.records_max = records_max
        self._sink = sink

    def writer(self, feed: DataFrame, tallies: Any) -> DataStreamWriter:
        """To the topics of the queries."""
        from pyspark.sql.streaming.state import GroupStateTimeout

        from broker.operators.events.task import EVENTS_DDL, events_task
        from broker.operators.feed_task import PACKED_DDL, STATE_DDL, packed

        with own_interpreter(feed.sparkSession.sparkContext):
            messages = feed.mapInArrow(packed, PACKED_DDL)
            events = messages.groupBy("bucket").applyInPandasWithState(
                events_task(tallies), EVENTS_DDL, STATE_DDL, "append", GroupStateTimeout.NoTimeout
            )
        written = events.select("topic", "key", "value", event_headers().alias("headers"))
        return written.writeStream.format("kafka").options(**self._sink)
