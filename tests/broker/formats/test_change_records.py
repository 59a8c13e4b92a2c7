"""Debezium's change records: with and without their envelope, and tombstones, on a real Spark session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from broker.config.streams import StreamConfig
from broker.formats.decoder import ERROR, KAFKA_FIELDS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

KAFKA_DDL = ", ".join(f"{name} {kind}" for name, kind in KAFKA_FIELDS)
ROW = "STRUCT<id: BIGINT, email: STRING, balance: DECIMAL(12,2)>"
SCHEMA = f"before {ROW}, after {ROW}, op STRING, ts_ms BIGINT, source STRUCT<table: STRING, snapshot: STRING>"
MALFORMED = "value is not a JSON record of the stream's schema"
HINT = "; where Debezium writes it, set decimal.handling.mode=string there"


def change(op: str, before: Any, after: Any) -> dict[str, Any]:
    source = {"version": "3.0.0.Final", "connector": "postgresql", "table": "customers", "snapshot": "false"}
    return {"before": before, "after": after, "source": source, "op": op, "ts_ms": 1700000000000, "transaction": None}


ANN, RICH = {"id": 1, "email": "a@x", "balance": 1.10}, {"id": 1, "email": "a@x", "balance": 1000.25}
CHANGES = [change("c", None, ANN), change("u", ANN, RICH), change("d", RICH, None)]
WHERES = {
    "after.balance > 1000": [1],
    "op = 'd' AND before.id = 1": [2],
    "before.balance < after.balance": [1],
    "source.table = 'customers'": [0, 1, 2],
    "op IS NULL": [3],
}


def matched(spark: SparkSession, values: list[bytes | None], **options: str) -> tuple[dict[str, list[int]], list[Any]]:
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": SCHEMA, "options": options})
    assert not list(stream.faults("streams.s"))
    rows = [(None, value and bytearray(value), "t", 0, place, None, 0, None) for place, value in enumerate(values)]
    frame = stream.decoder(stream.fields(), "UTC").decode(spark.createDataFrame(rows, KAFKA_DDL)).cache()
    found = {
        where: sorted(row["_offset"] for row in frame.filter(f"{ERROR} IS NULL AND ({where})").collect())
        for where in WHERES
    }
    errors = [row[ERROR] for row in frame.orderBy("_offset").collect()]
    assert {*errors} <= {None, *(reason.text for reason in stream.decoder(stream.fields(), "UTC").reasons)}
    return found, errors


def values(*, envelope: bool) -> list[bytes | None]:
    wrapped = [{"schema": {"type": "struct", "fields": []}, "payload": each} if envelope else each for each in CHANGES]
    return [*(json.dumps(each).encode() for each in wrapped), None]


@pytest.mark.parametrize("envelope", [False, True], ids=["bare", "envelope"])
def test_predicates_see_what_changed(envelope: bool, spark: SparkSession) -> None:
    options = {"tombstones": "record", **({"envelope": "payload"} if envelope else {})}
    found, errors = matched(spark, values(envelope=envelope), **options)
    assert found == WHERES
    assert errors == [None] * 4


def test_tombstones_are_dead_letters_unless_they_are_asked_for(spark: SparkSession) -> None:
    found, errors = matched(spark, values(envelope=False))
    assert found == {**WHERES, "op IS NULL": []}
    assert errors == [None, None, None, "value is null"]


def test_what_is_wrong_in_an_envelope_has_its_column(spark: SparkSession) -> None:
    wrong: list[bytes | None] = [
        b'{"payload": {"op": "c", "ts_ms": "soon"}}',
        b'{"payload": {"op": "c", "after": {"id": "x"}}}',
        b'{"payload": {"op": "c", "after": {"id": 1, "email": "a@x", "balance": "AcM="}}}',
        b'{"payload": {"op": "c", "after": {"id": 1, "balance": {"scale": 2, "value": "AcM="}}}}',
        b'{"payload": {"op": "c", "before": {"id": 1, "balance": "1,1 EUR"}, "after": {"id": "x"}}}',
        b'{"payload": {"op": "c", "after": "x"}}',
        b'{"payload": {"op": "c", "after": {"balance": 12345678901.5}}}',
        b'{"payload": null}',
        b'{"op": "c"}',
        b'{"payload": 5}',
        b'{"payload": {"op": "c"',
    ]
    _, errors = matched(spark, wrong, envelope="payload", tombstones="record")
    no_object = f"{MALFORMED}: it is no JSON object, or not whole"
    assert errors == [
        f"{MALFORMED}: column 'ts_ms' holds no BIGINT",
        f"{MALFORMED}: column 'after.id' holds no BIGINT",
        *[f"{MALFORMED}: column 'after.balance' holds no DECIMAL(12,2){HINT}"] * 2,
        f"{MALFORMED}: column 'before.balance' holds no DECIMAL(12,2)",
        f"{MALFORMED}: column 'after' holds no {ROW}",
        f"{MALFORMED}: column 'after.balance' holds no DECIMAL(12,2)",
        *[no_object] * 4,
    ]
