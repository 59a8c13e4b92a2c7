"""Columns by the names of the schema, and none lost or mistaken for another."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from asc.schema import Schema
from broker.formats.spelling import respelling, spelled

SCHEMA = Schema.from_ddl("delay INT, Carrier STRING, straße STRING")
FIELDS = ["delay", "Carrier", "straße"]
COLUMNS = st.lists(
    st.sampled_from(
        [*FIELDS, "DELAY", "Delay", "carrier", "CARRIER", "Straße", "STRASSE", "other", "OTHER", "", "delay "]
    ),
    unique=True,
)


@given(COLUMNS)
def test_a_field_is_found_once_and_nothing_else_is_renamed(columns: Sequence[str]) -> None:
    found = spelled(columns, SCHEMA)
    assert [name.lower() for name in found] == [name.lower() for name in columns]
    assert len(set(found)) == len(found)
    for before, after in zip(columns, found, strict=True):
        assert after == before or after in FIELDS
        assert before not in FIELDS or after == before
    # What is a field but for case is there by the field's name.
    given_fields = {name.lower() for name in columns} & {field.lower() for field in FIELDS}
    assert {name.lower() for name in found if name in FIELDS} == given_fields


def test_of_several_the_exact_one_is_the_field_else_the_first() -> None:
    assert spelled(["CARRIER", "Carrier"], SCHEMA) == ["CARRIER", "Carrier"]
    assert spelled(["CARRIER", "carrier"], SCHEMA) == ["Carrier", "carrier"]


@given(st.lists(COLUMNS, min_size=1, max_size=4))
def test_rows_of_any_columns_are_respelled_each_by_its_own(rows: list[list[str]]) -> None:
    respelled = respelling(SCHEMA)
    for columns in [*rows, *rows]:
        row = {name: place for place, name in enumerate(columns)}
        assert respelled(row) == dict(zip(spelled(columns, SCHEMA), range(len(columns)), strict=True))
