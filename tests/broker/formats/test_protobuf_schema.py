"""Schemas of Protobuf: compiled by its own compiler, refused in one line, and the columns that they would be."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.errors import SchemaError
from broker.formats import protobuf_schema
from broker.formats.protobuf_reading import FINE, MessageReader
from broker.formats.protobuf_schema import ProtobufSchema

ALL = """
syntax = "proto3";
package all.v1;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
enum Kind { NONE = 0; PASSENGER = 1; }
message All {
  message Leg { string dest = 1; repeated double hops = 2; }
  bool b = 1; int32 i = 2; sint64 l = 3; uint32 u = 4; fixed64 f = 5; float x = 6; double y = 7;
  string s = 8; bytes raw = 9; Kind kind = 10; google.protobuf.Timestamp at = 11;
  google.protobuf.Int32Value maybe = 12; Leg leg = 13; repeated Leg legs = 14; map<string, int64> counts = 15;
  oneof either { string one = 16; int32 other = 17; }
}
message Second { int32 a = 1; }
"""


def test_the_fields_of_a_message_are_columns() -> None:
    schema = ProtobufSchema.of_text(ALL)
    assert schema.fields(None).ddl() == (
        "b BOOLEAN, i INT, l BIGINT, u BIGINT, f DECIMAL(20,0), x FLOAT, y DOUBLE, s STRING, raw BINARY, kind STRING, "
        "at TIMESTAMP, maybe INT, leg STRUCT<dest: STRING, hops: ARRAY<DOUBLE>>, "
        "legs ARRAY<STRUCT<dest: STRING, hops: ARRAY<DOUBLE>>>, counts MAP<STRING, BIGINT>, one STRING, other INT"
    )
    assert schema.fields("all.v1.Second").ddl() == "a INT"
    assert schema.fields("all.v1.All.Leg").ddl() == "dest STRING, hops ARRAY<DOUBLE>"
    with pytest.raises(SchemaError, match=r"Protobuf message 'all.v1.Third': is not in the schema"):
        schema.fields("all.v1.Third")


def test_a_schema_comes_with_those_that_it_imports() -> None:
    text = 'syntax = "proto3"; import "places/city.proto"; message R { City city = 1; }'
    city = ("places/city.proto", 'syntax = "proto3"; message City { string name = 1; }')
    assert ProtobufSchema.of_text(text, [city]).fields(None).ddl() == "city STRUCT<name: STRING>"
    with pytest.raises(SchemaError, match=r"line 1:20: Import \"places/city.proto\" was not found"):
        ProtobufSchema.of_text(text)


AS_PRINTED = """syntax = "proto3";
package q.v2;

