"""The feed reader of event queries: it turns observations into events in the topics of the queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asc.operators.events.event_query import OP
from broker.operators.feed_outputs import outputs_of
from broker.operators.stateful_query import FeedReader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from broker.operators.feed_sink import FeedSink


class EventsReader(FeedReader):
    """The feed reader of events (:class:`asc.operators.events.bucket.Event`).

    ``sink``: the sink of the events. ``messages_max``: the largest number of messages of the feed in one batch.
    """

    name = OP

    def __init__(self, sink: FeedSink, messages_max: int) -> None:
        self.messages_max = messages_max
        self._sink = sink

    def writer(self, feed: DataFrame, tallies: Any) -> DataStreamWriter:
        """Return the writer that sends events to the topics of their queries."""
        from broker.operators.events.task import EVENTS_DDL, events_task

        return self._sink.writer(outputs_of(feed, events_task(tallies), EVENTS_DDL), tallies)
