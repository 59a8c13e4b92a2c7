"""The minimum latency of a Spark micro-batch, measured with the smallest jobs that read from Kafka, call Python, and
write to Kafka.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from typing import Any, Literal

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.functions import pandas_udf

from bench.traffic import make_topics, receiving, send_paced, spread
from broker.kafka.embedded import EmbeddedKafka

Variant = Literal["foreachBatch", "sink"]
VARIANTS: tuple[Variant, ...] = ("foreachBatch", "sink")


def floor(
    spark: SparkSession, kafka: EmbeddedKafka, variant: Variant, *, rate: float, seconds: float, name: str = "floor"
) -> dict[str, Any]:
    """Run the smallest job under a load, and return the latency of its records without the first third of the time.

    With the variant ``foreachBatch``, the job writes each batch itself, like the daemon. With ``sink``, Spark's Kafka
    sink writes. Every record is written once and unchanged.
    """
    source, target = f"{name}-{variant}-in", f"{name}-{variant}-out"
    make_topics(kafka.bootstrap_servers, source, target)
    options = {"kafka.bootstrap.servers": kafka.bootstrap_servers}
    read = (
        spark.readStream.format("kafka")
        .options(**options)
        .option("subscribe", source)
        .option("startingOffsets", "earliest")
        .load()
    )

    def written(frame: DataFrame) -> DataFrame:
        return frame.select("key", _same()("value").alias("value"))

    def write(batch: DataFrame, _: int) -> None:
        written(batch).write.format("kafka").options(**options).option("topic", target).save()

    if variant == "foreachBatch":
        writer = read.writeStream.foreachBatch(write)
    else:
        writer = written(read).writeStream.format("kafka").options(**options).option("topic", target)
    with (
        tempfile.TemporaryDirectory(prefix="asc-bench-") as folder,
        receiving(kafka.bootstrap_servers, [target]) as got,
    ):
        query = writer.option("checkpointLocation", folder).start()
        send_paced(kafka.bootstrap_servers, source, rate, 1.0)
        got.settle(2.0)
        start = time.time()
        send_paced(kafka.bootstrap_servers, source, rate, seconds)
        got.settle(2.0)
        found = got.taken().between(start, float("inf"))
        query.stop()
    # A sender takes a while to start.
    begin_s = float(found.sent.min()) if len(found.sent) else start
    return {"variant": variant, "rate": rate, **spread(found.between(begin_s + seconds / 3, begin_s + seconds).latency)}


def _same() -> Any:
    def same(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
        yield from batches

    return pandas_udf(same, "binary")  # type: ignore[call-overload]
