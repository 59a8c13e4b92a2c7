"""Protobuf records become attributes by the schema that wrote each, or have a reason, on a real Spark session."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from broker.config.streams import StreamConfig
from broker.errors import SchemaRegistryError
from broker.formats.decoder import ERROR
from broker.formats.schema_registry import SchemaRegistry
from broker.stream.prepared_frame import PreparedFrame
from tests.broker.formats.test_avro_decoder import KAFKA_DDL, decoded, frame_of, framed
from tests.broker.formats.test_protobuf_reading import DESCRIBED, message_of
from tests.broker.formats.test_protobuf_schema import ALL

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.broker.formats.conftest import RegistryServer

pytestmark = pytest.mark.spark

MALFORMED = "value is not a PROTOBUF record of the stream's schema"
DAMAGED = f"{MALFORMED}: its bytes are damaged, or of another schema"
FIRST = b"\0"


def decoder_of(ddl: str, url: str, **options: str) -> Any:
    own = {"topic": "t", "format": "protobuf", "schema": ddl, "options": options}
    stream = StreamConfig.model_validate(own)
    return stream.decoder(stream.fields(), "UTC", SchemaRegistry((url,), timeout_s=5))


def simple(*values: Any, registry: RegistryServer) -> tuple[int, list[bytes]]:
    number = registry.register(ALL, "all", schemaType="PROTOBUF")
    return number, [message_of(DESCRIBED, None, **each).SerializeToString() for each in values]


def test_records_are_read_by_their_schemas(spark: SparkSession, registry_server: RegistryServer) -> None:
    number, (one, over) = simple({"i": 5, "s": "x"}, {"i": 1 << 30}, registry=registry_server)
    newer = registry_server.register(
        'syntax = "proto3"; message R { string s = 1; int32 more = 2; }', "n", schemaType="PROTOBUF"
    )
    avro = registry_server.register({"type": "record", "name": "R", "fields": []}, "a")
    values: Sequence[bytes | None] = [
        framed(number, FIRST + one),
        framed(newer, FIRST + b"\x0a\x01y\x10\x07"),
        framed(number, bytes([2, 18]) + one),
        framed(number, FIRST + over),
        framed(number, FIRST + b"\x0a"),
        framed(999, FIRST + one),
        framed(avro, FIRST + one),
        b"\1" + one,
        b"\0\0",
        None,
    ]
    assert decoded(spark, decoder_of("i SMALLINT, s STRING", registry_server.url), values) == [
        (5, "x"),
        (None, "y"),
        "value names a message that its schema does not have",
        f"{MALFORMED}: column 'i' holds no SMALLINT",
        DAMAGED,
        "value names a schema that the registry does not have",
        "value names a schema that cannot be read",
        "value does not begin with the zero byte before a schema's id",
        "value has fewer than the 5 bytes that name a schema",
        "value is null",
    ]


def test_every_type_crosses_to_spark_as_it_is(
    spark: SparkSession, registry_server: RegistryServer, tmp_path: Path
) -> None:
    full = message_of(DESCRIBED, None, b=True, i=-1, l=1 << 40, u=(1 << 32) - 1, f=(1 << 64) - 1, x=0.5)
    full.y, full.s, full.raw, full.kind = float("nan"), "Zürich 🚀", b"\xff\0", 1
    full.at.seconds, full.at.nanos, full.maybe.value = -1, 999_999_999, 0
    full.leg.dest = "SFO"
    full.legs.add(hops=[float("inf"), -0.0])
    full.counts["a"] = 7
    file = tmp_path / "all.proto"
    file.write_text(ALL, encoding="utf-8")
    own = {"topic": "t", "format": "protobuf", "schema_file": file, "options": {"framing": "none"}}
    stream = StreamConfig.model_validate(own)
    bare = stream.decoder(stream.fields(), "UTC")
    empty, found = decoded(spark, bare, [b"", full.SerializeToString()])
    assert str(found[6]) == "nan"
    assert (*found[:6], *found[7:]) == (
        *(True, -1, 1 << 40, (1 << 32) - 1, Decimal((1 << 64) - 1), 0.5, "Zürich 🚀", b"\xff\0", "PASSENGER"),
        *(datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=timezone.utc), 0, {"dest": "SFO", "hops": []}),
        *([{"dest": "", "hops": [float("inf"), -0.0]}], [("a", 7)], None, None),
    )
    assert empty == (*(False, 0, 0, 0, Decimal(0), 0.0, 0.0, "", b"", "NONE", None, None, None, [], [], None, None),)


def test_no_record_is_lost_while_the_registry_does_not_answer(
    spark: SparkSession, registry_server: RegistryServer
) -> None:
    number, (one,) = simple({"i": 5}, registry=registry_server)
    decoder = decoder_of("i INT", registry_server.url)
    registry_server.broken = 500
    with pytest.raises(SchemaRegistryError):
        decoded(spark, decoder, [framed(number, FIRST + one)])
    registry_server.broken = None
    assert decoded(spark, decoder, [framed(number, FIRST + one)]) == [(5,)]


def test_a_tombstone_is_a_record_where_it_is_asked_for(spark: SparkSession, registry_server: RegistryServer) -> None:
    number, (one,) = simple({"i": 5}, registry=registry_server)
    decoder = decoder_of("i INT", registry_server.url, tombstones="record")
    assert decoded(spark, decoder, [None, framed(number, FIRST + one)]) == [(None,), (5,)]


def test_the_data_of_a_cloud_event(spark: SparkSession, registry_server: RegistryServer) -> None:
    number, (one,) = simple({"i": 5}, registry=registry_server)
    decoder = decoder_of("ce_type STRING, i INT", registry_server.url, cloudevents="true")
    headers = [("ce_specversion", bytearray(b"1.0")), ("ce_type", bytearray(b"flight.late"))]
    value = bytearray(framed(number, FIRST + one))
    records = spark.createDataFrame([(None, value, "t", 0, 0, None, 0, headers)], KAFKA_DDL)
    rows = decoder.for_records(records).decode(records).select("ce_type", "i", ERROR).collect()
    assert [tuple(row) for row in rows] == [("flight.late", 5, None)]


def test_it_is_planned_once_for_all_batches(spark: SparkSession, registry_server: RegistryServer) -> None:
    number, values = simple({"i": 1}, {"i": 2}, registry=registry_server)
    records = frame_of(spark, [framed(number, FIRST + values[0])])
    decoder = decoder_of("i INT", registry_server.url).for_records(records)
    prepared = PreparedFrame.of(records, lambda frame: decoder.decode(frame).select("i", ERROR))
    other = frame_of(spark, [framed(number, FIRST + values[1]), b""])
    rows = [tuple(row) for row in prepared.over(other).collect()]
    assert rows == [(2, None), (None, "value has fewer than the 5 bytes that name a schema")]
