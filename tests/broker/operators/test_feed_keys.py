"""Which messages of a feed each of its readers reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from broker.operators.feed_keys import FeedKeys

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_a_message_with_an_unknown_key_is_read_once_and_a_shared_one_by_each_reader(spark: SparkSession) -> None:
    keys = FeedKeys(("events", "near", "dbscan"))
    rows = [
        (text if text is None else text.encode(),) for text in ("events", "near", "dbscan", "time", "voronoi", None)
    ]
    feed = spark.createDataFrame(rows, "key BINARY")

    def read(name: str) -> set[str | None]:
        found = feed.filter(keys.is_read_by(name)).collect()
        return {None if row["key"] is None else bytes(row["key"]).decode() for row in found}

    for name in ("near", "events", "dbscan"):
        keys.want(name)
    # The readers start, and after a failure start again, in whatever order.
    other, first = read("events"), read("near")
    assert (first, other) == ({"near", "time", "voronoi", None}, {"events", "time", None})
    assert (read("events"), read("dbscan"), read("near")) == (other, {"dbscan", "time", None}, first)
