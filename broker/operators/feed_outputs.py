"""Outputs of a feed: Spark's stateful computation over the messages of each part, and the records that it returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker.interpreter import own_interpreter
from broker.operators.headers import event_headers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from broker.operators.feed_task import PartFunction


def outputs_of(feed: DataFrame, function: PartFunction, ddl: str) -> DataFrame:
    """Return the outputs of a feed (FED_DDL): the rows, with the schema ``ddl``, that the function returns for each
    part.
    """
    from pyspark.sql.streaming.state import GroupStateTimeout

    from broker.operators.feed_task import PACKED_DDL, STATE_DDL, packed

    # A separate interpreter with a low priority: the work for windows and pairs must not delay the routing of records.
    with own_interpreter(feed.sparkSession.sparkContext, yields=True):
        parts = feed.mapInArrow(packed, PACKED_DDL).groupBy("bucket")
        return parts.applyInPandasWithState(function, ddl, STATE_DDL, "append", GroupStateTimeout.NoTimeout)


def records_of(outputs: DataFrame) -> DataFrame:
    """Return the records to write, from outputs with topic, key, value, identity, query and source."""
    return outputs.select("topic", "key", "value", event_headers().alias("headers"))
