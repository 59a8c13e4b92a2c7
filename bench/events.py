"""The cost of events for many objects. The benchmark compares operator state in sixteen parts, as in the broker, with a
separate state for each object, in Spark and in plain Python.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout
from tqdm import tqdm

from asc.operators.events.bucket import Bucket
from asc.operators.events.event_query import KINDS, OP, EventQuery
from asc.operators.feed import Observation, Settings
from bench.machine import machine
from bench.result_file import write_result
from broker.interpreter import own_interpreter
from broker.operators.events.task import EVENTS_DDL, events_task
from broker.operators.feed_outputs import outputs_of
from broker.operators.feed_part import PARTS
from broker.operators.feed_task import FED_DDL, feed_accumulator
from broker.operators.stateful_query import STATE_OPTIONS
from broker.runtime.java import find_java
from broker.runtime.spark import spark_session

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

INSIDE = 0.1
"""The share of objects that queries accept. In each batch, one object in twenty is drawn again, and is then accepted
with this probability.
"""

_TRACK = "t"
_SELECTION = "a41c9e0273d15b88"
_QUERY = EventQuery("fence", "fences", _TRACK, "time", (_SELECTION,), KINDS, 0, 3_600_000_000)
_SETTINGS = Settings(OP, "source", False, 1_000_000, (_QUERY.settings(),))
_FEED_SCHEMA = pa.schema([("bucket", pa.int32()), ("offset", pa.int64()), ("message", pa.binary())])
_MESSAGE_DDL = "t STRING, k STRING, e BIGINT, p INT, o BIGINT, s ARRAY<STRING>"


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the measurement: the number of objects, and the number of measured batches. Each object has one
    record per batch. One unmeasured batch precedes the measured batches.
    """

    objects: int
    batches: int


FULL = Size(20_000, 5)
QUICK = Size(400, 2)


