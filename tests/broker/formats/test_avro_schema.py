"""Avro schemas: what columns they would be, and what is refused of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from asc.errors import SchemaError
from broker.formats import avro_schema
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
    "arrays too deep": (of(json.loads('{"type":"array","items":' * 200 + '"int"' + "}" * 200)), "is nested too deep"),
    "too many": (of(*[["null", "int"]] * 4_000), "has more than 10,000 types"),
    "a fixed that is too large": (of({"type": "fixed", "name": "F", "size": 1 << 30}), "has a fixed of more than"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    text, remedy = REFUSED[case]
    with pytest.raises(SchemaError, match=remedy):
        AvroSchema.of_text(text)


def test_the_json_of_a_schema_is_as_deep_as_the_limit_and_no_deeper() -> None:
    def text(levels: int) -> str:
        return of("int").replace('"R"', f'"R", "x": {"[" * (levels - 1)}{"]" * (levels - 1)}', 1)

    assert AvroSchema.of_text(text(avro_schema._LEVELS_MAX))
    with pytest.raises(SchemaError, match="is nested too deep"):
        AvroSchema.of_text(text(avro_schema._LEVELS_MAX + 1))


def test_a_fixed_is_as_large_as_the_limit_and_no_larger() -> None:
    most = avro_schema._FIXED_BYTES_MAX
    assert AvroSchema.of_text(of({"type": "fixed", "name": "F", "size": most}))
    with pytest.raises(SchemaError, match="has a fixed of more than"):
        AvroSchema.of_text(of({"type": "fixed", "name": "F", "size": most + 1}))


def chained(chains: int, length: int, last: object = "int") -> str:
    """Return a schema of so many chains of so many records, each of which ends in the next: of little depth where each
    is met first.
    """
    fields: list[dict[str, object]] = [{"name": "id", "type": "int"}]
    for chain in range(chains):
        inner: object = f"c{chain + 1}_0" if chain + 1 < chains else last
        for place in reversed(range(length)):
            inner = {"type": "record", "name": f"c{chain}_{place}", "fields": [{"name": "x", "type": inner}]}
        fields.insert(1, {"name": f"f{chain}", "type": inner})
    return json.dumps({"type": "record", "name": "R", "fields": fields})


def test_types_in_each_other_are_counted_on_the_longest_way() -> None:
    # The root, two chains of records, and the int in the last.
    most = avro_schema._TYPES_DEEP_MAX // 2 - 1
    assert AvroSchema.of_text(chained(2, most))
    for chains, length in ((2, most + 1), (31, most - 4)):
        with pytest.raises(SchemaError, match="is nested too deep"):
            AvroSchema.of_text(chained(chains, length))


def test_records_in_themselves_are_counted_once_on_a_way() -> None:
    assert AvroSchema.of_text(of("int", *[["null", "R"]] * 300))
    assert AvroSchema.of_text(chained(2, 98, ["null", "R"]))
    with pytest.raises(SchemaError, match="is nested too deep"):
        AvroSchema.of_text(chained(2, 100, ["null", "R"]))


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
        (of("int").replace('"f0"', '"\\ud800"'), r"Avro field '.ud800': is no name"),
        (
            of(json.loads(of("int").replace('"R"', '"Q"').replace('"f0"', '"\\ud800"'))),
            "is no name of whole characters",
        ),
    ],
    ids=["recursive", "union", "null", "deep", "half", "half within"],
)
def test_what_has_no_column(text: str, remedy: str) -> None:
    with pytest.raises(SchemaError, match=remedy):
        AvroSchema.of_text(text).fields()


def doubling(levels: int, leaf: str) -> str:
    """A record of two records, each of two records, and so on: of some hundred bytes, and 2 ** levels values."""
    inner: dict[str, object] = {"type": "record", "name": f"R{levels}", "fields": [{"name": "x", "type": leaf}]}
    for number in range(levels - 1, -1, -1):
        fields = [{"name": "a", "type": inner}, {"name": "b", "type": f"R{number + 1}"}]
        inner = {"type": "record", "name": f"R{number}", "fields": fields}
    return json.dumps(inner)


@pytest.mark.parametrize("leaf", ["null", "int"])
def test_a_record_of_more_values_than_it_has_bytes_is_refused(leaf: str) -> None:
    assert AvroSchema.of_text(doubling(14, leaf))
    for levels in (16, 60):
        with pytest.raises(SchemaError, match="has records of more than 50,000 values"):
            AvroSchema.of_text(doubling(levels, leaf))


def test_a_long_row_of_records_in_each_other_takes_little_work() -> None:
    """By names, so that the text is flat; it took a time that grew with the square, minutes for some thousand."""
    fields = [{"name": "x0", "type": {"type": "record", "name": "Q0", "fields": [{"name": "i", "type": "int"}]}}]
    for number in range(1, 3_000):
        inner = {"type": "record", "name": f"Q{number}", "fields": [{"name": "i", "type": f"Q{number - 1}"}]}
        fields.append({"name": f"x{number}", "type": ["null", inner]})
    with pytest.raises(SchemaError, match="has records of more than 50,000 values"):
        AvroSchema.of_text(json.dumps({"type": "record", "name": "R", "fields": fields}))
