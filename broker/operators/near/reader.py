"""Pairs, of a stream's feed: what was near at ticks, where the condition of its query holds, to its topic."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from asc.errors import AscError
from broker.interpreter import own_interpreter
from broker.operators.events.reader import IS_NEAR
from broker.operators.feed_query import FeedReader
from broker.operators.headers import event_headers
from broker.operators.near.condition import OBJECTS, NearCondition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

LOG = logging.getLogger("asc.events")

_INTERVAL = "1 second"
"""Between two batches: a tick is told when the watermark has passed it, which is some seconds late as it is."""

_MESSAGE = 'startswith(CAST(message AS STRING), \'{"t":"\')'


class ConditionWatch(Protocol):
    """Keeps conditions that a batch cannot go on with out of it."""

    def judging(
        self, batch_id: int, pairs: DataFrame, conditions: Mapping[str, NearCondition]
    ) -> AbstractContextManager[Mapping[str, NearCondition]]:
        """Return the conditions, by their text, that a batch is to judge its pairs by, for as long as it does so."""


_HOLDS = {"own": "__asc_own", "other": "__asc_other"}


class NearReader(FeedReader):
    """Writes pairs (:class:`asc.operators.near.pair_tick.PairEvent`).

    A tick's pairs are found in Python; the condition is for Spark to judge, as it would in a filter over both objects,
    in the batch that writes them. ``sink``: options of Spark's Kafka sink. ``condition``: the condition of a text that
    came through the feed, checked as when it was registered, with all the time that takes; AscError where it is none.
    ``watch``: what keeps out those that end batches; their pairs are not told, those of others are.
    Cost: what the pairs that may be told take in memory, or on disk, while a batch is written.
    """

    name = "near"

    def __init__(
        self, sink: Mapping[str, str], condition: Callable[[str], NearCondition], watch: ConditionWatch
    ) -> None:
        self._sink = sink
        self._condition = condition
        self._watch = watch
        self._refused: set[str] = set()

    def writer(self, feed: DataFrame, tallies: Any) -> DataStreamWriter:
        """To the topics of the queries."""
        from pyspark.sql.streaming.state import GroupStateTimeout

        from broker.operators.feed_task import PACKED_DDL, STATE_DDL, packed
        from broker.operators.near.task import PAIRS_DDL, near_task

        with own_interpreter(feed.sparkSession.sparkContext):
            messages = feed.filter(f"{IS_NEAR} OR NOT {_MESSAGE}").mapInArrow(packed, PACKED_DDL)
            pairs = messages.groupBy("bucket").applyInPandasWithState(
                near_task(tallies), PAIRS_DDL, STATE_DDL, "append", GroupStateTimeout.NoTimeout
            )

        def write(batch: DataFrame, batch_id: int) -> None:
            self._write(batch, batch_id, tallies)

        return pairs.writeStream.trigger(processingTime=_INTERVAL).foreachBatch(write)

    def _write(self, pairs: DataFrame, batch_id: int, tallies: Any) -> None:
        # The state is read and written once; what came of it is looked at three times.
        pairs.persist()
        try:
            texts = [row[0] for row in pairs.select("condition").distinct().collect()]
            if not texts:
                return
            checked = ((text, self._checked(text)) for text in texts if text is not None)
            known = {text: condition for text, condition in checked if condition is not None}
            with self._watch.judging(batch_id, pairs, known) as judged:
                self._write_told(self._told(pairs, judged), tallies)
        finally:
            pairs.unpersist()

    def _write_told(self, told: DataFrame, tallies: Any) -> None:
        from broker.operators.feed_task import FeedTally

        written = told.select("topic", "key", "value", event_headers().alias("headers"))
        written.write.format("kafka").options(**self._sink).save()
        # Not by an Observation: of what goes to Kafka from a batch of a stream, Spark 4.0 never has one.
        counts = told.groupBy("kind").count().collect()
        tallies.add(FeedTally(events={row[0]: row[1] for row in counts}))

    def _told(self, pairs: DataFrame, conditions: Mapping[str, NearCondition]) -> DataFrame:
        """The pairs without a condition, and those whose condition is known and holds, and does not hold of the other
        tick they were near at. A condition sees the pairs of its own queries alone.
        """
        from pyspark.sql import functions as sf

        for side, column in _HOLDS.items():
            holds = sf.lit(False)
            for place, (text, condition) in enumerate(conditions.items()):
                parts = [f"__asc_{side}_{name}_{place}" for name in OBJECTS]
                schema = condition.carried_ddl
                for name, part in zip(OBJECTS, parts, strict=True):
                    pairs = pairs.withColumn(part, sf.from_json(sf.col(f"{side}_{name}"), schema))
                objects = (
                    sf.expr(condition.object_sql(part)).alias(name) for name, part in zip(OBJECTS, parts, strict=True)
                )
                pairs = pairs.select("*", *objects)
                is_own = (sf.col("condition") == text) & sf.col(f"{side}_{OBJECTS[0]}").isNotNull()
                judged = sf.when(is_own, sf.expr(condition.sql).isNotNull()).otherwise(False)
                pairs = pairs.withColumn(f"__asc_{side}_{place}", judged).drop(*OBJECTS, *parts)
                holds = sf.when(sf.col("condition") == text, sf.col(f"__asc_{side}_{place}")).otherwise(holds)
            pairs = pairs.withColumn(column, holds)
        own, other = (sf.col(column) for column in _HOLDS.values())
        return pairs.filter(sf.col("condition").isNull() | (own & ~other))

    def _checked(self, text: str) -> NearCondition | None:
        try:
            return self._condition(text)
        except AscError as error:
            if text not in self._refused:
                self._refused.add(text)
                LOG.error("the condition of a near query, and what it would tell, is left out: %s", error)
            return None
