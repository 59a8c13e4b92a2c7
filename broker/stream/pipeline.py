"""The path of a batch's records through Spark, prepared once for all batches that run with one plan."""

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
    """The projections from Kafka's records to written ones: decode, match, route, one over the other.

    Nothing in it depends on the records. So it serves every batch that runs with the same plan, counts and draws in the
    same way, and has the same limits. Cost: see :class:`PreparedFrame`; making it takes some hundred calls into the
    JVM.
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
        """Return the pipeline of a plan, for all records of the stream of ``records``.

        ``limits``: the largest record of each topic it sends to, in bytes. ``feed``: that of its queries with an
        operator, where it has such.
        """
        from pyspark.sql import functions as sf

        from broker.matching.dataframe import DELIVERIES_COLUMN, delivering

        times = () if feed is None else feed.times()
        if shipped.folding is not None and not times:
            times = (source_partition(),)
        told = (*times, _record_number(decoder))
        carried = () if feed is None else feed.names
        matching = delivering(records.sparkSession, shipped, (RECORD, ERROR, *carried), tallying, told)
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
        """Return the pipeline of another plan which crosses in the same way, with equal limits, without planning."""
        from broker.matching.dataframe import matching_function

        function = matching_function(records.sparkSession, shipped, tallying)
        return replace(self, prepared=self.prepared.with_function(records, function))

    def outgoing(self, records: DataFrame) -> DataFrame:
        """Return the records to write (see :func:`broker.operators.outgoing.outgoing`) of Kafka's records."""
        return self.prepared.over(records)


def _record_number(decoder: Decoder) -> Column:
    """Return the facts of a record beside its values in one number, for each column costs its transfer to Python.

    The number is its time in milliseconds, -1 where it has none, above the bits of the reason why it is a dead letter.
    """
    from pyspark.sql import functions as sf

    from broker.matching.tally import REASON_BITS

    time_ms = sf.coalesce(sf.unix_millis(sf.col(f"{RECORD}.timestamp")), sf.lit(-1).cast("bigint"))
    return sf.shiftleft(time_ms, REASON_BITS).bitwiseOR(decoder.reason_number().cast("bigint"))
