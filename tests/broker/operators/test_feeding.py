"""The feed of a stream: an observation for each record and track, beside what is routed, on a real Spark session."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from asc.operators.feed import KINDS, EventQuery, NearQuery, Observation, parse
from broker.config.streams import StreamConfig
from broker.matching.matches_text import AFTER_TOPIC, BETWEEN_IDS, BETWEEN_TOPICS
from broker.matching.tally import NO_TIME
from broker.operators.fed_destination import FedDestination, Track, target_of
from broker.operators.feeding import BUCKETS, Feeding
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
PLAIN = Track("CAST(k AS STRING)", "unix_micros(_timestamp)")
PLACED = Track("upper(k)", "unix_micros(t)", ("CAST((x) AS DOUBLE)", "CAST((y) AS DOUBLE)"))


NEAR = Track("k", "unix_micros(t)", PLACED.position, (("z", "z"), ("t", "unix_micros(t)")))


def destination(query_id: str, track: Track) -> FedDestination:
    topic = f"to-{query_id}"
    if track.carried is None:
        return FedDestination("asc.feed.s", track, EventQuery(query_id, topic, track.name, KINDS, 0, 1))
    return FedDestination("asc.feed.s", track, NearQuery(query_id, topic, track.name, ("pair",), 5.0, 30, 10))


def test_the_feed_of_a_plan_is_of_its_queries() -> None:
    assert Feeding.of([], 1) is None
    feed = Feeding.of([destination("q", PLAIN), destination("p", PLACED), destination("r", PLAIN)], 60)
    assert feed is not None
    assert (feed.feed_topic, {*feed.tracks}, feed.max_future_s) == ("asc.feed.s", {PLAIN, PLACED}, 60)
    assert [track.name for track in feed.tracks] == sorted(track.name for track in feed.tracks)


def test_every_record_is_observed_by_every_track(spark: SparkSession) -> None:
    stream = StreamConfig.model_validate(
        {"topic": "t", "format": "json", "schema": "k STRING, t TIMESTAMP, x INT, y INT, z DOUBLE"}
    )
    values: list[dict[str, Any]] = [
        {"k": "a", "t": "2026-01-01T00:00:10Z", "x": 1, "y": 2, "z": 0.1},
        {"k": "a", "t": "2026-01-01T00:01:00.000001Z", "x": 1, "y": 2},
        {"x": 3},
    ]
    texts = [*(json.dumps(value).encode() for value in values), b"no record"]
    rows = [(b"key", text, "t", 3, offset, STAMP, 0, [("h", b"x" * 5_000)]) for offset, text in enumerate(texts)]
    queries = [destination("q", PLAIN), destination("p", PLACED), destination("o", NEAR)]
    feed = Feeding.of(queries, 60) or pytest.fail("no feed")
    frame = stream.decoder(stream.fields(), "UTC").decode(spark.createDataFrame(rows, KAFKA_DDL))
    accepted = BETWEEN_TOPICS.join(
        (
            f"out{AFTER_TOPIC}r",
            f"{target_of('asc.feed.s', PLACED.name)}{AFTER_TOPIC}p{BETWEEN_IDS}q",
            f"{target_of('asc.feed.s', NEAR.name)}{AFTER_TOPIC}o",
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
    assert all(each.key is None and each.headers == [] and 0 <= each.partition < BUCKETS for each in fed)
    observed = [parse(bytes(each.value)) for each in fed]
    placed, plain = PLACED.name, PLAIN.name
    assert sorted(observed, key=str) == sorted(
        [
            Observation(placed, "A", AT_US + 10_000_000, (1.0, 2.0), 3, 0, ("p", "q")),
            Observation(plain, "a", AT_US, (), 3, 0),
            Observation(placed, "A", None, (1.0, 2.0), 3, 1, is_ahead=True),
            Observation(plain, "a", AT_US, (), 3, 1),
            Observation(placed, None, None, (3.0, None), 3, 2),
            Observation(plain, None, AT_US, (), 3, 2),
            # What a near query does not accept is none of its.
            Observation(
                *(NEAR.name, "a", AT_US + 10_000_000, (1.0, 2.0), 3, 0, ("o",)),
                carried=f'{{"z":0.1,"t":{AT_US + 10_000_000}}}',
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
    own = [feed.tracks.index(PLACED), feed.tracks.index(PLAIN)]
    told = [[partition, *(at[place] for place in own)] for partition, *at in (row.values() for row in times)]
    assert told == [[3, AT_US + 10_000_000, AT_US], [3, NO_TIME, AT_US], [3, NO_TIME, AT_US], [3, NO_TIME, NO_TIME]]
