"""Hints: what is read otherwise than it was meant is said, and how to write it."""

from __future__ import annotations

import pytest

from asc.keys.attribute import PAttribute
from asc.predicate import normalise
from asc.schema import Schema

SCHEMA = Schema.from_ddl("n INT, s STRING, flag BOOLEAN, ts TIMESTAMP, big BIGINT, tags ARRAY<STRING>")


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("n = NULL", "n = NULL is NULL for every record: write n IS NULL"),
        ("n != NULL", "n != NULL is NULL for every record: write n IS NOT NULL"),
        ("n <> NULL AND flag", "n <> NULL is NULL for every record: write n IS NOT NULL"),
        ("NULL == n + 1", "NULL == n + 1 is NULL for every record: write n + 1 IS NULL"),
        ("CASE WHEN s = NULL THEN TRUE END", "s = NULL is NULL for every record: write s IS NULL"),
        ("(flag || n) = 'true1'", "flag || n: || joins texts: between conditions write OR"),
        ("s = 'it''s'", r"'it''s' is read as 'its', strings joined: a quote inside of one is \'"),
    ],
)
def test_what_may_be_a_mistake_is_warned_of(text: str, warning: str) -> None:
    assert warning in normalise(text, SCHEMA).warnings


@pytest.mark.parametrize("text", ["n <=> NULL", "n = m", "NULL = NULL AND flag", "s = 'a' 'b'", "s = 'a' || n"])
def test_what_is_meant_is_not(text: str) -> None:
    schema = Schema.from_ddl("n INT, m INT, s STRING, flag BOOLEAN")
    warnings = normalise(text, schema).warnings
    assert not [warning for warning in warnings if "write" in warning or "read as" in warning]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("timestamp_seconds(big) > ts", "timestamp_seconds(big)"),
        ("timestamp_seconds(big) IS NULL", "timestamp_seconds(big) IS NULL"),
        ("array_contains(tags, 'x')", "tags"),
        ("s ILIKE '%Port%down%'", "s ILIKE '%Port%down%'"),
        ("n = 1", "n"),
    ],
)
def test_errors_name_a_p_attribute_as_it_is_written(text: str, written: str) -> None:
    schema = Schema.from_ddl("n INT, s STRING, big BIGINT, ts TIMESTAMP, tags ARRAY<STRING>")
    (attribute,) = normalise(text.replace("> ts", "> TIMESTAMP '2020-01-01 00:00:00'"), schema).p_attributes
    assert attribute.as_written == written


def test_a_p_attribute_from_elsewhere_has_its_own_text() -> None:
    assert PAttribute("n + 1", SCHEMA.resolve(("n",)).type).as_written == "n + 1"
