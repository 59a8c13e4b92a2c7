"""The feed reader of near queries: it writes the pairs of each tick whose condition holds to the topics of their
queries.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from asc.errors import AscError
from asc.operators.near.near_query import OP
from broker.batch_failure import ShortFailing
from broker.operators.condition_watch import ConditionWatch
from broker.operators.expression import RecordAnalyser
from broker.operators.feed_outputs import outputs_of
from broker.operators.near.condition import OBJECTS, NearCondition, near_condition
from broker.operators.near.suspect_pairs import JudgedPairs
from broker.operators.stateful_query import FeedReader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from broker.operators.feed_sink import FeedSink

LOG = logging.getLogger("asc.operators")

_INTERVAL = "1 second"
"""The trigger interval of the reader. A tick is final only some seconds after its instant, so one more second of delay
hardly matters.
"""

_CONDITIONS_KEPT = 100
"""The largest number of checked conditions that are cached; a stream has few near queries."""

_HOLDS = {"own": "__asc_own", "other": "__asc_other"}


class NearReader(FeedReader):
    """The feed reader of pairs (:class:`asc.operators.near.pair_tick.PairEvent`).

    Python finds the pairs of a tick. Spark evaluates the condition as a filter over both objects, in the batch that
    writes the pairs. ``sink``: the sink of the pairs. ``messages_max``: the largest number of messages of the feed in
    one batch. ``analyser``: checks a condition that arrives through the feed as at registration, but without a time
    limit. ``watch``: excludes the conditions that end batches, and with them only the pairs of their queries. Cost: the
    pairs of a batch, before their conditions are evaluated, are in memory or on disk while the batch is written.
    """

    name = OP

    def __init__(
        self,
        stream: str,
        sink: FeedSink,
        messages_max: int,
        *,
        analyser: RecordAnalyser,
        watch: ConditionWatch,
    ) -> None:
        self._stream = stream
        self.messages_max = messages_max
        self._watch = watch
        self._sink = sink
        self._analyser = analyser
        self._conditions: dict[str, NearCondition | None] = {}

    def writer(self, feed: DataFrame, tallies: Any) -> DataStreamWriter:
        """Return the writer that sends pairs to the topics of their queries."""
        from broker.operators.near.task import PAIRS_DDL, near_task

        pairs = outputs_of(feed, near_task(tallies), PAIRS_DDL)

        def write(batch: DataFrame, batch_id: int) -> None:
            self._write(batch, batch_id, tallies)

        return pairs.writeStream.trigger(processingTime=_INTERVAL).foreachBatch(ShortFailing(self._stream, write))

    def _write(self, pairs: DataFrame, batch_id: int, tallies: Any) -> None:
        # The state is read and written once; its outputs are read several times.
        pairs.persist()
        try:
            texts = [row[0] for row in pairs.select("condition").distinct().collect()]
            if not texts:
                return
            checked = ((text, self._checked(text)) for text in texts if text is not None)
            known = {text: condition for text, condition in checked if condition is not None}
            with self._watch.judging(batch_id, JudgedPairs(pairs, known)) as judged:
                self._write_pairs(self._accepted(pairs, {text: known[text] for text in judged}), tallies)
        finally:
            pairs.unpersist()

    def _write_pairs(self, accepted: DataFrame, tallies: Any) -> None:
        from broker.operators.feed_task import FeedTally

        written = self._sink.write(accepted, tallies)
        # Counted by a separate query: in Spark 4.0, an Observation of a batch that a stream writes to Kafka gets no
        # result.
        counts = written.groupBy("kind").count().collect()
        tallies.add(FeedTally(outputs={row[0]: row[1] for row in counts}))

    def _accepted(self, pairs: DataFrame, conditions: Mapping[str, NearCondition]) -> DataFrame:
        """Return the pairs to write: those without a condition, and those whose condition holds for the values ``own``
        (of the pair's tick) but not for the values ``other``. For a change between two ticks, ``other`` has the values
        of the other tick.

        ``conditions``: the conditions to evaluate, keyed by their texts. A condition is evaluated only for the pairs of
        its own queries.
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
        """Return the condition in a text. If the condition is now refused, log this once and return None."""
        if text not in self._conditions:
            if len(self._conditions) >= _CONDITIONS_KEPT:
                self._conditions.clear()
            self._conditions[text] = self._read(text)
        return self._conditions[text]

    def _read(self, text: str) -> NearCondition | None:
        try:
            return near_condition(text, self._analyser, patiently=True)
        except AscError as error:
            LOG.error("the condition of a near query is excluded, with the pairs that it would accept: %s", error)
            return None
