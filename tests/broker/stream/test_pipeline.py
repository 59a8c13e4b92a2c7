"""The prepared way of a batch: decode, match and route, the same for every frame of records."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from asc.plan.compiler import compile_plan
from asc.plan.plan import Plan, Query
from asc.predicate import normalise
from broker.config.streams import StreamConfig
from broker.matching.shipped_plan import ShippedPlan
from broker.matching.tally import Tally, Tallying, tally_accumulator
from broker.stream.pipeline import Pipeline

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

KAFKA_DDL = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, timestampType INT, "
    "headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
)


AT = datetime(2013, 1, 31, 8, 0, 5, 123_000, tzinfo=timezone.utc)
STAMP = ("asc-timestamp", b"1359619205123")


def records(spark: SparkSession, *values: bytes | None) -> DataFrame:
    rows = [(b"k", value, "in", 0, offset, AT, 0, None) for offset, value in enumerate(values)]
    return spark.createDataFrame(rows, KAFKA_DDL)


def written(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(
        (row.topic, bytes(row.value), [(key, bytes(value)) for key, value in row.headers]) for row in frame.collect()
    )


def test_one_pipeline_serves_every_batch_of_a_plan(spark: SparkSession) -> None:
    stream = StreamConfig.model_validate({"topic": "in", "format": "json", "schema": "n INT, s STRING"})
    decoder = stream.decoder(stream.fields(), "UTC")
    queries = {"big": ("n > 5", "out"), "long": ("length(s) > 2 AND n > 1", "out"), "zero": ("n = 0", "none")}
    plan = compile_plan(
        [Query(name, normalise(where, decoder.fields), topic) for name, (where, topic) in queries.items()]
    )
    empty = decoder.decode(records(spark, b"{}"))
    tallying = Tallying(tally_accumulator(spark.sparkContext, 0), 1, None, counts_records=True)
    pipeline = Pipeline.of(
        records(spark, b"{}"),
        decoder,
        ShippedPlan.of(empty, plan, counts_errors=True),
        tallying,
        dead_letter_topic="dead",
        limits=dict.fromkeys(("out", "none", "dead"), 10_000),
    )
    first = pipeline.outgoing(records(spark, b'{"n": 7, "s": "abc"}', b'{"n": 1}', b"?"))
    assert written(first) == [
        (
            "dead",
            b"?",
            [
                ("asc-error", b"value is not a JSON record of the stream's schema: it is no JSON object, or not whole"),
                ("asc-source", b"in-0-2"),
                STAMP,
            ],
        ),
        (
            "out",
            b'{"n": 7, "s": "abc"}',
            [("asc-query", b"big"), ("asc-query", b"long"), ("asc-source", b"in-0-0"), STAMP],
        ),
    ]
    second = pipeline.outgoing(records(spark, b'{"n": 0}', b'{"n": 2, "s": "abcd"}'))
    assert written(second) == [
        ("none", b'{"n": 0}', [("asc-query", b"zero"), ("asc-source", b"in-0-0"), STAMP]),
        ("out", b'{"n": 2, "s": "abcd"}', [("asc-query", b"long"), ("asc-source", b"in-0-1"), STAMP]),
    ]
    tally = tallying.accumulator.value
    assert tally is not None
    assert (tally.tuples, tally.accepted, sum(tally.dead_letters.values())) == (5, 3, 1)
    # Two queries took one record to one topic; the dead letter is none of what was accepted.
    assert (tally.written, by_id(plan, tally)) == (3, {"big": 1, "long": 2, "zero": 1})
    assert (set(tally.times.at_ms.tolist()), int(tally.times.counts.sum())) == ({1359619205123}, 5)


def test_a_dead_letter_is_counted_for_no_query(spark: SparkSession) -> None:
    stream = StreamConfig.model_validate({"topic": "in", "format": "json", "schema": "n INT, m INT"})
    decoder = stream.decoder(stream.fields(), "UTC")
    queries = {
        "gone": "n IS NULL",
        "every": "true",
        "fails": "n / 0 > 1 OR m = 1",
        "cast": "CAST('x' AS INT) + n IS NULL",
    }
    plan = compile_plan([Query(name, normalise(where, decoder.fields), "out") for name, where in queries.items()])
    values = [b'{"n": 7}', b'{"m": 1}', b'{"n": "twelve", "m": 1}', b"?", b""] * 2
    frame = records(spark, *values)
    tallying = Tallying(tally_accumulator(spark.sparkContext, 0), 1, None, counts_records=True)
    shipped = ShippedPlan.of(decoder.decode(frame), plan, counts_errors=True)
    limits = dict.fromkeys(("out", "dead"), 10_000)
    pipeline = Pipeline.of(frame, decoder, shipped, tallying, dead_letter_topic="dead", limits=limits)
    outgoing = written(pipeline.outgoing(frame))
    names = [value for topic, _, headers in outgoing if topic == "out" for key, value in headers if key == "asc-query"]
    tally = tallying.accumulator.value
    assert tally is not None
    assert by_id(plan, tally) == Counter(map(bytes.decode, names)) == {"gone": 2, "every": 4, "fails": 2, "cast": 4}
    # Nor as a record on which a query did not evaluate.
    assert tally.error_counts(plan) == {"fails": 2, "cast": 4}
    assert (tally.tuples, tally.accepted, tally.written, sum(tally.dead_letters.values())) == (10, 4, 4, 6)


def test_records_without_a_time_are_no_dead_letters_and_have_no_latency(spark: SparkSession) -> None:
    stream = StreamConfig.model_validate({"topic": "in", "format": "json", "schema": "n INT"})
    decoder = stream.decoder(stream.fields(), "UTC")
    plan = compile_plan([Query("big", normalise("n > 5", decoder.fields), "out")])
    tallying = Tallying(tally_accumulator(spark.sparkContext, 0), 1, None, counts_records=True)
    rows = [(b"k", value, "in", 0, 0, None, 0, None) for value in (b'{"n": 7}', b"?")]
    frame = spark.createDataFrame(rows, KAFKA_DDL)
    shipped = ShippedPlan.of(decoder.decode(frame), plan, counts_errors=True)
    limits = dict.fromkeys(("out", "dead"), 10_000)
    pipeline = Pipeline.of(frame, decoder, shipped, tallying, dead_letter_topic="dead", limits=limits)
    assert sorted(row.topic for row in pipeline.outgoing(frame).collect()) == ["dead", "out"]
    tally = tallying.accumulator.value
    assert tally is not None
    (number,) = tally.dead_letters
    assert decoder.reasons[number - 1].text.endswith("it is no JSON object, or not whole")
    assert (len(tally.times.at_ms), by_id(plan, tally)) == (0, {"big": 1})


def test_records_that_python_reads_go_the_same_way(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "r.proto"
    file.write_text('syntax = "proto3"; message R { sint32 n = 1; string s = 2; }')
    own = {"topic": "in", "format": "protobuf", "schema_file": file, "options": {"framing": "none"}}
    stream = StreamConfig.model_validate(own)
    decoder = stream.decoder(stream.fields(), "UTC")
    plans = [
        compile_plan([Query("big", normalise(where, decoder.fields), "out")])
        for where in ("n > 5 OR s = 'abc'", "n < 0 OR s = 'none'")
    ]
    big, small, damaged = b"\x08\x0e", b"\x08\x0d", b"\x08"
    frame = records(spark, big, small, damaged)
    tallying = Tallying(tally_accumulator(spark.sparkContext, 0), 1, None, counts_records=True)
    shipped = [ShippedPlan.of(decoder.decode(frame), plan, counts_errors=True) for plan in plans]
    limits = dict.fromkeys(("out", "dead"), 10_000)
    pipeline = Pipeline.of(frame, decoder, shipped[0], tallying, dead_letter_topic="dead", limits=limits)
    assert [row[:2] for row in written(pipeline.outgoing(frame))] == [("dead", damaged), ("out", big)]
    # Another plan takes the place of the first one, and nothing that of what reads the records.
    later = pipeline.with_plan(frame, shipped[1], tallying)
    assert [row[:2] for row in written(later.outgoing(frame))] == [("dead", damaged), ("out", small)]


def by_id(plan: Plan, tally: Tally) -> dict[str, int]:
    ids = plan.query_ids.take(pa.array(tally.by_query.ordinals)).to_pylist()
    return dict(zip(ids, tally.by_query.counts.tolist(), strict=True))
