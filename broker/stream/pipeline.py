"""The Spark pipeline for the records of a batch, prepared once for all batches that run with the same plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from broker.formats.decoder import ERROR, RECORD, Decoder
from broker.operators.feed_projection import FeedProjection, source_partition
from broker.operators.outgoing import outgoing as outgoing_projections
from broker.stream.prepared_frame import PreparedFrame

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from broker.matching.shipped_plan import ShippedPlan
    from broker.matching.tally import Tallying


@dataclass(frozen=True, slots=True, eq=False)
class Pipeline:
    """The consecutive projections from Kafka's records to the written records: decode, match, route.

    The pipeline does not depend on the records. So it serves every batch with the same plan, the same counting and
    sampling, and the same limits. Cost: see :class:`PreparedFrame`; building the pipeline takes some hundred calls into
    the JVM.
    """

    prepared: PreparedFrame

    @staticmethod
    def of(
        records: DataFrame,
        decoder: Decoder,
        shipped: ShippedPlan,
        tallying: Tallying,
        *,
        dead_letter_topic: str,
        limits: Mapping[str, int],
        feed: FeedProjection | None = None,
    ) -> Pipeline:
        """Return the pipeline of a plan, for all records of the stream that ``records`` come from.

        ``limits``: the record size limit of each topic that the pipeline writes to, in bytes. ``feed``: the feed
        projection of the plan's queries with an operator; None if there are no such queries.
        """
        from pyspark.sql import functions as sf

        from broker.matching.dataframe import DELIVERIES_COLUMN, delivering

        times = () if feed is None else feed.times()
        if shipped.folding is not None and not times:
            times = (source_partition(),)
        facts = (*times, record_number(decoder))
        carried = () if feed is None else feed.names
        matching = delivering(records.sparkSession, shipped, (RECORD, ERROR, *carried), tallying, facts)
        operators = () if feed is None else (feed,)
        written = outgoing_projections(DELIVERIES_COLUMN, dead_letter_topic, limits, operators, carried)
        seen = () if feed is None else ((sf.col("*"), *feed.columns),)
        projections = (*decoder.projections(), *seen, *matching, *written)

        def outgoing(frame: DataFrame) -> DataFrame:
            for columns in projections:
                frame = frame.select(*columns)
            return frame

        return Pipeline(PreparedFrame.of(records, outgoing))

    def with_plan(self, records: DataFrame, shipped: ShippedPlan, tallying: Tallying) -> Pipeline:
        """Return the pipeline with another plan, without planning by Spark.

        The plan must cross to the workers in the same form, and have equal limits.
        """
        from broker.matching.dataframe import matching_function

        function = matching_function(records.sparkSession, shipped, tallying)
        return replace(self, prepared=self.prepared.with_function(records, function))

    def outgoing(self, records: DataFrame) -> DataFrame:
        """Return the records to write (see :func:`broker.operators.outgoing.outgoing`) for Kafka's records."""
        return self.prepared.over(records)


def record_number(decoder: Decoder) -> Column:
    """Return the metadata of a record as one number, because each column costs a transfer to Python.

    The high bits are the timestamp in milliseconds, or -1 if there is none. The low bits are the number of the
    dead-letter reason.
    """
    from pyspark.sql import functions as sf

    from broker.matching.tally import REASON_BITS

    time_ms = sf.coalesce(sf.unix_millis(sf.col(f"{RECORD}.timestamp")), sf.lit(-1).cast("bigint"))
    return sf.shiftleft(time_ms, REASON_BITS).bitwiseOR(decoder.reason_number().cast("bigint"))
