"""The points of each time window of DBSCAN queries are those of Spark's ``window``."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from functools import reduce
from typing import TYPE_CHECKING

import pytest

from asc.operators.dbscan.dbscan_query import DbscanQuery
from asc.operators.times import time_text
from tests.asc.operators.dbscan.model import Record, feed, query, run, texts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

S = 1_000_000
SCHEDULES = [(10, 4), (9, 5), (6 * S, 2 * S), (7 * S, 7 * S), (600 * S, 60 * S), (86_400 * S, 7_200 * S), (20, 1)]
"""Windows and slides in microseconds: those of the paper's example, one of no overlap, and the longest. Spark makes a
projection for each slide of a window, and compiles a thousand of them for minutes.
"""

BEGINS = {"present": 1_533_100_800 * S, "before 1970": -3 * S}

Windows = dict[tuple[str, str, str], set[int]]


@pytest.mark.parametrize("begin", BEGINS)
def test_windows_hold_what_those_of_spark_hold(spark: SparkSession, full_size: bool, begin: str) -> None:
    picks = random.Random(begin)
    schedules = list(SCHEDULES)
    if full_size:
        slides = [picks.choice([picks.randint(1, 50), picks.randint(1, 3_600 * S)]) for _ in range(40)]
        schedules += [(picks.randint(slide, min(slide * 20, 86_400 * S)), slide) for slide in slides]
    records = dict[str, list[Record]]()
    queries = list[DbscanQuery]()
    for number, (window, slide) in enumerate(schedules):
        name = f"q{number}"
        times = times_around(picks, BEGINS[begin], window, slide, 400 if full_size else 25)
        # Of each query the records alone that its selection accepts.
        records[name] = [Record(time_us, (0.0, 0.0), (name,)) for time_us in times]
        more = {"selections": (name,), "min_samples": 1, "members": "all", "sample": 0, "eps": 1.0}
        queries.append(query(name, window=window, slide=slide, **more))
    ordered = sorted((one for own in records.values() for one in own), key=lambda one: one.time_us)
    placed = [Record(one.time_us, one.values, one.selections, offset) for offset, one in enumerate(ordered)]
    # The last record moves the watermark beyond all windows, and is in none of those that are final then.
    last = Record(placed[-1].time_us + 2 * 86_400 * S, (0.0, 0.0), ("none",), len(placed))
    found, empty = windows_of(queries, [*placed, last])
    wanted = spark_windows(spark, queries, placed)
    assert found == wanted
    assert empty.isdisjoint(wanted)
    assert len(wanted) > (1_000 if full_size else 200)


def times_around(picks: random.Random, begin_us: int, window: int, slide: int, count: int) -> list[int]:
    """Times of which most are at the begin or the end of a window, or a microsecond beside it."""
    found = []
    for _ in range(count):
        edge = (begin_us // slide + picks.randint(-3, 40)) * slide + picks.choice([0, window])
        found.append(edge + picks.choice([-1, 0, 1, picks.randrange(slide)]))
    return found


def windows_of(queries: list[DbscanQuery], records: list[Record]) -> tuple[Windows, set[tuple[str, str, str]]]:
    """The offsets of the points of each window, as its members tell them, and the windows that have none."""
    found: defaultdict[tuple[str, str, str], set[int]] = defaultdict(set)
    empty = set()
    for output in run(texts(feed([records], 0, *queries, limit=1_000_000))):
        value = json.loads(output.value)
        window = (value["query"], *value["window"])
        if value["record"] == "member":
            found[window].add(int(value["source"].rpartition("-")[2]))
        elif value["record"] == "window":
            assert value["points"] == len(found.get(window, ()))
            if not value["points"]:
                empty.add(window)
    return dict(found), empty


def spark_windows(spark: SparkSession, queries: list[DbscanQuery], records: list[Record]) -> Windows:
    """The offsets that Spark has in each window."""
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as sf

    rows = [(one.selections[0], one.time_us, one.offset) for one in records]
    frame = spark.createDataFrame(rows, "query STRING, us BIGINT, offset BIGINT")
    each = [
        frame.filter(sf.col("query") == own.id)
        .withColumn("w", sf.window(sf.timestamp_micros("us"), *(f"{n} microseconds" for n in (own.window, own.slide))))
        .select("query", sf.unix_micros("w.start").alias("begin"), sf.unix_micros("w.end").alias("end"), "offset")
        for own in queries
    ]
    found: defaultdict[tuple[str, str, str], set[int]] = defaultdict(set)
    for row in reduce(DataFrame.unionAll, each).collect():
        found[row["query"], time_text(row["begin"]), time_text(row["end"])].add(row["offset"])
    return dict(found)