message Rec {
  repeated MEntry m = 10;
  int64 id = 1;
  string name = 2;

  message MEntry {
    option map_entry = true;

    string key = 1;
    int64 value = 2;
  }
}
"""
"""A schema with a map, as registries print those that they make of descriptors."""


def test_a_map_that_is_spelled_as_its_entries_is_a_map() -> None:
    assert ProtobufSchema.of_text(AS_PRINTED).fields(None).ddl() == "m MAP<STRING, BIGINT>, id BIGINT, name STRING"
    imported = ("rec.proto", AS_PRINTED.replace("option map_entry = true", "option  map_entry\n=true "))
    text = 'syntax = "proto3"; import "rec.proto"; message R { q.v2.Rec rec = 1; }'
    found = ProtobufSchema.of_text(text, [imported]).fields(None).ddl()
    assert found == "rec STRUCT<m: MAP<STRING, BIGINT>, id: BIGINT, name: STRING>"
    with pytest.raises(SchemaError, match="is no entry of a map"):
        ProtobufSchema.of_text(AS_PRINTED.replace("string key = 1", "string clef = 1"))
    with pytest.raises(SchemaError, match="is no entry of a map"):
        ProtobufSchema.of_text('syntax = "proto3"; message R { option map_entry = true; int32 key = 1; }')


def test_a_map_of_an_edition_may_be_spelled_as_its_entries() -> None:
    syntax = next(line for line in AS_PRINTED.splitlines() if line.startswith("syntax"))
    of_edition = AS_PRINTED.replace(syntax, '// syntax = "proto3";\n/* edition */ edition = "2023";')
    assert ProtobufSchema.of_text(of_edition).fields(None).ddl() == "m MAP<STRING, BIGINT>, id BIGINT, name STRING"
    text = 'syntax = "proto3"; import "rec.proto"; message R { q.v2.Rec rec = 1; }'
    found = ProtobufSchema.of_text(text, [("rec.proto", of_edition)]).fields(None).ddl()
    assert found == "rec STRUCT<m: MAP<STRING, BIGINT>, id: BIGINT, name: STRING>"


NO_FILES = ("../up.proto", "/etc/up.proto", "a/../../up.proto", " ", "", ".", "a//b", "a/", "x" * 300, "a/" * 600 + "b")


@pytest.mark.parametrize("name", [*NO_FILES, "schema_of_records.proto", "nul\0.proto", "\ud800.proto"], ids=repr)
def test_an_import_by_a_name_that_is_no_file_s_is_refused(name: str) -> None:
    """One that leads elsewhere, or that a file system refuses, which would be taken for a fault of the disk."""
    with pytest.raises(SchemaError, match="by a name that is no file's"):
        ProtobufSchema.of_text('syntax = "proto3"; message R { int32 a = 1; }', [(name, "")])


DEEP = (
    'syntax = "proto3";'
    + "".join(f"message R{i} {{ R{i + 1} m = 1; }}" for i in range(25))
    + "message R25 { int32 a = 1; }"
)


@pytest.mark.parametrize("names", [("a", "a/b.proto"), ("a/b.proto", "a")], ids=str)
def test_an_import_is_no_file_and_folder_at_once(names: tuple[str, str]) -> None:
    with pytest.raises(SchemaError, match=r"is imported by|that are the same"):
        ProtobufSchema.of_text('syntax = "proto3"; message R { int32 a = 1; }', [(name, "") for name in names])


def test_messages_do_not_lead_from_one_to_the_next_for_long() -> None:
    """A worker makes their classes by recursion: a record of the first one would end its batch."""
    row = [f"message M{i} {{ M{i + 1} m = 1; }}" for i in range(1_000)]
    with pytest.raises(SchemaError, match="for more than 400 of them"):
        ProtobufSchema.of_text(f'syntax = "proto3"; {" ".join(row)} message M1000 {{ int32 a = 1; }}')
    short = [f"message M{i} {{ M{i + 1} m = 1; M0 n = 2; }}" for i in range(390)]
    schema = ProtobufSchema.of_text(f'syntax = "proto3"; {" ".join(short)} message M390 {{ int32 a = 1; }}')
    assert MessageReader(schema.message("M0"), pa.schema([("m", pa.int32())])).read(b"")[0] == FINE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('syntax = "proto3"; message R { int32 a 1; }', "line 1:40: Missing field number"),
        ("message", "is not one that its compiler takes: line 1"),
        ('syntax = "proto3";', "has no message"),
        ('syntax = "proto3"; message R { R again = 1; }', "Protobuf field 'again': holds itself"),
        ('syntax = "proto3"; message E {} message R { int32 a = 1; }', "Protobuf message 'E': has no fields"),
        ('syntax = "proto3"; message R { E e = 1; } message E {}', "'e': is a message without fields"),
        ("x" * ((1 << 20) + 1), "is longer than 1,048,576 characters"),
        (DEEP, "is nested deeper than 24 messages"),
    ],
    ids=["syntax", "word", "no-message", "recursive", "empty", "empty-part", "long", "deep"],
)
def test_what_is_no_schema_is_told_in_one_line(text: str, said: str) -> None:
    with pytest.raises(SchemaError, match=said) as caught:
        ProtobufSchema.of_text(text).fields(None)
    assert "\n" not in str(caught.value)


def test_a_compiler_that_takes_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protobuf_schema, "_COMPILE_S", 0.001)
    with pytest.raises(SchemaError, match=r"takes more than 0.001 s to compile"):
        ProtobufSchema.of_text('syntax = "proto3"; message R { int32 a = 1; }')


def test_a_short_text_with_many_columns_is_refused_soon() -> None:
    levels = "".join(f"message M{i} {{ M{i + 1} a = 1; M{i + 1} b = 2; }}\n" for i in range(22))
    text = f'syntax = "proto3"; message R {{ M0 m = 1; }}\n{levels}message M22 {{ int32 a = 1; }}'
    with pytest.raises(SchemaError, match="is one of more than 10,000"):
        ProtobufSchema.of_text(text).fields(None)
