"""The sink of a feed reader: it writes outputs to Kafka, except those that are too large for their topics."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from asc.errors import AscError
from asc.operators.exclusions import OUTPUT_TOO_LARGE
from broker.batch_failure import ShortFailing
from broker.failure import text_of
from broker.kafka.producer_batches import with_batches_within
from broker.operators.feed_outputs import records_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from broker.operators.feed_task import FeedTally, Figures

LOG = logging.getLogger("asc.operators")

_BYTES = "__asc_bytes"
_SIZE = "180L + octet_length(concat_ws('', key, value, identity, query, source))"
"""The size of an output with its headers, as SQL. It is never less than the estimate that Kafka's producer compares
with its own limit: an empty record with the names of the headers takes 155 bytes.
"""

_LARGEST_BYTES = 1 << 20
"""A size that no output reaches, because keys, samples and lists of ids are bounded. Kafka's topics accept larger
records, unless they are configured otherwise.
"""

_REFUSED = "RecordTooLargeException"
"""The error of Kafka's client for a record that is larger than a topic or the client's own limit allows."""


class _TooLarge(NamedTuple):
    """Outputs of one query and type that are too large for their topic: their number, and the size of the largest."""

    query: str
    topic: str
    kind: str
    outputs: int
    largest_bytes: int


class FeedSink:
    """The sink of one feed reader, which writes the reader's outputs to Kafka. An output that is too large for its
    topic is not written. It is counted as excluded (OUTPUT_TOO_LARGE), and the log has one warning for each query with
    such outputs.

    As long as all topics take ``_LARGEST_BYTES``, outputs are written while they are computed, and no size is compared.
    Otherwise the outputs of a batch are held in memory or on disk, and their sizes are compared with the limits of
    their topics. Sizes are compared too once Kafka has refused a record as too large. So a topic whose limit was
    unknown or was lowered does not stop the reader for good.

    The figures (:meth:`figures`) are numbers of a query's last output, such as the number of clusters, and only of
    outputs that were sent. Tasks that write their outputs themselves count the outputs afterwards. If sizes are
    compared, the tasks count outputs that are not sent yet. So the sink then takes the figures of a batch only after it
    has sent the batch.

    Cost of a comparison: the outputs of a batch, once in memory or on disk, and a Spark job.
    """

    def __init__(
        self,
        stream: str,
        options: Mapping[str, str],
        *,
        request_bytes: int,
        topics: Callable[[], Collection[str]],
        limits_of: Callable[[Collection[str]], Mapping[str, int]],
    ) -> None:
        """Create the sink.

        ``options``: options of Spark's Kafka sink. ``request_bytes``: the largest record that is sent to any topic.
        ``topics`` returns the topics of the reader's queries, and the same object while these do not change.
        ``limits_of`` returns the largest record of each topic in bytes, and raises KafkaError.
        """
        self._stream = stream
        self._options = options
        self._request_bytes = request_bytes
        self._topics = topics
        self._limits_of = limits_of
        self._limits: Mapping[str, int] = {}
        self._known_topics: Collection[str] | None = None
        self._was_refused = False
        self._writes_directly = False
        self._sent_figures: Figures = {}
        self._warned: set[str] = set()

    def begin_anew(self) -> None:
        """Forget the limits of topics, which may have changed, before the reader starts."""
        self._limits, self._known_topics, self._writes_directly = {}, None, False
        self._sent_figures = {}

    def failed(self, error: BaseException) -> None:
        """Note the error that ended the reader. If Kafka refused a record as too large, the sink compares sizes from
        the next start on.
        """
        if _REFUSED in text_of(error):
            self._was_refused = True

    @property
    def is_outdated(self) -> bool:
        """Return whether the running writer compares no sizes, although the topics of new queries now require that
        sizes are compared. The caller then restarts the reader.

        If Kafka does not answer, return false; the next call asks Kafka again.
        """
        if not self._writes_directly:
            return False
        try:
            return self._must_compare()
        except AscError:
            return False

    def figures(self, tally: FeedTally) -> Figures:
        """Return the figures of queries after the last batch whose outputs were sent, by part and query.

        ``tally``: the counts of all tasks. There are no figures of parts whose outputs were not sent since the start of
        the writer.
        """
        return tally.latest if self._writes_directly else self._sent_figures

    def writer(self, outputs: DataFrame, tallies: Any) -> DataStreamWriter:
        """Return the writer that sends outputs to their topics. The tasks have counted the outputs. Raise KafkaError.

        ``tallies``: the accumulator of the counts.
        """
        self._writes_directly = not self._must_compare()
        if self._writes_directly:
            return records_of(outputs).writeStream.format("kafka").options(**self._sink_options())

        def write(batch: DataFrame, batch_id: int) -> None:
            # The state is read and written once; its outputs are read several times.
            batch.persist()
            try:
                self.write(batch, tallies, are_counted=True)
                self._sent_figures = tallies.value.latest
            finally:
                batch.unpersist()

        return outputs.writeStream.foreachBatch(ShortFailing(self._stream, write))

    def write(self, outputs: DataFrame, tallies: Any, *, are_counted: bool = False) -> DataFrame:
        """Write the outputs of a batch, which the caller holds, and return the outputs that were written. Raise
        KafkaError.

        ``are_counted``: whether ``tallies`` has the outputs already. Outputs that are not written are then subtracted.
        """
        written, too_large = self._divided(outputs) if self._must_compare() else (outputs, ())
        try:
            records_of(written).write.format("kafka").options(**self._sink_options()).save()
        except Exception as error:
            # Called here, because only the beginning of the text of the error reaches the reader of the feed.
            self.failed(error)
            raise
        if too_large:
            self._count(too_large, tallies, are_counted=are_counted)
        return written

    def _sink_options(self) -> Mapping[str, str]:
        return with_batches_within(self._options, self._limits.values())

    def _must_compare(self) -> bool:
        topics = self._topics()
        if topics is not self._known_topics:
            self._learn(topics)
            self._limits = {topic: self._limits[topic] for topic in topics}
            self._known_topics = topics
        return self._was_refused or min((self._request_bytes, *self._limits.values())) < _LARGEST_BYTES

    def _learn(self, topics: Collection[str]) -> None:
        unknown = set(topics) - self._limits.keys()
        if unknown:
            self._limits = {**self._limits, **self._limits_of(unknown)}

    def _divided(self, outputs: DataFrame) -> tuple[DataFrame, Sequence[_TooLarge]]:
        """Return the outputs that are not too large for their topics, and the counts of the outputs that are."""
        from pyspark.sql import functions as sf

        sized = outputs.withColumn(_BYTES, sf.expr(_SIZE))
        largest: dict[str, int] = {row[0]: row[1] for row in sized.groupBy("topic").agg(sf.max(_BYTES)).collect()}
        self._learn(largest)
        limits = {topic: self._limits[topic] for topic, size in largest.items() if size > self._limits[topic]}
        if limits:
            # The limits of these topics may have been raised since they were read.
            self._limits = {**self._limits, **self._limits_of(limits.keys())}
            limits = {topic: self._limits[topic] for topic in limits if largest[topic] > self._limits[topic]}
        if not limits:
            return outputs, ()
        by_topic = sf.from_json(sf.lit(json.dumps(limits)), "map<string, bigint>")
        limit = sf.element_at(by_topic, sf.col("topic"))
        fits = limit.isNull() | (sf.col(_BYTES) <= limit)
        others = sized.filter(~fits).groupBy("query", "topic", "kind").agg(sf.count("*"), sf.max(_BYTES))
        too_large = [_TooLarge(*row) for row in others.orderBy("query", "topic", "kind").collect()]
        return sized.filter(fits).drop(_BYTES), too_large

    def _count(self, too_large: Sequence[_TooLarge], tallies: Any, *, are_counted: bool) -> None:
        from broker.operators.feed_task import FeedTally

        by_kind = Counter[str]()
        for group in too_large:
            by_kind[group.kind] += group.outputs
            if group.query not in self._warned:
                self._warned.add(group.query)
                LOG.warning(
                    "stream '%s': query '%s': a record of %d bytes is not written, because topic '%s' takes at most "
                    "%d: raise its max.message.bytes, and max.request.size in [kafka.options] if that is less",
                    *(self._stream, group.query, group.largest_bytes, group.topic, self._limits[group.topic]),
                )
        taken_back = {kind: -count for kind, count in by_kind.items()} if are_counted else {}
        tallies.add(FeedTally(excluded={OUTPUT_TOO_LARGE: by_kind.total()}, outputs=taken_back))
