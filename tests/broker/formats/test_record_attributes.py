"""The record's own attributes: named in every schema, and what a record has for them."""

from __future__ import annotations

import pyarrow as pa

from asc.schema import Schema
from broker.formats.record_attributes import RESERVED_ATTRIBUTES, attributes_of


def test_the_record_itself_is_among_the_attributes() -> None:
    attributes = attributes_of(Schema.from_ddl("n INT, place STRUCT<city: STRING>"))
    assert attributes.resolve(["_offset"]).type == pa.int64()
    assert attributes.resolve(["_timestamp"]).type == pa.timestamp("us", tz="UTC")
    assert attributes.resolve(["place", "city"]).type == pa.string()


def test_every_one_of_them_is_reserved() -> None:
    assert tuple(attributes_of(Schema.from_ddl("n INT")).arrow.names[1:]) == RESERVED_ATTRIBUTES
