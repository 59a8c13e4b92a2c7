"""Schemas from DDL, JSON and Arrow, and how attributes are found in them."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from asc.errors import SchemaError
from asc.schema import Schema
from workloads.random_tuples import ALL_TYPES_DDL

CONTAINERS = (
    "a INT NOT NULL COMMENT 'it\\'s', `odd name` ARRAY<MAP<STRING, DECIMAL(38,10)>>,"
    " s STRUCT<x: INT NOT NULL, `y.z` DATE>"
)


@pytest.mark.parametrize("ddl", [ALL_TYPES_DDL, CONTAINERS, "STRUCT<a: INT, b: STRUCT<c: STRING>>"])
def test_ddl_round_trip(ddl: str) -> None:
    schema = Schema.from_ddl(ddl)
    assert Schema.from_ddl(schema.ddl()) == schema
    assert Schema.from_arrow(schema.arrow) == schema


def test_json_of_a_struct_type() -> None:
    value = {
        "type": "struct",
        "fields": [
            {"name": "a", "type": "long", "nullable": False, "metadata": {}},
            {"name": "d", "type": "decimal(12,3)", "nullable": True, "metadata": {}},
            {"name": "t", "type": "timestamp_ntz", "nullable": True, "metadata": {}},
            {
                "name": "s",
                "type": {
                    "type": "struct",
                    "fields": [{"name": "x", "type": "string", "nullable": True, "metadata": {}}],
                },
                "nullable": True,
                "metadata": {},
            },
            {"name": "l", "type": {"type": "array", "elementType": "short", "containsNull": True}, "nullable": True},
            {
                "name": "m",
                "type": {"type": "map", "keyType": "string", "valueType": "byte", "valueContainsNull": True},
                "nullable": True,
            },
        ],
    }
    expected = Schema.from_ddl(
        "a BIGINT NOT NULL, d DECIMAL(12,3), t TIMESTAMP_NTZ, s STRUCT<x: STRING>, l ARRAY<SMALLINT>,"
        " m MAP<STRING, TINYINT>"
    )
    assert Schema.from_json(json.dumps(value)) == expected
    assert Schema.from_json(value) == expected


def test_arrow_types_become_canonical() -> None:
    arrow = pa.schema(
        [
            ("s", pa.large_string()),
            ("c", pa.dictionary(pa.int32(), pa.string())),
            ("b", pa.binary(4)),
            ("t", pa.timestamp("us", tz="Europe/Berlin")),
            ("l", pa.large_list(pa.large_binary())),
            pa.field("p", pa.struct([("x", pa.large_string())]), nullable=False),
        ]
    )
    expected = "s STRING, c STRING, b BINARY, t TIMESTAMP, l ARRAY<BINARY>, p STRUCT<x: STRING> NOT NULL"
    assert Schema.from_arrow(arrow).ddl() == expected


def test_nested_attributes_in_any_case() -> None:
    schema = Schema.from_ddl("Place STRUCT<City: STRING NOT NULL, inner: STRUCT<z: DOUBLE>>, l ARRAY<INT>")
    assert [a.name for a in schema.attributes] == ["Place.City", "Place.inner.z"]
    found = schema.resolve(["place", "CITY"])
    assert found.path == ("Place", "City")
    assert found.nullable  # the struct around it may be NULL
    assert schema.resolve(["L"]).type == pa.list_(pa.int32())


@pytest.mark.parametrize(
    ("ddl", "part"),
    [
        ("", "field name"),
        ("a", "column 'a': has no type: write one after it, as a INT"),
        ("a INT, b", "column 'b': has no type"),
        ("a, b INT", "column 'a': has no type"),
        ("a STRUCT<`c d`>", "column 'c d': has no type: write one after it, as `c d` INT"),
        ("a ARRAY<>", "expected a type before '>'"),
        ("a MAP<INT,>", "expected a type before '>'"),
        ("a INT,", "field name"),
        ("a INT b INT", "expected"),
        ("a NUMBER", "unknown type 'NUMBER'"),
        ("a VARCHAR(5)", "use STRING"),
        ("a DECIMAL(39,0)", "1..38"),
        ("a DECIMAL(5,6)", "1..38"),
        ("a DECIMAL(x)", "number"),
        ("a INT, A STRING", "'a' is there already"),
        ("a STRUCT<x: INT, X: INT>", "a.X"),
        ("a STRUCT<x INT", "expected '>'"),
        ("a STRUCT<>", "field name"),
        ("a INT; DROP", "unexpected character"),
        ("a INT NOT", "NULL"),
        ("a INT COMMENT b", "COMMENT"),
        ("a " + "ARRAY<" * 40 + "INT" + ">" * 40, "deeper"),
    ],
)
def test_ddl_that_is_none(ddl: str, part: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_ddl(ddl)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "[]",
        "{",
        '"int"',
        '{"type": "struct"}',
        '{"type": "struct", "fields": [1]}',
        "[" * 100_000,
        "null",
        '{"type": "struct", "fields": []}',
        '{"type": "struct", "fields": [{"name": "", "type": "int"}]}',
    ],
)
def test_json_that_is_none(value: str) -> None:
    with pytest.raises(SchemaError):
        Schema.from_json(value)


@pytest.mark.parametrize(
    "data_type", [pa.uint8(), pa.timestamp("ns"), pa.timestamp("s", tz="UTC"), pa.time32("s"), pa.null(), pa.float16()]
)
def test_arrow_types_without_counterpart(data_type: pa.DataType) -> None:
    with pytest.raises(SchemaError, match=r"s\.x"):
        Schema.from_arrow(pa.schema([("s", pa.struct([("x", data_type)]))]))


def test_unknown_column_names_the_nearest() -> None:
    schema = Schema.from_ddl("dep_delay INT, place STRUCT<city: STRING>")
    for path, near in ((["dep_dely"], "dep_delay"), (["place", "cty"], "place.city")):
        with pytest.raises(SchemaError, match=f"did you mean '{near}'"):
            schema.resolve(path)
    with pytest.raises(SchemaError, match=r"the schema has dep_delay, place\.city"):
        schema.resolve(["zzz"])


def test_a_comment_in_either_quotes() -> None:
    assert Schema.from_ddl('a INT COMMENT "it\'s, x", b STRING') == Schema.from_ddl("a INT, b STRING")
    with pytest.raises(SchemaError, match="field name"):
        Schema.from_ddl('"a" INT')


def test_names_are_the_same_where_spark_takes_them_for_the_same() -> None:
    schema = Schema.from_ddl("straße INT, strasse INT, `Île` INT, ΣΑΣ INT")
    assert schema.resolve(("STRAßE",)).name == "straße"
    assert schema.resolve(("STRASSE",)).name == "strasse"
    assert schema.resolve(("îLE",)).name == "Île"
    assert schema.resolve(("σας",)).name == "ΣΑΣ"
    with pytest.raises(SchemaError, match="duplicate field"):
        Schema.from_ddl("`Île` INT, `îLE` INT")


def test_unknown_column_like_one_with_a_dot() -> None:
    with pytest.raises(SchemaError, match=r"did you mean `x\.y`"):
        Schema.from_ddl("`x.y` INT, x STRUCT<z: INT>").resolve(("x", "y"))


def test_unknown_column_that_is_a_path_in_backquotes() -> None:
    with pytest.raises(SchemaError, match=r"'X\.z': did you mean x\.z, without backquotes around the whole\?"):
        Schema.from_ddl("x STRUCT<z: INT>").resolve(("X.z",))
