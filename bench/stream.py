"""The throughput of a Kafka backlog through a daemon in records per second, compared with a bare Spark job and a loop
in plain Python.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf
from tqdm import tqdm

from bench.daemon_process import DaemonProcess
from bench.machine import machine
from bench.memory import PeakMemory
from bench.result_file import write_result
from broker.kafka.embedded import EmbeddedKafka
from broker.runtime.java import find_java
from broker.runtime.spark import spark_session
from workloads.subscribers import SUBSCRIBERS_DDL, TOPICS, subscribers

BARE = "bare Spark job"
LOOP = "kafka-python, one predicate after the other"

_LOOP_S = 20.0
"""The seconds after which the loop in Python stops, even if records remain."""

_LOOP_RECORDS = 20_000
_CONDITION = re.compile(r"zone < (\d+) AND (\w) BETWEEN (\d+) AND (\d+)")


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the measurement. ``backlogs``: pairs of a number of standing queries and the number of records of the
    backlog. ``batch``: the records of a batch.
    """

    backlogs: tuple[tuple[int, int], ...]
    batch: int


_MILLION = 1_000_000
FULL = Size(((10, _MILLION), (1_000, _MILLION), (100_000, _MILLION), (1_000, 5 * _MILLION)), 200_000)
QUICK = Size(((10, 20_000),), 5_000)


