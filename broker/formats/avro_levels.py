"""A writer's Avro schema as text for Spark, in which recursion through arrays and maps is cut at a fixed depth.

Java's reader skips values that no column needs, and recurses some calls for each array or map in a record. So a few
kilobytes of a recursive record would overflow its stack and end the batch. If a record contains itself only through a
union, the reader does not recurse.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from asc.nesting import json_levels
from broker.formats.avro_schema import RECORDS, AvroSchema, Node, with_namespace
from broker.formats.type_cycles import cycles_of

LEVELS_MAX = 32
"""The largest number of levels of arrays and maps through which a record may contain itself."""

_JSON_LEVELS_MAX = 600
_TYPES_MAX = 40_000
"""The largest number of types in the text of any schema. For a large schema, recursion is therefore cut at fewer levels
than LEVELS_MAX.
"""

_NOTHING: list[Any] = []
"""A union without types. An array or map of such a union can only be empty; a record that has an item in it is treated
as damaged.
"""


def writer_text(schema: AvroSchema) -> str:
    """Return a schema as JSON, in which each named type is written out at its first occurrence.

    A record that contains itself through an array or a map gets another name at each level. After the last level that
    array or map is empty. Cost: the types of such records, once per level.
    """
    plain = _Writing(schema, {}, 0).text()
    circles = _circles(schema)
    if not circles:
        return plain
    types = len(list(schema.nodes()))
    levels = min(LEVELS_MAX, _JSON_LEVELS_MAX // json_levels(plain), _TYPES_MAX // types)
    return _Writing(schema, circles, levels).text()


class _Writing:
    """The writing of one schema as JSON text. ``circles``: the record types that contain themselves, by name, each with
    the number of its cycle (:func:`cycles_of`). ``levels``: the number of levels at which recursion is cut.
    """

    def __init__(self, schema: AvroSchema, circles: Mapping[str, int], levels: int) -> None:
        self._schema = schema
        self._circles = circles
        self._levels = levels
        self._written: set[tuple[str, int]] = set()

    def text(self) -> str:
        """Return the schema as JSON."""
        return json.dumps(self._type(self._schema.root, None, 0))

    def _type(self, schema: Any, circle: int | None, level: int) -> Any:
        """Return a type as a JSON value. ``circle``: the number of the cycle of the record around the type, or None.
        ``level``: the level of the recursion.
        """
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
    """Return a named type with the name that it has at a level of the recursion. Only the name space depends on the
    level, because readers match records by the last part of the name.
    """
    if not level:
        return node
    namespace, _, name = node["name"].rpartition(".")
    return {**node, "name": name, "namespace": ".".join(filter(None, (namespace, f"asc_level_{level}")))}


def _circles(schema: AvroSchema) -> dict[str, int]:
    """Return the record types that contain themselves through an array or a map, by name, each with the number of its
    cycle (:func:`cycles_of`).
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