def run(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Measure everything, write ``events.json`` into the folder, and return the content of the file.

    Spark processes the same observations by two methods. The broker's method has a state for each of the sixteen parts
    of the feed. The other has a group and a state for each object. The function for one object supports only enter and
    exit. The observations also go through both functions without Spark. Raises RuntimeError if the two methods output
    different numbers of events.
    """
    size = QUICK if quick else FULL
    batches = list(_observations(size))
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as name:
        folder = Path(name)
        _write_feed(folder / "feed", batches)
        spark = spark_session(app_name="asc-bench-events")
        methods: dict[str, Callable[[DataFrame], DataFrame]] = {"by part": _by_bucket, "by object": _by_object}
        measured = {
            method: _streamed(spark, folder, method, made) for method, made in tqdm(methods.items(), disable=None)
        }
    events_by_method = {method: events for method, (_, events) in measured.items()}
    if len(set(events_by_method.values())) != 1:
        raise RuntimeError(f"the events differ: {events_by_method}")
    rows = size.objects
    result = {
        "benchmark": "events",
        "quick": quick,
        "machine": {**machine(), "java": find_java().version},
        "objects": size.objects,
        "events": next(iter(events_by_method.values())),
        "spark": [
            {"way": method, "batch_s": round(batch_s, 4), "records_a_s": round(rows / batch_s)}
            for method, (batch_s, _) in measured.items()
        ],
        "python": _in_python(batches),
    }
    write_result(output_dir, "events", result)
    return result


def table(result: dict[str, Any]) -> str:
    """Return the result as lines of text."""
    lines = [f"{result['objects']:,} objects, a record each a batch; {result['events']:,} events"]
    for each in result["spark"]:
        lines.append(
            f"{each['way']:>12} in Spark  {each['batch_s']:>8.2f} s a batch  {each['records_a_s']:>9,} records/s"
        )
    for each in result["python"]:
        lines.append(f"{each['way']:>12} in Python {each['us_a_record']:>8.2f} us a record")
    return "\n".join(lines)


def _observations(size: Size) -> Iterator[list[Observation]]:
    """Yield the observations of each batch in the order of the source. The first batch has the first observation of
    each object.
    """
    picks = random.Random(7)
    inside = [picks.random() < INSIDE for _ in range(size.objects)]
    for batch in range(size.batches + 1):
        observations = []
        for number in range(size.objects):
            if picks.random() < 0.05:
                inside[number] = picks.random() < INSIDE
            time_us = (batch * 10 + 1) * 1_000_000
            selections = (_SELECTION,) if inside[number] else ()
            place = (picks.uniform(-180, 180), picks.uniform(-90, 90))
            offset = batch * size.objects + number
            observations.append(Observation(OP, _TRACK, f"{number:06x}", time_us, place, 0, offset, selections))
        yield observations


def _write_feed(folder: Path, batches: list[list[Observation]]) -> None:
    """Write one file per batch. Spark reads a stream of files in the order of their times."""
    folder.mkdir()
    at_s = time.time() - 1_000
    for number, batch in enumerate(batches):
        rows = [(each.offset % PARTS, 100 + each.offset, each.text().encode()) for each in batch]
        if number == 0:
            rows = [*((bucket, 0, _SETTINGS.text().encode()) for bucket in range(PARTS)), *rows]
        columns = [
            pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), _FEED_SCHEMA, strict=True)
        ]
        path = folder / f"{number:03}.parquet"
        pq.write_table(pa.table(columns, schema=_FEED_SCHEMA), path)
        os.utime(path, (at_s + number, at_s + number))


def _streamed(
    spark: SparkSession, folder: Path, method: str, made: Callable[[DataFrame], DataFrame]
) -> tuple[float, int]:
    """Process the feed in ``folder`` with Spark. Return the median seconds of a batch, without the first batch, and the
    number of output events.
    """
    session = spark.newSession()
    for name, value in STATE_OPTIONS.items():
        session.conf.set(name, value)
    session.conf.set("spark.sql.shuffle.partitions", str(min(PARTS, spark.sparkContext.defaultParallelism)))
    feed = session.readStream.schema(FED_DDL).option("maxFilesPerTrigger", 1).parquet(str(folder / "feed"))
    out, own = folder / f"{method}-out", folder / method
    query: StreamingQuery = (
        made(feed)
        .writeStream.format("parquet")
        .option("path", str(out))
        .option("checkpointLocation", str(own))
        .outputMode("append")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    taken = [progress["durationMs"]["addBatch"] / 1e3 for progress in query.recentProgress if progress["numInputRows"]]
    return median(taken[1:]), session.read.parquet(str(out)).count()


def _by_bucket(feed: DataFrame) -> DataFrame:
    return outputs_of(feed, events_task(feed_accumulator(feed.sparkSession.sparkContext)), EVENTS_DDL)


def _by_object(feed: DataFrame) -> DataFrame:
    from pyspark.sql import functions as sf

    parsed = feed.select(sf.from_json(sf.col("message").cast("string"), _MESSAGE_DDL).alias("m")).select("m.*")
    with own_interpreter(feed.sparkSession.sparkContext):
        return (
            parsed.filter("k IS NOT NULL")
            .groupBy("k")
            .applyInPandasWithState(
                object_task,
                "key STRING, event STRING",
                "inside BOOLEAN, offset BIGINT, time BIGINT",
                "append",
                GroupStateTimeout.NoTimeout,
            )
        )


def object_task(group: Any, frames: Iterable[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    """Emit the enter and exit events of one object, as a simple Spark program would do. The events have no position,
    and dwell and lost events are not supported.
    """
    inside, last, newest = state.get if state.exists else (False, -1, -1)
    rows = pd.concat(list(frames)).sort_values("o")
    events = []
    for offset, time_us, selections in zip(rows["o"], rows["e"], rows["s"], strict=True):
        if offset <= last or time_us < newest:
            continue
        last, newest = int(offset), int(time_us)
        if (len(selections) > 0) != inside:
            inside = not inside
            events.append("enter" if inside else "exit")
    state.update((inside, last, newest))
    if events:
        yield pd.DataFrame({"key": [group[0]] * len(events), "event": events})


def _in_python(batches: list[list[Observation]]) -> list[dict[str, Any]]:
    """Measure the microseconds per record in Python without Spark, for the broker's function and for a function that
    stores objects in a dictionary.

    The time of the broker's function includes decoding the messages, and reading and writing the state. The time of the
    dictionary includes neither, and the dictionary supports only enter and exit.
    """
    texts = [[each.text().encode() for each in batch] for batch in batches]
    records = sum(map(len, batches[1:]))
    bucket = Bucket()
    list(bucket.events([_SETTINGS]))
    list(bucket.read(texts[0]))
    start_s = time.process_time()
    for own in texts[1:]:
        bucket = Bucket.of_bytes(bucket.to_bytes())
        list(bucket.read(own))
    bucket_s = time.process_time() - start_s
    objects: dict[str | None, tuple[bool, int, int]] = {}
    plain_s = 0.0
    for batch in batches:
        start_s = time.process_time()
        for each in batch:
            _, last, newest = objects.get(each.key, (False, -1, -1))
            if each.offset > last and each.time_us is not None and each.time_us >= newest:
                objects[each.key] = (bool(each.selections), each.offset, each.time_us)
        plain_s = plain_s + time.process_time() - start_s if batch is not batches[0] else 0.0
    taken = {"by part": bucket_s, "by object": plain_s}
    return [{"way": method, "us_a_record": round(seconds / records * 1e6, 3)} for method, seconds in taken.items()]