def run(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Measure everything, write ``stream.json`` into the folder, and return the content of the file.

    The backlog exists before a job starts; the time excludes the first batch, in which code is generated and compiled.
    The memory is the memory of the daemon's process and its descendants, which are Spark's JVM and workers. Raises
    RuntimeError if a daemon does not become ready or does not finish.
    """
    size = QUICK if quick else FULL
    spark = spark_session(app_name="asc-bench-stream")
    every, records = sorted({queries for queries, _ in size.backlogs}), size.backlogs[0][1]
    steps = tqdm(total=len(size.backlogs) + 1 + len(every), desc="backlogs", leave=False, disable=None)
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as name, EmbeddedKafka(Path(name) / "kafka") as kafka:
        folder = Path(name)
        results, loops = [], []
        for queries, backlog in size.backlogs:
            daemon = DaemonProcess(folder, kafka, f"queries-{queries}-{backlog}", batch=size.batch, quick=quick)
            results.append(_drained(spark, daemon, queries, backlog))
            steps.update()
        bare = _bare(spark, kafka, folder, records, size.batch)
        steps.update()
        for queries in every:
            loops.append({"queries": queries, **_looped(kafka, queries, min(records, _LOOP_RECORDS))})
            steps.update()
    steps.close()
    result = {
        "benchmark": "stream",
        "quick": quick,
        "machine": {**machine(), "java": find_java().version},
        "records": {"count": records, "format": "JSON, 12 columns, some 150 bytes", "deliveries": 1.5},
        "results": results,
        BARE: bare,
        LOOP: loops,
    }
    write_result(output_dir, "stream", result)
    return result


def table(result: dict[str, Any]) -> str:
    """Return the result as lines of text: the records per second of each job, and how the time of a daemon's batches
    divides into phases.
    """
    bare = result[BARE]["records_a_s"]
    lines = [f"a backlog of {result['records']['count']:,} records, 1.5 deliveries each", ""]
    for each in result["results"]:
        lines.append(
            f"{each['queries']:>8,} queries  {each['records_a_s']:>9,.0f} records/s, "
            f"{each['records_a_s'] / bare:.2f} x the bare Spark job; at most {each['peak_bytes'] / 1e6:,.0f} MB "
            f"with a backlog of {each['backlog']:,}"
        )
    lines.append(f"{BARE:>16}  {bare:>9,.0f} records/s")
    for each in result[LOOP]:
        lines.append(f"{each['queries']:>8,} queries  {each['records_a_s']:>9,.0f} records/s, {LOOP}")
    for each in result["results"]:
        phases = ", ".join(f"{phase} {seconds * 1e3:.0f} ms" for phase, seconds in each["phases"].items())
        lines.append(f"a batch with {each['queries']:,} queries: {phases}")
    return "\n".join(lines)


def publish_backlog(spark: SparkSession, bootstrap_servers: str, topic: str, count: int) -> None:
    """Send ``count`` records of :func:`workloads.subscribers.records` to Kafka with Spark."""
    integers = [(sf.rand(seed) * 1_000_000).cast("int").alias(name) for seed, name in enumerate("abcde")]
    frame = spark.range(count, numPartitions=4).select(
        "id",
        sf.unix_micros(sf.current_timestamp()).cast("double").alias("sent"),
        (sf.rand(7) * 100).cast("int").alias("zone"),
        *integers,
        (sf.rand(8) * 200 - 20).cast("int").alias("delay"),
        *(sf.lit("SFO").alias("dest"), sf.lit("AA").alias("carrier"), sf.lit(True).alias("ok")),
    )
    values = frame.select(sf.to_json(sf.struct("*")).alias("value"))
    options = {"kafka.bootstrap.servers": bootstrap_servers, "topic": topic}
    values.write.format("kafka").options(**options).save()


def _drained(spark: SparkSession, daemon: DaemonProcess, queries: int, records: int) -> dict[str, Any]:
    daemon.write_subscribers(queries)
    publish_backlog(spark, daemon.bootstrap_servers, daemon.source, records)
    peak = PeakMemory()
    with daemon.running() as ready_s:
        with peak.watching(daemon.pid):
            first, start_records = daemon.reached(1)
            end, done = daemon.reached(records)
        phases = daemon.status()["phases"]
    return {
        "queries": queries,
        "backlog": records,
        "peak_bytes": peak.size_bytes,
        "ready_s": round(ready_s, 2),
        "records": done - start_records,
        "seconds": round(end - first, 3),
        "records_a_s": round((done - start_records) / (end - first), 1),
        "phases": phases,
    }


def _bare(spark: SparkSession, kafka: EmbeddedKafka, folder: Path, records: int, batch: int) -> dict[str, Any]:
    """Measure a bare Spark job that decodes the records, filters them for ten topics, and writes as many records as the
    daemon.
    """
    daemon = DaemonProcess(folder, kafka, "bare")
    publish_backlog(spark, kafka.bootstrap_servers, daemon.source, records)
    options = {"kafka.bootstrap.servers": kafka.bootstrap_servers}
    chosen = sf.array(
        *(sf.when(sf.expr(where), sf.lit(daemon.destinations[int(topic)])) for _, where, topic in subscribers(TOPICS))
    )
    read = (
        spark.readStream.format("kafka")
        .options(**options)
        .option("subscribe", daemon.source)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", batch)
        .load()
    )
    decoded = read.select("key", "value", sf.from_json(sf.col("value").cast("string"), SUBSCRIBERS_DDL).alias("r"))
    targets = decoded.select("key", "value", "r.*").select("key", "value", sf.explode(chosen).alias("topic"))
    writer = targets.filter("topic IS NOT NULL").writeStream.format("kafka").options(**options)
    query = writer.option("checkpointLocation", str(folder / "bare-checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()
    done = [each for each in query.recentProgress if each.numInputRows][1:]
    begin, last = (datetime.fromisoformat(each.timestamp.replace("Z", "+00:00")) for each in (done[0], done[-1]))
    seconds = (last - begin).total_seconds() + done[-1].durationMs["triggerExecution"] / 1000
    count = sum(each.numInputRows for each in done)
    return {"records": count, "seconds": round(seconds, 3), "records_a_s": round(count / seconds, 1)}


def _looped(kafka: EmbeddedKafka, queries: int, most: int) -> dict[str, float]:
    """Measure a consumer in plain Python that evaluates every predicate on each record, and sends the accepted records
    to their topics. The consumer stops after ``most`` records or after ``_LOOP_S`` seconds.
    """
    from kafka import KafkaConsumer, KafkaProducer, TopicPartition

    asked = [(_python(where), f"bare-out-{topic}") for _, where, topic in subscribers(queries)]
    consumer: Any = KafkaConsumer(bootstrap_servers=kafka.bootstrap_servers, auto_offset_reset="earliest")
    consumer.assign([TopicPartition("bare-in", 0)])
    producer: Any = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers, linger_ms=20)
    start, count = time.monotonic(), 0
    seconds = 0.0
    for record in consumer:
        fields = json.loads(record.value)
        for accepts, topic in asked:
            if accepts(fields):
                producer.send(topic, record.value)
        count += 1
        seconds = time.monotonic() - start
        if seconds > _LOOP_S or count == most:
            break
    producer.flush()
    consumer.close()
    producer.close()
    return {"records": count, "seconds": round(seconds, 3), "records_a_s": round(count / seconds, 1)}


def _python(where: str) -> Callable[[dict[str, Any]], bool]:
    found = _CONDITION.search(where)
    assert found is not None
    zone, column, low, high = int(found[1]), found[2], int(found[3]), int(found[4])
    return lambda fields: fields["zone"] < zone and low <= fields[column] <= high and fields["dest"] != ""
