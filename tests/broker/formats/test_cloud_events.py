"""CloudEvents become attributes and data, or have a reason, on a real Spark session."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from datetime import datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from asc.errors import SchemaError
from asc.schema import Schema
from broker.config.streams import StreamConfig
from broker.formats.cloud_events import data_fields
from broker.formats.decoder import ERROR, KAFKA_FIELDS, RECORD
from broker.formats.schema_registry import SchemaRegistry
from tests.broker.formats.test_avro_decoder import body, framed, record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.broker.formats.conftest import RegistryServer

pytestmark = pytest.mark.spark

KAFKA_DDL = ", ".join(f"{name} {kind}" for name, kind in KAFKA_FIELDS)
SCHEMA = "ce_type STRING, ce_time TIMESTAMP, ce_traceid BIGINT, price DECIMAL(20,2), place STRUCT<city: STRING>"
NOW = datetime(2018, 4, 5, 17, 31, tzinfo=timezone.utc)
HEADERS = {"ce_specversion": "1.0", "ce_id": "1", "ce_source": "/s", "ce_type": "t.made"}
STRUCTURED = {"content-type": "application/cloudevents+json; charset=UTF-8"}
EVENT = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t.made", "time": "2018-04-05T17:31:00Z"}
DATA = b'{"price": 123456789012345678.10, "place": {"city": "Oslo"}}'
READ = (Decimal("123456789012345678.10"), {"city": "Oslo"})
MALFORMED = "value is not a CloudEvent"
NEITHER = f"{MALFORMED}: it has no header ce_specversion, nor the content type application/cloudevents+json"
NO_OBJECT = f"{MALFORMED}: it is no JSON object, or not whole"
NO_DATA = "value is not a JSON record of the stream's schema"


def structured(data: bytes, **more: Any) -> bytes:
    members = json.dumps({**EVENT, **more})
    return members[:-1].encode() + b', "data": ' + data + b"}"


NO_DATA_AT_ALL: list[tuple[bytes | None, dict[str, str]]] = [
    (None, HEADERS),
    (b"", HEADERS),
    (json.dumps(EVENT).encode(), STRUCTURED),
]


CASES: dict[str, tuple[bytes | None, dict[str, str], Any]] = {
    "binary": (DATA, {**HEADERS, "ce_time": "2018-04-05T17:31:00Z", "ce_traceid": "7"}, ("t.made", NOW, 7, *READ)),
    "binary, names in capitals": (DATA, {"CE_SpecVersion": "1.0", "CE_Type": "x"}, ("x", None, None, *READ)),
    "binary, a time that is none": (
        DATA,
        {**HEADERS, "ce_time": "soon"},
        f"{MALFORMED}: column 'ce_time' holds no TIMESTAMP",
    ),
    "binary, data that is none": (b"[]", HEADERS, f"{NO_DATA}: it is no JSON object, or not whole"),
    "binary, no data": (None, HEADERS, ("t.made", None, None, None, None)),
    "binary, empty data": (b"", {**HEADERS, "ce_traceid": "7"}, ("t.made", None, 7, None, None)),
    "binary, no data, a time that is none": (
        None,
        {**HEADERS, "ce_time": "soon"},
        f"{MALFORMED}: column 'ce_time' holds no TIMESTAMP",
    ),
    "structured, no data": (json.dumps(EVENT).encode(), STRUCTURED, ("t.made", NOW, None, None, None)),
    "structured, data of null": (structured(b"null"), STRUCTURED, ("t.made", NOW, None, None, None)),
    "structured, nothing": (None, STRUCTURED, NO_OBJECT),
    "structured": (structured(DATA, traceid=7), STRUCTURED, ("t.made", NOW, 7, *READ)),
    "structured, in base64": (
        json.dumps({**EVENT, "data_base64": base64.b64encode(DATA).decode()}).encode(),
        STRUCTURED,
        ("t.made", NOW, None, *READ),
    ),
    "structured, base64 that is none": (
        json.dumps({**EVENT, "data_base64": "%"}).encode(),
        STRUCTURED,
        "value is null",
    ),
    "structured, wrong data": (
        structured(b'{"price": "x"}'),
        STRUCTURED,
        f"{NO_DATA}: column 'price' holds no DECIMAL(20,2)",
    ),
    "structured, no version": (DATA, STRUCTURED, f"{MALFORMED}: it has no member specversion"),
    "structured, no object": (b"[1]", STRUCTURED, NO_OBJECT),
    "structured, cut": (structured(DATA)[:-3], STRUCTURED, NO_OBJECT),
    "structured, no text": (b"\xff", STRUCTURED, NO_OBJECT),
    "none": (DATA, {"content-type": "application/json"}, NEITHER),
    "a batch": (b"[]", {"content-type": "application/cloudevents-batch+json"}, NEITHER),
}


def decoded(spark: SparkSession, decoder: Any, records: Sequence[tuple[bytes | None, dict[str, str]]]) -> list[Any]:
    rows = [
        (
            None,
            None if value is None else bytearray(value),
            "t",
            0,
            place,
            None,
            0,
            [(k, v.encode()) for k, v in headers.items()],
        )
        for place, (value, headers) in enumerate(records)
    ]
    frame = spark.createDataFrame(rows, KAFKA_DDL)
    names = [field.name for field in decoder.fields.arrow]
    known = decoder.for_records(frame)
    table = known.decode(frame).orderBy("_offset").select(ERROR, f"{RECORD}.value", *names).toArrow().to_pylist()
    # What is delivered is the record as it came.
    assert [row.pop("value") for row in table] == [value for value, _ in records]
    assert {row[ERROR] for row in table} <= {None, *(reason.text for reason in decoder.reasons)}
    return [row[ERROR] or tuple(row[name] for name in names) for row in table]


def test_both_modes_in_one_topic(spark: SparkSession) -> None:
    settings = {"topic": "t", "format": "json", "schema": SCHEMA, "options": {"cloudevents": True}}
    stream = StreamConfig.model_validate(settings)
    assert not list(stream.faults("streams.s"))
    decoder = stream.decoder(stream.fields(), "UTC")
    found = decoded(spark, decoder, [(value, headers) for value, headers, _ in CASES.values()])
    assert dict(zip(CASES, found, strict=True)) == {case: expected for case, (_, _, expected) in CASES.items()}


def test_data_of_other_formats(spark: SparkSession, registry_server: RegistryServer) -> None:
    settings = {"topic": "t", "schema": "ce_type STRING, a INT, b STRING", "options": {"cloudevents": "true"}}
    csv = StreamConfig.model_validate({**settings, "format": "csv"})
    records = [(b"5,x", HEADERS), (structured(b'"6,\\"y\\""'), STRUCTURED)]
    found = decoded(spark, csv.decoder(csv.fields(), "UTC"), [*records, *NO_DATA_AT_ALL])
    assert found == [("t.made", 5, "x"), ("t.made", 6, "y"), *[("t.made", None, None)] * 3]
    avro = StreamConfig.model_validate({**settings, "format": "avro"})
    schema = record(("a", "int"), ("b", "string"))
    value = framed(registry_server.register(schema), body(schema, {"a": 7, "b": "z"}))
    events = [
        (value, HEADERS),
        (json.dumps({**EVENT, "data_base64": base64.b64encode(value).decode()}).encode(), STRUCTURED),
    ]
    decoder = avro.decoder(avro.fields(), "UTC", SchemaRegistry((registry_server.url,)))
    found = decoded(spark, decoder, [*events, *NO_DATA_AT_ALL])
    assert found == [*[("t.made", 7, "z")] * 2, *[("t.made", None, None)] * 3]


def test_the_type_of_the_data_is_in_a_header_of_its_own(spark: SparkSession) -> None:
    settings = {"topic": "t", "format": "json", "options": {"cloudevents": "true"}}
    stream = StreamConfig.model_validate({**settings, "schema": "ce_datacontenttype STRING, price INT"})
    records = [
        (b'{"price": 1}', {**HEADERS, "content-type": "application/json"}),
        (structured(b'{"price": 2}', datacontenttype="text/json"), STRUCTURED),
        (b'{"price": 3}', HEADERS),
    ]
    expected = [("application/json", 1), ("text/json", 2), (None, 3)]
    assert decoded(spark, stream.decoder(stream.fields(), "UTC"), records) == expected


def test_events_without_data_are_no_stream() -> None:
    with pytest.raises(SchemaError, match="needs a field of the events' data"):
        data_fields(Schema.from_ddl("ce_type STRING"))
