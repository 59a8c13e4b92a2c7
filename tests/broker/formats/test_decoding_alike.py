"""The job, a trace and a trial decode a record alike, in every format, envelope and mode of CloudEvents."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from asc.predicate.limits import Limits
from broker.config.sections import KafkaConfig
from broker.config.streams import StreamConfig
from broker.formats.decoder import ERROR
from broker.formats.record_attributes import attributes_of
from broker.formats.schema_registry import SchemaRegistry
from broker.kafka.client import KafkaClient
from broker.kafka.cluster import KafkaCluster
from broker.kafka.source_record import Place, record_at
from broker.stream.analyser import StreamAnalyser
from broker.stream.recent_records import RecentRecords
from tests.broker.formats.test_avro import message
from tests.broker.formats.test_avro_decoder import body, framed, record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from broker.kafka.embedded import EmbeddedKafka
    from tests.broker.formats.conftest import RegistryServer

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

ROWS: list[dict[str, Any]] = [{"a": 7, "b": "x"}, {"a": 1}, {"b": "Ø"}]
WHERE = "a > 5 OR b = 'Ø'"
BINARY = {"ce_specversion": "1.0", "ce_id": "1", "ce_source": "/s", "ce_type": "t"}
STRUCTURED = {"content-type": "application/cloudevents+json"}
EVENT = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}
PROTO = 'syntax = "proto3"; message R { optional int32 a = 1; optional string b = 2; }'
GATE = {("avro", "structured"), ("protobuf", "plain")}
"""The cases of every run; the others are nightly."""

Record = tuple[bytes | None, Mapping[str, str]]


def encoded(form: str, registry: RegistryServer) -> list[bytes]:
    """Return the rows in a format, and a value that is malformed in it."""
    if form == "csv":
        return [*(f"{row.get('a', '')},{row.get('b', '')}".encode() for row in ROWS), b"x,y,z,\xff"]
    if form == "avro":
        schema = record(("a", ["null", "int"]), ("b", ["null", "string"]))
        schema_id = registry.register(schema)
        whole = [{"a": None, "b": None, **row} for row in ROWS]
        return [*(framed(schema_id, body(schema, row)) for row in whole), framed(4711, b"x")]
    if form == "protobuf":
        schema_id = registry.register(PROTO, schemaType="PROTOBUF")
        return [*(framed(schema_id, b"\0" + message(PROTO, "R", row)) for row in ROWS), b"\1none"]
    if form == "envelope":
        return [*(json.dumps({"payload": row}).encode() for row in ROWS), b'{"payload": [1]}']
    return [*(json.dumps(row).encode() for row in ROWS), b"{"]


def event(value: bytes, form: str) -> bytes:
    """Return a value as the data of a structured CloudEvent."""
    if form in ("json", "envelope"):
        return json.dumps(EVENT)[:-1].encode() + b', "data": ' + value + b"}"
    return json.dumps({**EVENT, "data_base64": base64.b64encode(value).decode()}).encode()


def records_of(form: str, mode: str, registry: RegistryServer) -> list[Record]:
    values = encoded(form, registry)
    if mode == "plain":
        return [*((value, {}) for value in values), (None, {})]
    if mode == "binary":
        return [*((value, BINARY) for value in values), (None, BINARY), (values[0], {})]
    return [*((event(value, form), STRUCTURED) for value in values), (values[0], STRUCTURED), (values[0], {})]


def sent(client: KafkaClient, topic: str, records: Sequence[Record]) -> list[Place]:
    producer = client.producer()
    try:
        waiting = [
            producer.send(topic, value, key=b"k", headers=[(k, v.encode()) for k, v in headers.items()], partition=0)
            for value, headers in records
        ]
        producer.flush()
        return [Place(topic, 0, future.get(timeout=30).offset) for future in waiting]
    finally:
        producer.close()


@pytest.mark.parametrize(
    ("form", "mode"),
    [
        pytest.param(form, mode, marks=[] if (form, mode) in GATE else pytest.mark.nightly)
        for form in ("json", "envelope", "csv", "avro", "protobuf")
        for mode in ("plain", "binary", "structured")
    ],
)
def test_job_trace_and_trial_decode_alike(
    form: str, mode: str, spark: SparkSession, kafka: EmbeddedKafka, registry_server: RegistryServer
) -> None:
    options = {} if mode == "plain" else {"cloudevents": "true"}
    options |= {"envelope": "payload"} if form == "envelope" else {}
    topic = f"alike-{uuid.uuid4().hex[:12]}"
    settings = {"topic": topic, "format": "json" if form == "envelope" else form, "schema": "a INT, b STRING"}
    stream = StreamConfig.model_validate({**settings, "options": options})
    fields = stream.fields()
    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig())
    cluster.ensure_topics({topic})
    client = cluster.client
    places = sent(client, topic, records_of(form, mode, registry_server))

    def decoder() -> Any:
        return stream.decoder(fields, "UTC", SchemaRegistry((registry_server.url,)))

    source = {"kafka.bootstrap.servers": kafka.bootstrap_servers, "subscribe": topic, "includeHeaders": "true"}
    frame = spark.read.format("kafka").options(**source).load()
    decoded = decoder().for_records(frame).decode(frame)
    rows = decoded.orderBy("_offset").selectExpr(f"{ERROR} AS error", "a", "b", WHERE + " AS accepted").collect()
    by_job = [row["error"] or (row["a"], row["b"]) for row in rows]
    accepted = [row["_offset"] for row in decoded.filter(f"{ERROR} IS NULL AND ({WHERE})").collect()]

    attributes = attributes_of(fields)
    analyser = StreamAnalyser(spark, topic, decoder(), attributes, Limits())
    predicate = analyser.normalise(WHERE)
    by_trace = []
    for place in places:
        found = analyser.record_values(record_at(client, place, timeout_s=30, most_bytes=1 << 20), predicate.read)
        values = {attribute.sql: value for attribute, value in zip(predicate.read, found.values, strict=True)}
        by_trace.append(found.reason.text if found.reason else (values["a"].as_py(), values["b"].as_py()))
    analyser.close()
    assert by_trace == by_job
    # The rows themselves are decoded: to refuse all of them alike would agree as well.
    assert by_job[:3] == [(row.get("a"), row.get("b")) for row in ROWS]
    # An event without data is one, whose columns are NULL.
    without_data = [4] if mode == "binary" else []
    assert [place for place in range(4, len(places)) if not isinstance(by_job[place], str)] == without_data

    recent = RecentRecords(topic, spark, client, decoder())
    tried = recent.accepted(predicate, 100, 100)
    recent.close()
    assert (tried.records, tried.decoded) == (len(places), sum(not isinstance(one, str) for one in by_job))
    assert sorted(one.offset for one in tried.shown) == sorted(accepted) == [0, 2]
