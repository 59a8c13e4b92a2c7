"""How a writer's schema is read into columns: what is asked of Avro's reader (the values: test_avro_decoder.py)."""

from __future__ import annotations

import json

from asc.schema import Schema
from broker.formats.avro_reading import WHOLE, reading_of
from broker.formats.avro_schema import AvroSchema

ENUM = {"type": "enum", "name": "E", "symbols": ["X"]}
POINT = {"type": "record", "name": "P", "fields": [{"name": "x", "type": "int"}, {"name": "e", "type": ENUM}]}
WRITER = {
    "type": "record",
    "name": "R",
    "namespace": "n",
    "fields": [
        {"name": "p", "type": POINT},
        {"name": "q", "type": "P"},
        {"name": "e", "type": "E"},
        {"name": "u", "type": "int"},
    ],
}


def test_only_what_columns_need_is_read_and_each_name_is_written_once() -> None:
    fields = Schema.from_ddl("q STRUCT<e: STRING>, p STRUCT<x: INT, e: STRING>, e STRING, none INT")
    reading = reading_of(AvroSchema.of_text(json.dumps(WRITER)), fields, "raw")
    reader = json.loads(reading.reader)
    assert [field["name"] for field in reader["fields"]] == ["q", "p", "e", WHOLE]
    # What Avro itself takes for a schema: no name twice, none before it is there.
    assert AvroSchema.of_text(reading.reader).fields().ddl().startswith("q STRUCT<e: STRING, ")
    assert [field["name"] for field in reader["fields"][0]["type"]["fields"]] == ["e", WHOLE]
    assert reading.columns["none"].value == "NULL"


def test_a_column_that_nothing_written_can_be_has_no_value() -> None:
    fields = Schema.from_ddl("u STRING, p INT, e ARRAY<STRING>, q STRUCT<x: STRING>")
    reading = reading_of(AvroSchema.of_text(json.dumps(WRITER)), fields, "raw")
    assert {name for name, column in reading.columns.items() if column.value is None} == {"u", "p", "e", "q"}
    assert [field["name"] for field in json.loads(reading.reader)["fields"]] == [WHOLE]
