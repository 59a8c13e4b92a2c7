"""Messages become columns by name and lose nothing, or say which column is at fault: in the process that reads them."""

from __future__ import annotations

import pickle
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest
from google.protobuf import message_factory
from hypothesis import given
from hypothesis import strategies as st

from asc.schema import Schema
from broker.formats import protobuf_reading
from broker.formats.framed_decoder import HEAD_BYTES, head_of
from broker.formats.protobuf_reading import (
    DAMAGED,
    FINE,
    FIRST_COLUMN,
    NO_MESSAGE,
    RecordsReader,
    message_indexes,
    messages_of,
)
from broker.formats.protobuf_schema import ProtobufSchema
from tests.broker.formats.test_protobuf_schema import ALL, AS_PRINTED

DESCRIBED = ProtobufSchema.of_text(ALL).descriptors
OLD = ProtobufSchema.of_text(
    'syntax = "proto2"; message Old { optional int32 five = 1 [default = 5]; optional int32 none = 2; '
    "optional string text = 3; required int32 a = 4; }"
).descriptors


def message_of(described: bytes, name: str | None, **fields: Any) -> Any:
    return message_factory.GetMessageClass(messages_of(described).named(name))(**fields)


def read(ddl: str, message: Any, described: bytes = DESCRIBED, name: str | None = None) -> tuple[Any, ...] | None:
    value = message if isinstance(message, bytes) else message.SerializeToString()
    return RecordsReader({b"": described}, Schema.from_ddl(ddl).arrow, 0, name)(value)


def test_a_message_is_read_into_the_types_of_its_schema() -> None:
    fields = ProtobufSchema.of_text(ALL).fields(None)
    full = message_of(DESCRIBED, None, b=True, i=-1, l=1 << 40, u=(1 << 32) - 1, f=(1 << 64) - 1, x=0.5, y=1e300)
    full.s, full.raw, full.kind, full.one = "Zürich", b"\xff", 1, ""
    full.at.seconds, full.at.nanos, full.maybe.value, full.leg.dest = 1_700_000_000, 123_456_789, 0, "SFO"
    full.legs.add(dest="OSL", hops=[1.5, float("nan")])
    full.counts["a"] = 7
    found = read(fields.ddl(), full)
    assert found is not None
    assert found[:12] == (
        *(FINE, True, -1, 1 << 40, (1 << 32) - 1, Decimal((1 << 64) - 1), 0.5, 1e300, "Zürich", b"\xff", "PASSENGER"),
        datetime(2023, 11, 14, 22, 13, 20, 123456, tzinfo=timezone.utc),
    )
    assert found[12:14] == (0, ("SFO", []))
    assert found[14][0][0] == "OSL"
    assert str(found[14][0][1]) == "[1.5, nan]"
    assert found[15:] == ({"a": 7}, "", None)


def test_what_is_absent_is_null_where_absence_is_told_and_the_default_where_it_is_not() -> None:
    fields = ProtobufSchema.of_text(ALL).fields(None)
    assert read(fields.ddl(), b"") == (
        *(FINE, False, 0, 0, 0, Decimal(0), 0.0, 0.0, "", b"", "NONE"),
        *(None, None, None, [], {}, None, None),
    )
    old = message_of(OLD, None, a=1)
    assert read("five INT, none INT, text STRING, a INT, more INT", old, OLD) == (FINE, 5, None, None, 1, None)


@pytest.mark.parametrize(
    ("ddl", "fields", "value"),
    [
        ("i TINYINT", {"i": -128}, -128),
        ("i TINYINT", {"i": 128}, None),
        ("u INT", {"u": 1 << 31}, None),
        ("f BIGINT", {"f": (1 << 63) - 1}, (1 << 63) - 1),
        ("f BIGINT", {"f": 1 << 63}, None),
        ("i DECIMAL(4,2)", {"i": 99}, Decimal(99)),
        ("i DECIMAL(4,2)", {"i": -100}, None),
        ("i DOUBLE", {"i": 3}, 3.0),
        ("y FLOAT", {"y": 0.5}, None),
        ("raw STRING", {"raw": "é".encode()}, "é"),
        ("raw STRING", {"raw": b"\xff"}, None),
        ("s BINARY", {"s": "é"}, "é".encode()),
        ("s INT", {"s": "1"}, None),
        ("kind INT", {"kind": 1}, 1),
        ("kind STRING", {"kind": 77}, "77"),
        ("legs STRING", {"legs": [{"dest": "a"}]}, None),
        ("leg INT", {"leg": {"dest": "a"}}, None),
        ("counts ARRAY<BIGINT>", {"counts": {"a": 1}}, None),
        ("leg STRUCT<dest: STRING, more: INT>", {"leg": {"dest": "a"}}, ("a", None)),
        ("legs ARRAY<STRUCT<hops: ARRAY<FLOAT>>>", {"legs": [{"hops": [0.5]}]}, None),
    ],
    ids=[
        *("byte", "byte-over", "int-over", "long", "long-over", "decimal", "decimal-over", "double", "narrow"),
        *("text-of-bytes", "no-text", "bytes-of-text", "no-number", "enum-number", "enum-unnamed"),
        *("no-array", "no-struct", "no-map", "part", "nested"),
    ],
)
def test_a_value_keeps_what_it_is_or_its_column_is_named(ddl: str, fields: dict[str, Any], value: Any) -> None:
    found = read(f"b BOOLEAN, {ddl}", message_of(DESCRIBED, None, **fields))
    assert found == ((FIRST_COLUMN + 1, None, None) if value is None else (FINE, False, value))


