"""Avro schemas: what columns they would be, and what is refused of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from asc.errors import SchemaError
from broker.formats.avro_schema import AvroSchema

INNER = {"type": "record", "name": "In", "fields": [{"name": "x", "type": {"type": "fixed", "name": "F", "size": 3}}]}
SCHEMA = {
    "type": "record",
    "name": "R",
    "namespace": "n",
    "fields": [
        {"name": "a", "type": "int"},
        {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["X"]}},
        {"name": "again", "type": ["null", "E"], "default": None},
        {"name": "r", "type": ["null", INNER]},
        {"name": "t", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "local", "type": {"type": "long", "logicalType": "local-timestamp-micros"}},
        {"name": "p", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "m", "type": {"type": "map", "values": {"type": "array", "items": ["float", "double"]}}},
    ],
}


def of(*types: Any) -> str:
    fields = [{"name": f"f{place}", "type": each} for place, each in enumerate(types)]
    return json.dumps({"type": "record", "name": "R", "fields": fields})


def test_its_fields_are_columns() -> None:
    assert AvroSchema.of_text(json.dumps(SCHEMA)).fields().ddl() == (
        "a INT, e STRING, again STRING, r STRUCT<x: BINARY>, t TIMESTAMP, local TIMESTAMP_NTZ, p DECIMAL(9,2), "
        "m MAP<STRING, ARRAY<DOUBLE>>"
    )


def test_what_it_refers_to_is_written_into_it() -> None:
    schema = AvroSchema.of_text(of("In", "In"), [json.dumps(INNER)])
    assert AvroSchema.of_text(schema.self_contained()).fields() == schema.fields()
    assert json.loads(schema.self_contained())["fields"][1]["type"] == "In"


REFUSED = {
    "no json": ("{", "is not one that Avro knows"),
    "no schema": ("5", "is not one that Avro knows"),
    "no record": ('"int"', "is no record"),
    "a name that is none": (of("Other"), "UnknownType"),
    "free items": (of({"type": "array", "items": "null"}), "items take no bytes"),
    "free items within": (
        of({"type": "map", "values": {"type": "array", "items": {**json.loads(of()), "name": "None"}}}),
        "no bytes",
    ),
    "without an end": (of("R"), "contains itself without an end"),
    "without an end, by another": (
        of({**json.loads(of("R")), "name": "S"}),
        "contains itself without an end",
    ),
    "without an end, in a union": (of(["R"]), "contains itself without an end"),
    "too long": (of("int") + " " * (1 << 20), "is longer than"),
    "too deep": ("[" * 100_000, "is nested too deep"),
    "too many": (of(*[["null", "int"]] * 4_000), "has more than 10,000 types"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    text, remedy = REFUSED[case]
    with pytest.raises(SchemaError, match=remedy):
        AvroSchema.of_text(text)


def nested(levels: int) -> object:
    """Return a type of records in records."""
    found: object = "int"
    for level in range(levels):
        found = {"type": "record", "name": f"Level{level}", "fields": [{"name": "x", "type": found}]}
    return found


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (of(["null", "R"]), "f0.f0.*is nested in itself"),
        (of(["int", "string"]), "union of several types"),
        (of("null"), "for which Spark has none"),
        (of(nested(25)), "nested in itself or too deep"),
    ],
    ids=["recursive", "union", "null", "deep"],
)
def test_what_has_no_column(text: str, remedy: str) -> None:
    with pytest.raises(SchemaError, match=remedy):
        AvroSchema.of_text(text).fields()


def test_whether_items_take_bytes_is_asked_of_each_record_once() -> None:
    leaf: dict[str, object] = {"type": "record", "name": "R60", "fields": [{"name": "x", "type": "null"}]}
    for number in range(59, -1, -1):
        fields = [{"name": "a", "type": leaf}, {"name": "b", "type": f"R{number + 1}"}]
        leaf = {"type": "record", "name": f"R{number}", "fields": fields}
    whole = {"type": "record", "name": "R", "fields": [{"name": "s", "type": {"type": "array", "items": leaf}}]}
    with pytest.raises(SchemaError, match="whose items take no bytes"):
        AvroSchema.of_text(json.dumps(whole))
