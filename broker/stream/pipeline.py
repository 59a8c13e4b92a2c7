"""The way of a batch's records through Spark, prepared once for all batches that run with one plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from broker.formats.decoder import ERROR, RECORD, RecordDecoder
from broker.operators.routing import routing

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from broker.matching.shipped_plan import ShippedPlan
    from broker.matching.tally import Tallying


@dataclass(frozen=True, slots=True, eq=False)
class Pipeline:
    """Projections over one another, from Kafka's records to those that are written: decode, match, route.

    Nothing in them hangs on the records, so they serve every batch that runs with the same plan, counts and draws in
    the same way, and has the same limits. Cost: one ``select`` a projection and batch; making them takes some hundred
    calls into the JVM.
    """

    projections: tuple[tuple[Column, ...], ...]

    @staticmethod
    def of(
        spark: SparkSession,
        decoder: RecordDecoder,
        shipped: ShippedPlan,
        tallying: Tallying,
        *,
        dead_letter_topic: str,
        limits: Mapping[str, int],
    ) -> Pipeline:
        """The pipeline of a plan; ``limits``: the largest record of each topic it sends to, in bytes."""
        from broker.matching.dataframe import DELIVERIES_COLUMN, delivering

        matching = delivering(spark, shipped, (RECORD, ERROR), tallying, decoder.reason_number())
        return Pipeline((*decoder.projections(), *matching, *routing(DELIVERIES_COLUMN, dead_letter_topic, limits)))

    def outgoing(self, records: DataFrame) -> DataFrame:
        """The records to write (see :func:`broker.operators.routing.routing`) of Kafka's records."""
        for columns in self.projections:
            records = records.select(*columns)
        return records