def test_a_time_that_has_no_year_of_ours_is_none_of_its_type() -> None:
    far = message_of(DESCRIBED, None)
    for seconds, fits in ((253_402_300_799, True), (253_402_300_800, False), (-62_135_596_800, True), (1 << 62, False)):
        far.at.seconds = seconds
        found = read("at TIMESTAMP", far)
        assert found is not None
        assert (found[0] == FINE) is fits


def test_two_bytes_are_no_struct_of_many_columns_a_million_times() -> None:
    many = message_of(DESCRIBED, None)
    for _ in range(1_000):
        many.legs.add()
    body = many.SerializeToString() * 400
    wide = ", ".join(f"c{place}: INT" for place in range(9))
    assert len(body) < 1 << 20
    assert read(f"legs ARRAY<STRUCT<dest: STRING, {wide}>>", body) == (FIRST_COLUMN, None)
    few = read(f"legs ARRAY<STRUCT<dest: STRING, {wide}>>", many)
    assert few is not None
    assert len(few[1]) == 1_000


def test_a_record_has_as_many_values_as_the_limit_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protobuf_reading, "VALUES_MAX", 12)
    many = message_of(DESCRIBED, None)
    for _ in range(6):
        many.legs.add()
    ddl = "legs ARRAY<STRUCT<dest: STRING>>"
    within = read(ddl, many)
    assert within is not None
    assert (within[0], len(within[1])) == (FINE, 6)
    many.legs.add()
    assert read(ddl, many) == (FIRST_COLUMN, None)


def test_a_message_is_named_by_as_many_indexes_as_the_limit_and_no_more() -> None:
    def indexes(number: int) -> bytes:
        return bytes([number * 2 & 0x7F | 0x80, number * 2 >> 7]) + bytes(number)

    most = protobuf_reading._INDEXES_MAX
    assert message_indexes(indexes(most), 0) == ((0,) * most, most + 2)
    with pytest.raises(ValueError, match=str(most + 1)):
        message_indexes(indexes(most + 1), 0)


def test_a_record_names_its_schema_and_its_message() -> None:
    schemas = {head_of(7): DESCRIBED, head_of(8): OLD}
    reader = RecordsReader(schemas, Schema.from_ddl("a INT, dest STRING").arrow, HEAD_BYTES, None)
    second = message_of(DESCRIBED, "all.v1.Second", a=9).SerializeToString()
    leg = message_of(DESCRIBED, "all.v1.All.Leg", dest="SFO").SerializeToString()
    old = message_of(OLD, None, a=4).SerializeToString()
    for own in (reader, pickle.loads(pickle.dumps(reader))):
        assert own(head_of(7) + bytes([2, 2]) + second) == (FINE, 9, None)
        assert own(head_of(7) + bytes([4, 0, 0]) + leg) == (FINE, None, "SFO")
        assert own(head_of(8) + bytes([0]) + old) == (FINE, 4, None)
        assert own(None) is None
        for wrong in (b"", bytes([2, 4]), bytes([1]), bytes([128]), bytes([2, 1]), bytes([254, 255, 255, 255, 127])):
            assert own(head_of(7) + wrong) == (NO_MESSAGE, None, None)
        assert own(head_of(8) + bytes([0])) == (DAMAGED, None, None)


NESTED = """syntax = "proto3";
package q.v1;
message Outer { map<string, int64> m = 1; string outer_field = 2;
  message Inner { int64 id = 1; string name = 2; } map<string, Inner> more = 3; message Last { int64 id = 1; } }
"""


@pytest.mark.parametrize(
    ("text", "indexes", "body", "found"),
    [
        (NESTED, bytes([4, 0, 0]), bytes.fromhex("08291203616263"), (FINE, 41, "abc")),
        (NESTED, bytes([4, 0, 2]), bytes.fromhex("0829"), (FINE, 41, None)),
        (NESTED, bytes([4, 0, 4]), bytes.fromhex("0829"), (NO_MESSAGE, None, None)),
        (AS_PRINTED, bytes([0]), bytes.fromhex("08291203616263"), (FINE, 41, "abc")),
        (AS_PRINTED, bytes([4, 0, 0]), bytes.fromhex("0829"), (NO_MESSAGE, None, None)),
    ],
)
def test_the_entry_of_a_map_has_no_index(text: str, indexes: bytes, body: bytes, found: tuple[object, ...]) -> None:
    """As Confluent's serialisers count, by the text of a schema: its maps make no message there."""
    schemas = {head_of(7): ProtobufSchema.of_text(text).descriptors}
    reader = RecordsReader(schemas, Schema.from_ddl("id BIGINT, name STRING").arrow, HEAD_BYTES, None)
    assert reader(head_of(7) + indexes + body) == found


@given(st.binary(max_size=60))
def test_any_bytes_are_columns_or_have_a_fault(value: bytes) -> None:
    fields = ProtobufSchema(DESCRIBED).fields(None)
    found = read(fields.ddl(), value)
    assert found is not None
    assert len(found) == 1 + len(fields.arrow)
    assert 0 <= found[0] < FIRST_COLUMN + len(fields.arrow)
    framed = RecordsReader({head_of(0): DESCRIBED}, fields.arrow, HEAD_BYTES, None)(head_of(0) + value)
    assert framed is not None
    assert 0 <= framed[0] < FIRST_COLUMN + len(fields.arrow)
