"""The schemas that documents are read with."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.predicate.functions.document_schema import _MAX_SCHEMA_CHARS, places_of_repeated, read_safely, record_type
from asc.predicate.functions.function import Call
from asc.predicate.limits import Limits
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.typer import Typer
from asc.schema import Schema
from asc.spark_types import VARIANT, type_of_ddl


def read_with(schema: str) -> pa.DataType | None:
    node, source = parse(f"'{schema}'", Limits(), "UTC")
    return record_type(Call("from_json", [Typer(source, Schema.from_ddl("s STRING")).of(node)]), 0)


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ("a INT, b: STRING", pa.struct([("a", pa.int32()), ("b", pa.string())])),
        ("struct<a: int not null>", pa.struct([("a", pa.int32())])),
        (" Array <date>", pa.list_(pa.date32())),
        ("map<string, binary>", pa.map_(pa.string(), pa.binary())),
        (
            "array INT, map STRING, variant INT",
            pa.struct([("array", pa.int32()), ("map", pa.string()), ("variant", pa.int32())]),
        ),
        ("array<variant>", pa.list_(VARIANT)),
    ],
)
def test_schemas(schema: str, kind: pa.DataType) -> None:
    assert read_with(schema) == kind


@pytest.mark.parametrize(
    "schema",
    [
        "",
        "int",
        "Variant",
        "a DECIMAL(10,2)",
        "array<decimal(3,1)>",
        "map<int, int>",
        "a INT, A STRING",
        "_corrupt_record INT",
        "a INT,",
        "array<int> b",
        "a STRING, " * 200 + "b INT",
    ],
)
def test_schemas_that_are_refused(schema: str) -> None:
    assert read_with(schema) is None


def test_a_schema_is_as_long_as_the_limit_and_no_longer() -> None:
    assert read_with("a INT".ljust(_MAX_SCHEMA_CHARS)) is not None
    assert read_with("a INT".ljust(_MAX_SCHEMA_CHARS + 1)) is None


def test_what_is_read_may_be_null() -> None:
    strict = pa.struct([pa.field("a", pa.list_(pa.field("item", pa.int32(), False)), False)])
    assert read_safely(strict) == pa.struct([("a", pa.list_(pa.int32()))])


@pytest.mark.parametrize(
    ("ddl", "places"),
    [
        ("struct<a: int, b: int>", 0),
        ("array<int>", 0),
        ("array<struct<a: int, b: int, c: int>>", 3),
        ("map<string, struct<a: int, b: struct<c: int, d: int, e: int>>>", 3),
        ("struct<a: array<array<struct<x: int>>>>", 1),
    ],
)
def test_what_comes_often_is_counted(ddl: str, places: int) -> None:
    assert places_of_repeated(type_of_ddl(ddl)) == places
