"""Predicates that read the value of an expression of any type."""

from __future__ import annotations

import pytest

from asc.errors import PredicateError
from asc.predicate import normalise
from asc.schema import Schema
from broker.operators.value_predicate import value_predicate

SCHEMA = Schema.from_ddl(
    "b BOOLEAN, i INT, x DOUBLE, dec DECIMAL(2, 2), s STRING, bin BINARY, day DATE, ts TIMESTAMP, tn TIMESTAMP_NTZ, "
    "st STRUCT<y: STRING>, arr ARRAY<INT>"
)


@pytest.mark.parametrize(
    ("sql", "read", "kind"),
    [
        ("b", "b", "bool"),
        ("st.y", "st.y", "string"),
        ("NOT b", "CAST(NOT b AS INT)", "int32"),
        ("i > 3 AND b", "CAST((i > 3) AND b AS INT)", "int32"),
        ("s LIKE 'a%'", "CAST(s LIKE 'a%' AS INT)", "int32"),
        ("abs(i)", "abs(i)", "int32"),
        ("x * 2", "x * 2", "double"),
        ("dec * 2", "dec * 2", "decimal128(4, 2)"),
        ("if(b, dec, NULL)", "if(b, dec, NULL)", "decimal128(2, 2)"),
        ("upper(s)", "upper(s)", "string"),
        ("unhex(s)", "unhex(s)", "binary"),
        ("date_add(day, 1)", "date_add(day, 1)", "date32[day]"),
        ("if(b, ts, NULL)", "if(b, ts, NULL)", "timestamp[us, tz=UTC]"),
        ("if(b, tn, NULL)", "if(b, tn, NULL)", "timestamp[us]"),
        ("arr", "CASE WHEN NOT (arr IS NULL) THEN 1 END", "int32"),
        ("CASE WHEN (i > 3) THEN x END", "CASE WHEN i > 3 THEN x END", "double"),
    ],
)
@pytest.mark.parametrize("time_zone", ["UTC", "America/New_York"])
def test_the_value_of_any_type_is_read(sql: str, read: str, kind: str, time_zone: str) -> None:
    (attribute,) = normalise(value_predicate(sql, SCHEMA, time_zone), SCHEMA, time_zone=time_zone).read
    assert (attribute.sql, str(attribute.type)) == (read, kind)


def test_what_has_no_type_is_refused() -> None:
    with pytest.raises(PredicateError):
        value_predicate("nope + 1", SCHEMA, "UTC")
