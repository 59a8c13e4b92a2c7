"""Errors that a batch raises into Spark are short and keep the words that Spark looks for; the log has the whole."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from broker.batch_failure import CHARS_MAX, ShortFailing, crossing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

INTERRUPTED = "java.lang.InterruptedException"


def started(spark: SparkSession, folder: Path, run: Callable[[DataFrame, int], None]) -> Any:
    source = folder / "in"
    source.mkdir()
    (source / "0.json").write_text('{"n": 1}\n', "utf-8")
    return (
        spark.readStream.schema("n INT")
        .json(str(source))
        .writeStream.foreachBatch(ShortFailing("s", run))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .start()
    )


@pytest.mark.parametrize(
    "error", [ValueError("x" * 100_000), KeyError(), RuntimeError("short")], ids=["long", "empty", "short"]
)
def test_what_crosses_is_bounded_and_begins_as_the_error_does(error: Exception) -> None:
    text = crossing(error)
    assert len(text) <= CHARS_MAX
    assert text.startswith(type(error).__name__)


def test_an_interruption_is_told_wherever_it_is() -> None:
    far = RuntimeError("x" * 50_000 + f"\nCaused by: {INTERRUPTED}\n" + "y" * 50_000)
    assert crossing(far).endswith(INTERRUPTED)
    assert len(crossing(far)) <= CHARS_MAX


def test_the_log_has_the_whole_of_a_long_error_once(caplog: pytest.LogCaptureFixture) -> None:
    def run(records: Any, batch_id: int) -> None:
        raise ValueError(f"first line\n{'x' * 5_000} end")

    batch = ShortFailing("s", run)
    with caplog.at_level(logging.ERROR, logger="asc.job"):
        for batch_id in range(2):
            with pytest.raises(Exception, match="first line") as caught:
                batch(None, batch_id)  # type: ignore[arg-type]
            assert caught.value.__context__ is None
    assert caplog.text.count("stream 's': batch 0 failed: first line") == 1
    assert "batch 1" not in caplog.text
    assert "x end" in caplog.text


@pytest.mark.spark
def test_spark_searches_the_error_of_a_stopped_query_without_overflowing_its_stack(
    spark: SparkSession, tmp_path: Path
) -> None:
    """It looks for an interruption in the text; where its stack overflows, the query ends without an exception."""
    runs, queries = threading.Event(), []

    def run(records: DataFrame, batch_id: int) -> None:
        runs.set()
        while not queries or queries[0].isActive:
            time.sleep(0.01)
        raise RuntimeError("py4j.protocol.Py4JJavaError: An error occurred while calling o1.save.\n" + "x\n" * 100_000)

    queries.append(started(spark, tmp_path, run))
    assert runs.wait(300)
    queries[0].stop()
    assert "An error occurred while calling o1.save." in str(queries[0].exception())


@pytest.mark.spark
def test_a_batch_that_is_interrupted_by_the_stop_of_its_query_is_no_failure(
    spark: SparkSession, tmp_path: Path
) -> None:
    runs = threading.Event()

    def run(records: DataFrame, batch_id: int) -> None:
        runs.set()
        jvm: Any = records.sparkSession._jvm
        jvm.java.lang.Thread.sleep(600_000)

    query = started(spark, tmp_path, run)
    assert runs.wait(300)
    query.stop()
    assert query.exception() is None
