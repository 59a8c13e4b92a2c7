"""A writer's schema as Spark is given it: self-contained, and so deep in itself that a reader's stack takes it."""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro

from asc.nesting import json_levels
from broker.formats.avro_levels import LEVELS_MAX, writer_text
from broker.formats.avro_schema import AvroSchema
from tests.broker.formats.test_avro_schema import INNER, of


def record(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": each, "type": kind} for each, kind in fields.items()]}


TREE = record("n.Tree", a="int", inner={"type": "array", "items": "n.Tree"}, tags={"type": "map", "values": "string"})
MUTUAL = record(
    "A", b={"type": "map", "values": ["null", record("B", a=["null", "A"], list=["null", "B"])]}, list=["null", "A"]
)


def written(schema: dict[str, Any]) -> Any:
    return json.loads(writer_text(AvroSchema.of_text(json.dumps(schema))))


def test_what_it_refers_to_is_written_into_it() -> None:
    schema = AvroSchema.of_text(of("In", "In"), [json.dumps(INNER)])
    text = writer_text(schema)
    assert AvroSchema.of_text(text).fields() == schema.fields()
    assert json.loads(text)["fields"][1]["type"] == "In"


def test_a_schema_without_records_in_themselves_is_written_as_it_is() -> None:
    linked = record("L", x={"type": "array", "items": {"type": "array", "items": "int"}}, next=["null", "L"])
    assert written(linked) == {**linked, "namespace": ""}


def test_records_are_read_alike_up_to_the_last_level() -> None:
    def tree(levels: int) -> dict[str, Any]:
        return {"a": levels, "inner": [tree(levels - 1)] * 2 if levels else [], "tags": {"k": "v"}}

    narrow = {"a": 0, "inner": [], "tags": {}}
    for _ in range(LEVELS_MAX):
        narrow = {"a": 1, "inner": [narrow], "tags": {}}
    for value in (tree(6), narrow):
        out = io.BytesIO()
        fastavro.schemaless_writer(out, fastavro.parse_schema(TREE), value)
        out.seek(0)
        assert fastavro.schemaless_reader(out, fastavro.parse_schema(written(TREE)), None) == value


def test_after_the_last_level_nothing_can_stand() -> None:
    node = written(TREE)
    names = [node["name"]]
    while node["fields"][1]["type"]["items"]:
        node = node["fields"][1]["type"]["items"]
        names.append(f"{node['namespace']}.{node['name']}")
        assert node["fields"][2]["type"] == {"type": "map", "values": "string"}
    assert names == ["n.Tree", *(f"n.asc_level_{level}.Tree" for level in range(1, LEVELS_MAX + 1))]


def test_records_in_each_other_have_levels_together() -> None:
    text = json.dumps(written(MUTUAL))
    assert (text.count('"name": "A"'), text.count('"name": "B"')) == (LEVELS_MAX + 1, LEVELS_MAX)


def test_a_schema_that_is_deep_itself_has_fewer_levels() -> None:
    inner: Any = {"type": "array", "items": "D"}
    for place in range(30):
        inner = record(f"D{place}", inner=inner)
    text = json.dumps(written(record("D", a="int", inner=inner)))
    assert 1 < text.count('"name": "D"') < LEVELS_MAX
    assert json_levels(text) <= 700
