"""Avro records become attributes by the schema that wrote each, or have a reason, on a real Spark session."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Sequence
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import fastavro
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from broker.config.streams import StreamConfig
from broker.errors import SchemaRegistryError
from broker.formats import framed_decoder
from broker.formats.avro_decoder import AvroDecoder
from broker.formats.avro_levels import LEVELS_MAX
from broker.formats.decoder import ERROR, KAFKA_FIELDS
from broker.formats.schema_registry import SchemaRegistry

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.broker.formats.conftest import RegistryServer

pytestmark = pytest.mark.spark

KAFKA_DDL = ", ".join(f"{name} {kind}" for name, kind in KAFKA_FIELDS)
MALFORMED = "value is not an AVRO record of the stream's schema"
DAMAGED = f"{MALFORMED}: its bytes are damaged, or of another schema"


def record(*fields: Any, name: str = "R") -> dict[str, Any]:
    found = [each if isinstance(each, dict) else {"name": each[0], "type": each[1]} for each in fields]
    return {"type": "record", "name": name, "namespace": "n", "fields": found}


def body(schema: Any, value: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    return out.getvalue()


def framed(schema_id: int, value: bytes) -> bytes:
    return b"\0" + struct.pack(">I", schema_id) + value


def decoder_of(ddl: str, url: str) -> AvroDecoder:
    stream = StreamConfig.model_validate({"topic": "t", "format": "avro", "schema": ddl})
    found = stream.decoder(stream.fields(), "UTC", SchemaRegistry((url,), timeout_s=5))
    assert isinstance(found, AvroDecoder)
    return found


def frame_of(spark: SparkSession, values: Sequence[bytes | None]) -> Any:
    rows = [
        (None, None if value is None else bytearray(value), "t", 0, place, None, 0, None)
        for place, value in enumerate(values)
    ]
    return spark.createDataFrame(rows, KAFKA_DDL)


def decoded(spark: SparkSession, decoder: Any, values: Sequence[bytes | None]) -> list[Any]:
    """Of each value its columns, or the reason why it has none."""
    records = frame_of(spark, values)
    known = decoder.for_records(records)
    names = [field.name for field in decoder.fields.arrow]
    rows = known.decode(records).orderBy("_offset").select(ERROR, *names).toArrow().to_pylist()
    assert all(row[ERROR] in {None, *(reason.text for reason in decoder.reasons)} for row in rows)
    return [row[ERROR] or tuple(row[name] for name in names) for row in rows]


def of_column(name: str, kind: str) -> str:
    return f"{MALFORMED}: column '{name}' holds no {kind}"


NOW = datetime(2024, 5, 6, 7, 8, 9, 123000, tzinfo=timezone.utc)
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 8, "scale": 2}
LONG = {"type": "long", "logicalType": "timestamp-millis"}
CASES: dict[str, tuple[str, Any, Any, Any]] = {
    "boolean": ("BOOLEAN", "boolean", True, True),
    "int": ("INT", "int", -(2**31), -(2**31)),
    "int as tinyint": ("TINYINT", "int", 127, 127),
    "int as tinyint, too large": ("TINYINT", "int", 128, None),
    "int as bigint": ("BIGINT", "int", 7, 7),
    "int as double": ("DOUBLE", "int", 7, 7.0),
    "int as decimal": ("DECIMAL(12,2)", "int", 7, Decimal("7.00")),
    "long": ("BIGINT", "long", -(2**63), -(2**63)),
    "long as int": ("INT", "long", 2**31 - 1, 2**31 - 1),
    "long as int, too large": ("INT", "long", 2**31, None),
    "long as decimal, too large": ("DECIMAL(5,2)", "long", 1000, None),
    "float": ("FLOAT", "float", 0.5, 0.5),
    "float as double": ("DOUBLE", "float", 0.5, 0.5),
    "double": ("DOUBLE", "double", 1e300, 1e300),
    "double as float": ("FLOAT", "double", 0.5, None),
    "string": ("STRING", "string", "bl\u00e5 \U0001f600", "bl\u00e5 \U0001f600"),
    "string of java": ("STRING", {"type": "string", "avro.java.string": "String"}, "x", "x"),
    "string as int": ("INT", "string", "5", None),
    "string as binary": ("BINARY", "string", "x", b"x"),
    "bytes": ("BINARY", "bytes", b"\xff\0", b"\xff\0"),
    "bytes as string": ("STRING", "bytes", b"abc", "abc"),
    "bytes as string, no text": ("STRING", "bytes", b"\xff", None),
    "enum": ("STRING", {"type": "enum", "name": "E", "symbols": ["UP", "DOWN"]}, "DOWN", "DOWN"),
    "fixed": ("BINARY", {"type": "fixed", "name": "F", "size": 2}, b"ab", b"ab"),
    "date": ("DATE", {"type": "int", "logicalType": "date"}, date(2024, 2, 29), date(2024, 2, 29)),
    "time": ("INT", {"type": "int", "logicalType": "time-millis"}, 5, 5),
    "millis": ("TIMESTAMP", LONG, NOW, NOW),
    "micros": ("TIMESTAMP", {"type": "long", "logicalType": "timestamp-micros"}, NOW, NOW),
    "millis as bigint": ("BIGINT", LONG, NOW, int(NOW.timestamp() * 1000)),
    "long as timestamp": ("TIMESTAMP", "long", 5, None),
    "decimal": (
        "DECIMAL(10,3)",
        DECIMAL,
        Decimal("-123456.78"),
        Decimal("-123456.780"),
    ),
    "decimal of no bytes": ("DECIMAL(10,2)", DECIMAL, b"", Decimal("0.00")),
    "decimal of more bytes than it needs": ("DECIMAL(10,2)", DECIMAL, b"\xff" * 70 + b"\x9c", Decimal("-1.00")),
    "decimals of no bytes in parts": (
        "ARRAY<STRUCT<d: DECIMAL(10,2)>>",
        {"type": "array", "items": record(("d", ["null", DECIMAL]), name="In")},
        [{"d": b""}, {"d": None}, {"d": b"\1"}],
        [{"d": Decimal("0.00")}, {"d": None}, {"d": Decimal("0.01")}],
    ),
    "decimal as text": (
        "STRING",
        DECIMAL,
        Decimal("0.65"),
        None,
    ),
    "decimal as bytes": (
        "BINARY",
        DECIMAL,
        Decimal("0.65"),
        None,
    ),
    "decimal, too large": (
        "DECIMAL(4,2)",
        DECIMAL,
        Decimal("123.45"),
        None,
    ),
    "decimal, fewer places": (
        "DECIMAL(10,1)",
        DECIMAL,
        Decimal("1.00"),
        None,
    ),
    "union": ("INT", ["null", "int"], 5, 5),
    "union of no null": ("INT", ["int"], 5, 5),
    "union, null": ("INT", ["int", "null"], None, ()),
    "union of others, null": ("INT", ["null", "string"], None, ()),
    "union of others": ("INT", ["null", "string"], "x", None),
    "union of int and long": ("BIGINT", ["int", "long"], 2**40, 2**40),
    "union of several": ("STRING", ["null", "int", "string"], "x", "x"),
    "union of several, another": ("STRING", ["null", "int", "string"], 5, None),
    "array": ("ARRAY<INT>", {"type": "array", "items": "int"}, [1, 2], [1, 2]),
    "array of others": ("ARRAY<TINYINT>", {"type": "array", "items": "int"}, [1, 2], [1, 2]),
    "array of others, too large": ("ARRAY<TINYINT>", {"type": "array", "items": "int"}, [1, 200], None),
    "array of arrays": (
        "ARRAY<ARRAY<BIGINT>>",
        {"type": "array", "items": {"type": "array", "items": "int"}},
        [[1], []],
        [[1], []],
    ),
    "map": ("MAP<STRING, DOUBLE>", {"type": "map", "values": "float"}, {"a": 0.5}, [("a", 0.5)]),
    "record": (
        "STRUCT<y: INT, x: BIGINT>",
        record(("x", "int"), ("z", "string"), name="In"),
        {"x": 1, "z": "z"},
        {"y": None, "x": 1},
    ),
    "record, null": ("STRUCT<x: INT>", ["null", record(("x", "int"), name="In")], None, ()),
    "record of nothing known": ("STRUCT<y: INT>", record(("x", "int"), name="In"), {"x": 1}, {"y": None}),
    "records in an array": (
        "ARRAY<STRUCT<x: TINYINT>>",
        {"type": "array", "items": record(("x", ["null", "int"]), name="In")},
        [{"x": 1}, {"x": None}],
        [{"x": 1}, {"x": None}],
    ),
}


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.nightly] if place % 3 else []) for place, case in enumerate(CASES)]
)
def test_each_type_of_avro_becomes_what_loses_nothing(
    case: str, spark: SparkSession, registry_server: RegistryServer
) -> None:
    ddl, written, value, expected = CASES[case]
    schema = record(("v", written), ("after", "int"))
    schema_id = registry_server.register(schema)
    values = [framed(schema_id, body(schema, {"v": value, "after": 9}))]
    (found,) = decoded(spark, decoder_of(f"v {ddl}, after INT", registry_server.url), values)
    assert found == (of_column("v", ddl) if expected is None else (None if expected == () else expected, 9))


def test_records_of_several_writers_are_read_by_name(spark: SparkSession, registry_server: RegistryServer) -> None:
    first = record(("a", "int"), ("b", "string"))
    second = record(("b", ["null", "string"]), ("new", "double"), ("a", "long"))
    ids = [registry_server.register(schema) for schema in (first, second)]
    other = registry_server.register(record(("a", "string")))
    same = registry_server.register(first)
    protobuf = registry_server.register('syntax = "proto3";', schemaType="PROTOBUF")
    values: list[bytes | None] = [
        framed(ids[0], body(first, {"a": 1, "b": "x"})),
        framed(ids[1], body(second, {"a": 2, "b": None, "new": 0.5})),
        framed(same, body(first, {"a": 3, "b": "z"})),
        framed(ids[1], body(second, {"a": 2**40, "b": None, "new": 0.5})),
        framed(other, body(record(("a", "string")), {"a": "x"})),
        framed(protobuf, b"\x08\x01"),
        framed(4711, b"\2\2x"),
        None,
        b"",
        b"\0\0\0",
        b'{"a": 1}',
        framed(ids[0], b""),
        framed(ids[0], body(first, {"a": 1, "b": "xyz"})[:-1]),
        framed(ids[0], b"\2\2\xff"),
    ]
    assert decoded(spark, decoder_of("a INT, b STRING, c DATE", registry_server.url), values) == [
        (1, "x", None),
        (2, None, None),
        (3, "z", None),
        of_column("a", "INT"),
        of_column("a", "INT"),
        "value names a schema that cannot be read",
        "value names a schema that the registry does not have",
        "value is null",
        "value has fewer than the 5 bytes that name a schema",
        "value has fewer than the 5 bytes that name a schema",
        "value does not begin with the zero byte before a schema's id",
        DAMAGED,
        DAMAGED,
        of_column("b", "STRING"),
    ]


def test_columns_that_a_writer_has_no_field_for_are_named_in_the_log(
    spark: SparkSession, registry_server: RegistryServer, caplog: pytest.LogCaptureFixture
) -> None:
    whole, dropped = record(("n", "int"), ("s", "string"), ("d", "double")), record(("n", "string"), ("s", "string"))
    first, second = (registry_server.register(schema) for schema in (whole, dropped))
    decoder = decoder_of("n INT, s STRING, d DOUBLE", registry_server.url)
    values = [
        framed(first, body(whole, {"n": 5, "s": "x", "d": 0.5})),
        framed(second, body(dropped, {"n": "5", "s": "x"})),
    ]
    with caplog.at_level("INFO", logger="asc.formats"):
        assert decoded(spark, decoder, values) == [(5, "x", 0.5), of_column("n", "INT")]
    assert [line.getMessage() for line in caplog.records if line.name == "asc.formats"] == [
        f"schema {first} is read",
        f"schema {second} is read, but for columns n; it has no field for columns d: they are NULL",
    ]


def test_a_schema_is_asked_for_once(spark: SparkSession, registry_server: RegistryServer) -> None:
    schema = record(("a", "int"))
    schema_id = registry_server.register(schema)
    records = frame_of(spark, [framed(schema_id, body(schema, {"a": n})) for n in range(5)])
    known = decoder_of("a INT", registry_server.url).for_records(records)
    assert known.for_records(records) is known
    assert registry_server.asked == [f"/schemas/ids/{schema_id}"]


def test_where_the_registry_does_not_answer_nothing_is_judged(
    spark: SparkSession, registry_server: RegistryServer
) -> None:
    registry_server.broken = 503
    records = frame_of(spark, [framed(1, b"\2")])
    with pytest.raises(SchemaRegistryError, match="answers 503"):
        decoder_of("a INT", registry_server.url).for_records(records)


def test_writers_that_records_name_no_more_are_forgotten(
    spark: SparkSession, registry_server: RegistryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.formats.framed_decoder._WRITERS_MAX", 2)
    schemas = [record(("a", "int"), (f"b{number}", "int")) for number in range(3)]
    ids = [registry_server.register(schema) for schema in schemas]
    values = [framed(ids[n], body(schema, {"a": n, f"b{n}": 0})) for n, schema in enumerate(schemas)]
    decoder = decoder_of("a INT", registry_server.url).for_records(frame_of(spark, values[:2]))
    later = decoder.for_records(frame_of(spark, values[1:]))
    assert [sorted(writer.ids) for writer in later.writers] == [[ids[1]], [ids[2]]]
    unknown = "value names a schema that the registry does not have"
    assert decoded(spark, decoder_of("a INT", registry_server.url), values) == [(0,), (1,), unknown]


def test_names_without_a_space_are_not_taken_for_those_of_another(
    spark: SparkSession, registry_server: RegistryServer
) -> None:
    point = {"type": "record", "name": "P", "namespace": "other"}
    bare = {"type": "enum", "name": "E", "namespace": "", "symbols": ["X", "Y"]}
    own = {**bare, "name": "other.E", "symbols": ["Z"]}
    schema = {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "p", "type": {**point, "fields": [{"name": "e", "type": bare}, {"name": "o", "type": own}]}},
            {"name": "q", "type": "other.P"},
            {"name": "e", "type": "E"},
        ],
    }
    value = {"p": {"e": "Y", "o": "Z"}, "q": {"e": "X", "o": "Z"}, "e": "Y"}
    schema_id = registry_server.register(schema)
    decoder = decoder_of("q STRUCT<e: STRING, o: STRING>, e STRING, p STRUCT<e: STRING>", registry_server.url)
    (found,) = decoded(spark, decoder, [framed(schema_id, body(schema, value))])
    assert found == ({"e": "X", "o": "Z"}, "Y", {"e": "Y"})


OWN = record(
    {"name": "a", "type": "int", "aliases": ["old"]},
    {"name": "b", "type": "string", "default": "none"},
    {"name": "c", "type": ["null", "double"], "default": None},
    {"name": "d", "type": ["int", "null"], "default": 5},
)


def test_what_is_missing_takes_the_default_of_the_streams_own_schema(
    spark: SparkSession, registry_server: RegistryServer, tmp_path: Any
) -> None:
    (tmp_path / "own.avsc").write_text(json.dumps(OWN))
    settings_of_stream = {"topic": "t", "format": "avro", "schema_file": tmp_path / "own.avsc"}
    stream = StreamConfig.model_validate(settings_of_stream)
    assert stream.fields().ddl() == "a INT, b STRING, c DOUBLE, d INT"
    decoder = stream.decoder(stream.fields(), "UTC", SchemaRegistry((registry_server.url,)))
    written = record(("old", "int"))
    schema_id = registry_server.register(written)
    assert decoded(spark, decoder, [framed(schema_id, body(written, {"old": 7}))]) == [(7, "none", None, 5)]
    bare = StreamConfig.model_validate({**settings_of_stream, "options": {"framing": "none"}})
    values = [body(OWN, {"a": 1, "b": "x", "c": 0.5, "d": None}), b"\2", None]
    assert decoded(spark, bare.decoder(bare.fields(), "UTC"), values) == [(1, "x", 0.5, None), DAMAGED, "value is null"]


CLAIMS = {
    "an array of 2^60 items": (b"\2" + b"\x80\x80\x80\x80\x80\x80\x80\x80\x20"),
    "an array of 2^31 items": b"\2" + b"\xfe\xff\xff\xff\x0f",
    "a block of minus 2^31 items": b"\2" + b"\xff\xff\xff\xff\x0f\0",
    "a text of 2^31 bytes": b"\2\0" + b"\xfe\xff\xff\xff\x0f",
    "a text of less than none": b"\2\0" + b"\x01",
    "a number without end": b"\x80" * 30,
    "an arm that no union has": b"\2\0\2x\x14",
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_what_a_record_claims_takes_no_memory(claim: str, spark: SparkSession, registry_server: RegistryServer) -> None:
    schema = record(("a", "int"), ("l", {"type": "array", "items": "int"}), ("s", "string"), ("n", ["null", "n.R"]))
    schema_id = registry_server.register(schema)
    decoder = decoder_of("a INT, l ARRAY<INT>, s STRING", registry_server.url)
    assert decoded(spark, decoder, [framed(schema_id, CLAIMS[claim])]) == [DAMAGED]


def test_a_record_in_itself_is_passed_over_however_deep_it_is(
    spark: SparkSession, registry_server: RegistryServer
) -> None:
    schema = record(("a", "int"), ("inner", ["null", "n.R"]), ("b", "int"))
    schema_id = registry_server.register(schema)
    depth = 200_000
    deep = b"\2\2" * depth + b"\4\0\6" + b"\2" * depth
    decoder = decoder_of("a INT, b INT", registry_server.url)
    found = decoded(spark, decoder, [framed(schema_id, deep), framed(schema_id, b"\2\0\4")])
    assert found == [(1, 1), (1, 2)]


def test_a_record_in_itself_by_arrays_and_maps_is_read_as_deep_as_it_may_be(
    spark: SparkSession, registry_server: RegistryServer
) -> None:
    """What no column reads is passed over with some calls for each array: 20 kB would overflow the stack of a task."""
    trees = record(("a", "int"), ("inner", {"type": "array", "items": "n.R"}))
    maps = record(("a", "int"), ("inner", {"type": "map", "values": ["null", "n.R"]}))
    ids = [registry_server.register(schema) for schema in (trees, maps)]

    def tree(levels: int) -> bytes:
        return framed(ids[0], b"\2\2" * levels + b"\2\0" + b"\0" * levels)

    def mapping(levels: int) -> bytes:
        return framed(ids[1], b"\2\2\2k\2" * levels + b"\2\0" + b"\0" * levels)

    values = [each(levels) for each in (tree, mapping) for levels in (0, LEVELS_MAX, LEVELS_MAX + 1, 100_000)]
    decoder = decoder_of("a INT, inner ARRAY<STRUCT<a: INT>>", registry_server.url)
    found = decoded(spark, decoder, values)
    assert [row if isinstance(row, str) else row[0] for row in found[:4]] == [1, 1, DAMAGED, DAMAGED]
    assert found[4:] == [of_column("inner", "ARRAY<STRUCT<a: INT>>")] * 2 + [DAMAGED] * 2


def test_a_schema_that_contains_itself_without_an_end_makes_dead_letters(
    spark: SparkSession, registry_server: RegistryServer
) -> None:
    endless = {"type": "record", "name": "r", "fields": [{"name": "n", "type": "r"}]}
    plain = record(("a", "int"))
    ids = [registry_server.register(schema) for schema in (endless, plain)]
    decoder = decoder_of("a INT, n STRUCT<n: INT>", registry_server.url)
    found = decoded(spark, decoder, [framed(ids[0], b""), framed(ids[0], b"\2" * 9), framed(ids[1], b"\4")])
    assert found == ["value names a schema that cannot be read"] * 2 + [(2, None)]


@pytest.mark.parametrize("schema_id", [1 << 31, (1 << 32) - 1])
def test_an_id_that_no_registry_gives_is_not_asked_for(
    schema_id: int, spark: SparkSession, registry_server: RegistryServer
) -> None:
    plain = registry_server.register(record(("a", "int")))
    decoder = decoder_of("a INT", registry_server.url)
    found = decoded(spark, decoder, [framed(schema_id, b"\2"), framed(plain, b"\4")])
    assert found == ["value names a schema that the registry does not have", (2,)]
    assert registry_server.asked == [f"/schemas/ids/{plain}"]


def test_no_more_ids_are_asked_for_than_the_limit(
    spark: SparkSession, registry_server: RegistryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(framed_decoder, "_ASKED_MAX", 2)
    decoder = decoder_of("a INT", registry_server.url)
    found = decoded(spark, decoder, [framed(schema_id, b"\2") for schema_id in (7, 9, 8)])
    assert found == ["value names a schema that the registry does not have"] * 3
    assert registry_server.asked == ["/schemas/ids/7", "/schemas/ids/8"]


FUZZED = record(
    ("a", "int"),
    ("s", ["null", "string"]),
    ("l", {"type": "array", "items": {"type": "map", "values": "double"}}),
    ("d", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}),
    ("t", {"type": "long", "logicalType": "timestamp-micros"}),
    ("e", {"type": "enum", "name": "E", "symbols": ["X", "Y"]}),
    ("inner", ["null", record(("x", "boolean"), name="In")]),
)
WHOLE = body(
    FUZZED, {"a": 5, "s": "xyz", "l": [{"k": 0.5}, {}], "d": Decimal("1.50"), "t": NOW, "e": "Y", "inner": {"x": True}}
)
DAMAGE = st.lists(
    st.tuples(st.integers(0, len(WHOLE)), st.sampled_from(["cut", "flip", "put", "take"]), st.integers(0, 255)),
    min_size=1,
    max_size=4,
)


def damaged(places: Sequence[tuple[int, str, int]]) -> bytes:
    value = WHOLE
    for place, how, byte in places:
        head, tail = value[:place], value[place:]
        value = {"cut": head, "flip": head + bytes([byte]) + tail[1:], "put": head + bytes([byte]) + tail}.get(
            how, head + tail[1:]
        )
    return value


def test_damaged_bytes_are_dead_letters_and_end_no_batch(spark: SparkSession, registry_server: RegistryServer) -> None:
    schema_id = registry_server.register(FUZZED)
    decoder = decoder_of(
        "a INT, s STRING, l ARRAY<MAP<STRING, DOUBLE>>, d DECIMAL(10,2), t BIGINT, e STRING, inner STRUCT<x: BOOLEAN>",
        registry_server.url,
    )
    # Python has no words for all instants that 64 bits hold, nor for all decimals.
    bare = [{**each, "type": each["type"]["type"]} if each["name"] in "dt" else each for each in FUZZED["fields"]]
    parsed = fastavro.parse_schema({**FUZZED, "fields": bare})

    @settings(max_examples=6, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(st.lists(DAMAGE, min_size=100, max_size=150))
    def each_batch(damages: list[list[tuple[int, str, int]]]) -> None:
        values = [damaged(places) for places in damages]
        rows = decoded(spark, decoder, [framed(schema_id, value) for value in values])
        assert len(rows) == len(values)
        for value, row in zip(values, rows, strict=True):
            if not isinstance(row, str):
                # Another reader of Avro reads it as well.
                found = fastavro.schemaless_reader(io.BytesIO(value), parsed, None)
                assert isinstance(found, dict)
                assert (found["a"], found["s"], found["e"]) == (row[0], row[1], row[5])

    each_batch()
