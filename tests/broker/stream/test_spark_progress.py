"""What Spark tells of batches, taken once each: of entries as Spark has them, and of a real query."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from broker.stream.spark_progress import SparkProgress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass
class Entry:
    """An entry as the JVM gives it; one that says that there was nothing to do has the number of the batch to come."""

    batch: int
    rows: int = 1
    idle: bool = False

    def batchId(self) -> int:  # noqa: N802
        return self.batch

    def json(self) -> str:
        durations = {"latestOffset": 3} if self.idle else {"latestOffset": 3, "addBatch": 9}
        progress = {"timestamp": "1970-01-01T00:16:40.250Z", "numInputRows": self.rows, "durationMs": durations}
        return json.dumps(progress)


class Query:
    """A query that has these entries to tell; how often it is asked for them."""

    def __init__(self, *entries: Entry) -> None:
        self.entries = list(entries)
        self.asked = 0
        self._jsq = self

    def recentProgress(self) -> list[Entry]:  # noqa: N802
        self.asked += 1
        return self.entries


def test_each_batch_is_given_once_and_none_that_was_nothing() -> None:
    progress = SparkProgress()
    query = Query(Entry(0), Entry(1), Entry(2, 0, idle=True), Entry(2, 0), Entry(3), Entry(4, 0, idle=True))
    assert [batch.batch_id for batch in progress.new(query, 3)] == [0, 1, 3]
    assert (progress.new(query, 3), query.asked) == ([], 1)
    query.entries += [Entry(4, 0, idle=True), Entry(4)]
    (batch,) = progress.new(query, 4)
    assert (batch.batch_id, batch.began_s, batch.durations_ms) == (4, 1_000.25, {"latestOffset": 3, "addBatch": 9})


def test_what_spark_has_not_told_yet_is_taken_later() -> None:
    progress = SparkProgress()
    query = Query(Entry(0), Entry(1, 0, idle=True))
    assert [batch.batch_id for batch in progress.new(query, 1)] == [0]
    assert progress.new(query, 1) == []
    query.entries.append(Entry(1))
    assert [batch.batch_id for batch in progress.new(query, 1)] == [1]


def test_a_jvm_that_is_gone_tells_nothing() -> None:
    progress, query = SparkProgress(), Query(Entry(0))
    assert progress.new(object(), 0) == []
    assert [batch.batch_id for batch in progress.new(query, 0)] == [0]


@pytest.mark.spark
def test_a_real_query_tells_of_its_batches(spark: SparkSession, tmp_path: Path) -> None:
    ran: list[int] = []

    def run(frame: DataFrame, batch_id: int) -> None:
        ran.append(frame.count())

    source = tmp_path / "in"
    source.mkdir()
    progress = SparkProgress()
    query: Any = (
        spark.readStream.schema("n INT")
        .json(str(source))
        .writeStream.foreachBatch(run)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    try:
        for batch_id in range(2):
            (source / f"{batch_id}.json").write_text('{"n": 1}\n{"n": 2}\n', "utf-8")
            query.processAllAvailable()
            (batch,) = progress.new(query, batch_id)
            assert batch.batch_id == batch_id
            assert {"latestOffset", "addBatch", "commitOffsets", "triggerExecution"} <= set(batch.durations_ms)
            assert batch.began_s > 1e9
        assert ran == [2, 2]
    finally:
        query.stop()
