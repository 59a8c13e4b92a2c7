"""A writer's Avro schema as Spark is given it: records in themselves, by arrays and maps, so many levels deep.

Java's reader passes over what no column needs, and goes some calls deeper for each array or map in a record. So a few
kilobytes of a record that is in itself would overflow its stack, which ends the batch. Where a record comes back to
itself in a union alone, the reader has no call for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from asc.nesting import json_levels
from broker.formats.avro_schema import RECORDS, AvroSchema, Node, with_namespace
from broker.formats.type_cycles import cycles_of

LEVELS_MAX = 32
"""Arrays and maps through which a record may be in itself, as deep as columns are."""

_JSON_LEVELS_MAX = 600
_TYPES_MAX = 40_000
"""Of what is written here, whatever the schema: of a large one the levels are fewer."""

_NOTHING: list[Any] = []
"""A union of no types: an array or a map of it can be empty, and a record with anything in it is damaged."""


def writer_text(schema: AvroSchema) -> str:
    """Return the JSON of a schema, in which each named type is written out where it is met first.

    A record that contains itself through an array or a map gets another name at each level. After the last level that
    array or map is empty. Cost: the types of such records, once a level.
    """
    plain = _Writing(schema, {}, 0).text()
    circles = _circles(schema)
    if not circles:
        return plain
    types = len(list(schema.nodes()))
    levels = min(LEVELS_MAX, _JSON_LEVELS_MAX // json_levels(plain), _TYPES_MAX // types)
    return _Writing(schema, circles, levels).text()


class _Writing:
    """One schema being written: ``circles`` are the records that come back to themselves, by name."""

    def __init__(self, schema: AvroSchema, circles: Mapping[str, int], levels: int) -> None:
        self._schema = schema
        self._circles = circles
        self._levels = levels
        self._written: set[tuple[str, int]] = set()

    def text(self) -> str:
        """Return the JSON."""
        return json.dumps(self._type(self._schema.root, None, 0))

    def _type(self, schema: Any, circle: int | None, level: int) -> Any:
        """Return a type within a record of a circle, at a level of it, as JSON has it."""
        if isinstance(schema, str) and schema not in self._schema.named:
            return schema
        node = self._schema.node(schema)
        kind = node["type"]
        if node.get("name") in self._schema.named:
            own = self._circles.get(node["name"])
            if own is None or own != circle:
                circle, level = own, 0
            key = (node["name"], level)
            node = _at_level(with_namespace(node), level)
            if key in self._written:
                return ".".join(filter(None, (node.get("namespace"), node["name"])))
            self._written.add(key)
        if kind == "union":
            return [self._type(member, circle, level) for member in node["members"]]
        if kind in RECORDS:
            fields = [{**field, "type": self._type(field["type"], circle, level)} for field in node["fields"]]
            return {**node, "fields": fields}
        if kind in ("array", "map"):
            part = "items" if kind == "array" else "values"
            comes_back = circle is not None and self._leads_into(node, circle)
            if comes_back and level == self._levels:
                return {**node, part: _NOTHING}
            return {**node, part: self._type(node[part], circle, level + comes_back)}
        return node

    def _leads_into(self, node: Node, circle: int) -> bool:
        return any(self._circles.get(record["name"]) == circle for record in self._schema.records_in(node))


def _at_level(node: Node, level: int) -> Node:
    """Return a named type under the name that it has at a level: readers match records by the last part of it."""
    if not level:
        return node
    namespace, _, name = node["name"].rpartition(".")
    return {**node, "name": name, "namespace": ".".join(filter(None, (namespace, f"asc_level_{level}")))}


def _circles(schema: AvroSchema) -> dict[str, int]:
    """Return, by name, the records that come back to themselves through an array or a map, with the number of those
    that are in each other.
    """
    records = [node for node in schema.nodes() if node["type"] in RECORDS]
    places = {record["name"]: place for place, record in enumerate(records)}
    edges = [
        (places[record["name"]], places[inner["name"]], is_many)
        for record in records
        for inner, is_many in schema.records_within(record)
    ]
    if not any(is_many for _, _, is_many in edges):
        return {}
    found = cycles_of(len(records), [(source, target) for source, target, _ in edges])
    circles = {found[source] for source, target, is_many in edges if is_many and found[source] == found[target]}
    return {name: found[place] for name, place in places.items() if found[place] in circles}
