"""``place.*`` among arguments: the fields of the struct."""

from __future__ import annotations

import pytest

from asc.errors import PredicateError
from asc.predicate import normalise
from asc.schema import Schema

SCHEMA = Schema.from_ddl("n INT, place STRUCT<x: INT, `a b`: INT, inner: STRUCT<z: STRING>>, xs ARRAY<INT>")


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("struct(place.*).x = 1", "struct(place.x, place.`a b`, place.inner).x"),
        ("struct(n, place.inner.*).z = 'a'", "struct(n, place.inner.z).z"),
        ("n IN (place.inner.*)", "n IN (place.inner.z)"),
        ("concat(PLACE.inner.*, 'a') = 'aa'", "concat(place.inner.z, 'a')"),
        ("exists(xs, x -> hash(place.inner.*) = x)", "exists(xs, x -> hash(place.inner.z) = x)"),
    ],
)
def test_fields_stand_for_a_star(text: str, sql: str) -> None:
    if "exists" in text:
        with pytest.raises(PredicateError, match="in a lambda"):
            normalise(text, SCHEMA)
        return
    assert [attribute.sql for attribute in normalise(text, SCHEMA).p_attributes] == [sql]


@pytest.mark.parametrize(
    "text",
    ["place.* IS NULL", "place.* = 1", "place.* IN (1)", "CAST(place.* AS STRING) = '1'", "n.* = 1", "struct(n.*) = 1"],
)
def test_elsewhere_there_is_none(text: str) -> None:
    with pytest.raises(PredicateError) as caught:
        normalise(text, SCHEMA)
    assert text[caught.value.start : caught.value.end].endswith(".*")
