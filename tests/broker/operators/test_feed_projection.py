"""The feed of a stream: an observation for each record and track, beside what is routed, on a real Spark session."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from asc.operators.feed import Observation, QuerySettings, parse
from asc.operators.times import FIRST_US, LAST_US
from broker.config.streams import StreamConfig
from broker.matching.fold_task import Times
from broker.matching.matches_text import AFTER_TOPIC, BETWEEN_IDS, BETWEEN_TOPICS
from broker.matching.tally import NO_TIME
from broker.operators.feed_destination import FeedDestination, Track
from broker.operators.feed_part import PARTS, part_of
from broker.operators.feed_projection import FeedProjection, target_of
from broker.operators.outgoing import outgoing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

KAFKA_DDL = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, timestampType INT, "
    "headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
)
STAMP = datetime(2026, 1, 1, tzinfo=timezone.utc)
AT_US = round(STAMP.timestamp() * 1_000_000)
PLAIN = Track("7f", "events", "CAST(k AS STRING)", "unix_micros(_timestamp)", (), None, observes_all=True, by_key=True)
PLACED = Track(
    *("1a", "events", "upper(k)", "unix_micros(t)", ("CAST((x) AS DOUBLE)", "CAST((y) AS DOUBLE)"), None),
    observes_all=True,
    by_key=True,
)
NEAR = Track(
    *("n3", "near", "k", "unix_micros(t)", PLACED.position, (("z", "z"), ("t", "unix_micros(t)"))),
    observes_all=False,
    by_key=False,
)


def destination(query_id: str, track: Track) -> FeedDestination:
    return FeedDestination(
        track, QuerySettings(query_id, f"to-{query_id}", track.name, track.time_name, (f"of-{query_id}",), {})
    )


def test_the_feed_of_a_plan_is_of_its_queries() -> None:
    assert FeedProjection.of([], "asc.feed.s", 1, "w7") is None
    feed = FeedProjection.of(
        [destination("q", PLAIN), destination("p", PLACED), destination("r", PLAIN)], "asc.feed.s", 60, "w7"
    )
    assert feed is not None
    assert feed.writer == "w7"
    assert (feed.feed_topic, feed.tracks, feed.max_future_s) == ("asc.feed.s", (PLACED, PLAIN), 60)
    assert feed.time_names == (PLACED.time_name, PLAIN.time_name)


def test_every_record_is_observed_by_every_track(spark: SparkSession) -> None:
    stream = StreamConfig.model_validate(
        {"topic": "t", "format": "json", "schema": "k STRING, t TIMESTAMP, x INT, y INT, z DOUBLE"}
    )
    values: list[dict[str, Any]] = [
        {"k": "a", "t": "2026-01-01T00:01:00Z", "x": 1, "y": 2, "z": 0.1},
        {"k": "a", "t": "2026-01-01T00:01:00.000001Z", "x": 1, "y": 2},
        {"x": 3},
    ]
    texts = [*(json.dumps(value).encode() for value in values), b"no record"]
    rows = [(b"key", text, "t", 3, offset, STAMP, 0, [("h", b"x" * 5_000)]) for offset, text in enumerate(texts)]
    queries = [destination("q", PLAIN), destination("p", PLACED), destination("o", NEAR)]
    feed = FeedProjection.of(queries, "asc.feed.s", max_future_s=60, writer="w7") or pytest.fail("no feed")
    frame = stream.decoder(stream.fields(), "UTC").decode(spark.createDataFrame(rows, KAFKA_DDL))
    accepted = BETWEEN_TOPICS.join(
        (
            f"out{AFTER_TOPIC}r",
            f"{target_of(PLACED)}{AFTER_TOPIC}p{BETWEEN_IDS}q",
            f"{target_of(NEAR)}{AFTER_TOPIC}o",
        )
    )
    frame = frame.select("*", *feed.columns).selectExpr("*", f"IF(_offset = 0, '{accepted}', NULL) AS d")
    times = frame.select(*feed.times()).toArrow().to_pylist()
    limits = {"out": 6_000, "dead": 10_000, "asc.feed.s": 1_000}
    written = frame
    for columns in outgoing("d", "dead", limits, (feed,), feed.names):
        written = written.select(*columns)
    found = written.collect()
    routed = [(each.topic, bytes(each.value), each.partition) for each in found if each.topic != "asc.feed.s"]
    assert routed == [("out", texts[0], None), ("dead", b"no record", None)]
    fed = [each for each in found if each.topic == "asc.feed.s"]
    assert all(json.loads(bytes(each.value))["w"] == "w7" for each in fed)
    assert all(each.headers == [] and 0 <= each.partition < PARTS for each in fed)
    observed = [message for each in fed for message in parse(bytes(each.value), bytes(each.key).decode(), id)]
    placed, plain = ("events", PLACED.name), ("events", PLAIN.name)
    assert sorted(observed, key=str) == sorted(
        [
            Observation(*placed, "A", AT_US + 60_000_000, (1.0, 2.0), 3, 0, ("p", "q")),
            Observation(*plain, "a", AT_US, (), 3, 0),
            Observation(*placed, "A", None, (1.0, 2.0), 3, 1, is_future=True),
            Observation(*plain, "a", AT_US, (), 3, 1),
            Observation(*placed, None, None, (3.0, None), 3, 2),
            Observation(*plain, None, AT_US, (), 3, 2),
            # What a near query does not accept is none of its.
            Observation(
                *("near", NEAR.name, "a", AT_US + 60_000_000, (1.0, 2.0), 3, 0, ("o",)),
                carried=f'{{"z":0.1,"t":{AT_US + 60_000_000}}}',
            ),
        ],
        key=str,
    )
    # An object stays in its bucket, and all of a near track are in one.
    buckets = {}
    for each, seen in zip(fed, observed, strict=True):
        assert isinstance(seen, Observation)
        key = seen.key if seen.track != NEAR.name else None
        assert buckets.setdefault((seen.track, key), each.partition) == each.partition
    assert buckets["n3", None] == part_of("n3")
    # Tracks with one time have one column.
    assert [list(row.values()) for row in times] == [
        [3, AT_US + 60_000_000, AT_US],
        [3, NO_TIME, AT_US],
        [3, NO_TIME, AT_US],
        [3, NO_TIME, NO_TIME],
    ]


def test_the_times_that_count_are_those_that_count_in_fold_tasks(spark: SparkSession) -> None:
    """One rule for both handoffs, also where the difference from the timestamp would wrap."""
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": "n BIGINT"})
    latest_us, far = AT_US + 60_000_000, 9 * 10**18
    usable = [FIRST_US, 0, latest_us]
    times = [None, -(2**63), -far, FIRST_US - 1, *usable, latest_us + 1, LAST_US, LAST_US + 1, far, 2**63 - 1]
    before_1970 = datetime(1969, 12, 31, 23, 59, 59, 999_000, tzinfo=timezone.utc)
    cases = [(time_us, stamp) for stamp in (STAMP, before_1970, None) for time_us in times]
    rows = [
        (b"key", json.dumps({"n": time_us}).encode(), "t", 3, offset, stamp, 0, [])
        for offset, (time_us, stamp) in enumerate(cases)
    ]
    feed = FeedProjection.of([destination("q", replace(PLAIN, key="'k'", time_us="n"))], "asc.feed.s", 60, "w7")
    assert feed is not None
    frame = stream.decoder(stream.fields(), "UTC").decode(spark.createDataFrame(rows, KAFKA_DDL))
    frame = frame.select("*", *feed.columns).orderBy("_offset")
    (name,) = feed.names
    found = frame.select(f"{name}.e", f"{name}.f", feed.times()[1].alias("time")).collect()
    stamps_ms = np.array([AT_US // 1_000 if stamp is STAMP else -1 for _, stamp in cases])
    wanted = Times.of(pa.array([time_us for time_us, _ in cases], pa.int64()), stamps_ms, 60_000_000)
    assert [row["e"] is not None for row in found] == wanted.is_usable.tolist()
    assert [row["f"] is True for row in found] == wanted.is_future.tolist()
    # Without a timestamp no time in range is too late.
    ranged = [*usable, latest_us + 1, LAST_US]
    assert [row["e"] for row in found if row["e"] is not None] == [*usable, *ranged, *ranged]
    assert [row["time"] for row in found] == [NO_TIME if row["e"] is None else row["e"] for row in found]


def test_a_record_that_no_query_accepts_goes_nowhere_beside_a_near_query(spark: SparkSession) -> None:
    stream = StreamConfig.model_validate(
        {"topic": "t", "format": "json", "schema": "k STRING, t TIMESTAMP, x INT, y INT, z DOUBLE"}
    )
    rows = [(b"key", b'{"k": "a"}', "t", 3, offset, STAMP, 0, []) for offset in range(2)]
    feed = FeedProjection.of([destination("o", NEAR)], "asc.feed.s", 60, "w7") or pytest.fail("no feed")
    frame = stream.decoder(stream.fields(), "UTC").decode(spark.createDataFrame(rows, KAFKA_DDL))
    accepted = f"{target_of(NEAR)}{AFTER_TOPIC}o"
    written = frame.select("*", *feed.columns).selectExpr("*", f"IF(_offset = 0, '{accepted}', NULL) AS d")
    for columns in outgoing("d", "dead", {"dead": 10_000, "asc.feed.s": 10_000}, (feed,), feed.names):
        written = written.select(*columns)
    assert [each.topic for each in written.collect()] == ["asc.feed.s"]


def test_keys_that_are_no_utf_8_are_none(spark: SparkSession) -> None:
    """JSON has no such bytes: each of them would become U+FFFD, and 128 objects one."""
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": "k STRING"})
    keys = [*(f"{byte:02X}" for byte in range(0x80, 0x100)), "C3A9", "61"]
    texts = [json.dumps({"k": key}).encode() for key in keys]
    rows = [(b"key", text, "t", 3, offset, STAMP, 0, []) for offset, text in enumerate(texts)]
    track = replace(PLAIN, key="CAST(unhex(k) AS STRING)")
    feed = FeedProjection.of([destination("q", track)], "asc.feed.s", 60, "w7") or pytest.fail("no feed")
    frame = stream.decoder(stream.fields(), "UTC").decode(spark.createDataFrame(rows, KAFKA_DDL))
    found = frame.select("_offset", *feed.columns).orderBy("_offset").select(f"{feed.names[0]}.k").collect()
    assert [row["k"] for row in found] == [*[None] * 128, "é", "a"]
