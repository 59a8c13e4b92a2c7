"""The prepared way of a batch: decode, match and route, the same for every frame of records."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from asc.plan.compiler import compile_plan
from asc.plan.plan import Query
from asc.predicate import normalise
from broker.config.streams import StreamConfig
from broker.matching.shipped_plan import ShippedPlan
from broker.matching.tally import Tallying, tally_accumulator
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


def records(spark: SparkSession, *values: bytes) -> DataFrame:
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
    tallying = Tallying(tally_accumulator(spark.sparkContext, 0), 1, None, counts_dead_letters=True)
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
