"""Rows of texts, as CSV files hold them, as JSON objects: by the types of the schema."""

from __future__ import annotations

import json

import pytest

from asc.schema import Schema
from broker.formats.json import Json

SCHEMA = Schema.from_ddl("n INT, p DECIMAL(9,2), b BOOLEAN, s STRING, place STRUCT<city: STRING>")


@pytest.mark.parametrize(
    ("column", "text", "member"),
    [
        ("n", "7", 7),
        ("N", "-8", -8),
        ("n", "07", "07"),
        ("n", "seven", "seven"),
        ("p", "1.10", 1.1),
        ("b", "TRUE", True),
        ("b", "maybe", "maybe"),
        ("s", "7", "7"),
        ("s", 'a "b"\n\u2028', 'a "b"\n\u2028'),
        ("place", '{"city": "Oslo"}', {"city": "Oslo"}),
        ("place", "{city", "{city"),
        ("other", "7", "7"),
        ("s", None, None),
    ],
)
def test_a_text_is_written_by_its_type_or_else_as_a_string(column: str, text: str | None, member: object) -> None:
    written = Json().encoder_of_texts(SCHEMA)({column: text})
    name = column.lower() if column.lower() in SCHEMA.arrow.names else column
    assert json.loads(written) == {name: member}


def test_digits_are_left_as_they_are() -> None:
    assert Json().encoder_of_texts(SCHEMA)({"p": "1.10", "n": "7"}) == b'{"p":1.10,"n":7}'
