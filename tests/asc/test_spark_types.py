"""Spark's types in their spellings: each is read back from every other one."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.errors import SchemaError
from asc.spark_types import (
    MAX_TYPE_DEPTH,
    VARIANT,
    ddl_of_type,
    decimal_type,
    fields_of_ddl,
    folded,
    normalised_arrow_type,
    quoted_name,
    simple_type,
    type_of_ddl,
    type_of_json,
)

SIMPLE = ["boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "binary", "date"]
scalars = st.sampled_from([simple_type(name) for name in (*SIMPLE, "timestamp", "timestamp_ntz")]) | st.builds(
    lambda precision, scale: pa.decimal128(precision, min(precision, scale)), st.integers(1, 38), st.integers(0, 38)
)
names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6)


def containers(inner: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    fields = st.lists(st.builds(pa.field, names, inner, st.booleans()), min_size=1, max_size=3)
    return inner.map(pa.list_) | st.builds(pa.map_, inner, inner) | fields.map(pa.struct)


@given(st.recursive(scalars, containers, max_leaves=5))
def test_ddl_is_read_back(data_type: pa.DataType) -> None:
    (field,) = fields_of_ddl(f"x {ddl_of_type(data_type)}")
    assert field.type == data_type
    assert normalised_arrow_type(data_type, "x") == data_type


@given(names)
def test_quoted_names_are_read_back(name: str) -> None:
    (field,) = fields_of_ddl(f"{quoted_name(name)} INT")
    assert field.name == name


@pytest.mark.parametrize(
    ("name", "same"), [("integer", "int"), ("LONG", "bigint"), ("byte", "tinyint"), ("Real", "float")]
)
def test_other_names_of_a_type(name: str, same: str) -> None:
    assert simple_type(name) == simple_type(same) == type_of_json(name.lower())


def test_decimals_within_sparks_bounds() -> None:
    assert simple_type("DECIMAL") == simple_type("numeric") == decimal_type(10, 0)
    assert type_of_json("decimal(38, 38)") == pa.decimal128(38, 38)
    for precision, scale in ((0, 0), (39, 0), (5, 6), (5, -1)):
        with pytest.raises(SchemaError, match=r"precision is 1\.\.38"):
            decimal_type(precision, scale)


@pytest.mark.parametrize(
    ("data_type", "canonical"),
    [
        (pa.large_string(), pa.string()),
        (pa.string_view(), pa.string()),
        (pa.binary(4), pa.binary()),
        (pa.dictionary(pa.int8(), pa.large_binary()), pa.binary()),
        (pa.timestamp("us", tz="Europe/Oslo"), pa.timestamp("us", tz="UTC")),
        (pa.large_list(pa.large_string()), pa.list_(pa.string())),
        (pa.list_(pa.int8(), 3), pa.list_(pa.int8())),
        (pa.map_(pa.large_string(), pa.int8()), pa.map_(pa.string(), pa.int8())),
    ],
    ids=str,
)
def test_arrow_types_become_canonical(data_type: pa.DataType, canonical: pa.DataType) -> None:
    assert normalised_arrow_type(data_type, "x") == canonical


def test_nesting_is_bounded_in_ddl_and_json() -> None:
    deep = "x " + "ARRAY<" * MAX_TYPE_DEPTH + "INT" + ">" * MAX_TYPE_DEPTH
    assert len(fields_of_ddl(deep)) == 1
    with pytest.raises(SchemaError, match="nested deeper"):
        fields_of_ddl(deep.replace("INT", "ARRAY<INT>"))
    value: object = "integer"
    for _ in range(MAX_TYPE_DEPTH + 1):
        value = {"type": "array", "elementType": value}
    with pytest.raises(SchemaError, match="nested deeper"):
        type_of_json(value)


@given(st.text(st.characters(max_codepoint=0x24F), max_size=8))
def test_folded_is_the_same_in_any_case_that_spark_takes_for_the_same(name: str) -> None:
    assert folded(folded(name)) == folded(name)
    if name.isascii():
        assert folded(name.upper()) == folded(name)


def test_variants_are_of_functions_alone() -> None:
    assert type_of_ddl("array<struct<a: variant>>") == pa.list_(pa.struct([("a", VARIANT)]))
    assert fields_of_ddl("a VARIANT", variants=True) == [pa.field("a", VARIANT)]
    with pytest.raises(SchemaError, match="unknown type"):
        fields_of_ddl("a VARIANT")
    with pytest.raises(SchemaError):
        type_of_ddl("int, b int")
    with pytest.raises(SchemaError, match="attribute x"):
        normalised_arrow_type(VARIANT, "x")
