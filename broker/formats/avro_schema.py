"""Avro schemas: parsed with resolved names, checked against limits, and mapped to columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from asc.errors import SchemaError
from asc.nesting import json_levels
from broker.formats.type_cycles import longest_path

if TYPE_CHECKING:
    import pyarrow as pa

    from asc.schema import Schema

_CHARS_MAX = 1 << 20
_NODES_MAX = 10_000
_COLUMN_DEPTH_MAX = 24

_LEVELS_MAX = 300
"""The largest number of nested arrays and objects in a schema's JSON. They suffice for a hundred nested records or
unions of arrays. Java's parser accepts a thousand.
"""

_TYPES_DEEP_MAX = 200
"""The largest depth of nested types, if the definition of a type replaces each use of the type's name. The readers,
here and in Java, make some recursive calls for each level.
"""

_VALUES_MAX = 50_000
"""The largest number of types of a schema, if the definition of a type replaces each use of the type's name. Java's
reader allocates memory for all of these types. A record of zero bytes may have as many values.
"""

_FIXED_BYTES_MAX = 1 << 24
"""The largest size of a ``fixed`` type. Java's reader allocates this memory before it knows whether the record has so
many bytes.
"""

RECORDS = ("record", "error")

Node = dict[str, Any]
"""One type of a schema: a dictionary with ``type``, or with ``union`` for a union. Its parts are nested or named."""

_AS_DDL = ": make it simpler, or write the schema as DDL"
"""The remedy for a schema that is refused as a whole."""


@dataclass(frozen=True, slots=True)
class AvroSchema:
    """An Avro schema in which all names are full, and its named types by name.

    Invariant: every name in ``root`` and in ``named`` is a key of ``named``, and the root is a record. The size of the
    text and the number of types are bounded. Records may contain themselves.
    """

    root: Node
    named: Mapping[str, Node]

    @staticmethod
    def of_text(text: str, references: Sequence[str] = ()) -> AvroSchema:
        """Return the schema in a text. ``references``: the texts of the schemas to which this schema refers. Raise
        SchemaError if a schema is invalid or too large.
        """
        import fastavro
        from fastavro.schema import SchemaParseException, UnknownType

        if sum(map(len, (text, *references))) > _CHARS_MAX:
            raise SchemaError("Avro schema", f"{text[:40]}...", f"is longer than {_CHARS_MAX:,} characters{_AS_DDL}")
        if max(map(json_levels, (text, *references))) > _LEVELS_MAX:
            raise SchemaError("Avro schema", f"{text[:40]}...", f"is nested too deep{_AS_DDL}")
        named: dict[str, Any] = {}
        try:
            for reference in references:
                fastavro.parse_schema(json.loads(reference), named)
            root = fastavro.parse_schema(json.loads(text), named)
            return AvroSchema._of_parsed(root, named, text)
        except RecursionError:
            raise SchemaError("Avro schema", f"{text[:40]}...", f"is nested too deep{_AS_DDL}") from None
        except (ValueError, TypeError, KeyError, AttributeError, SchemaParseException, UnknownType) as error:
            said = f"is not one that Avro knows: {type(error).__name__} {str(error)[:200]}"
            raise SchemaError("Avro schema", f"{text[:40]}...", said) from None

    @staticmethod
    def _of_parsed(root: Any, named: Mapping[str, Any], text: str) -> AvroSchema:
        schema = AvroSchema(_plain(root), {name: _plain(node) for name, node in named.items()})
        if schema.node(schema.root)["type"] not in RECORDS:
            raise SchemaError("Avro schema", f"{text[:40]}...", "is no record: a record's fields are the columns")
        return AvroSchema(schema.node(schema.root), schema.named).checked(text)

    def checked(self, text: str) -> AvroSchema:
        """Return the schema itself. Raise SchemaError if its types are too many, too deep or too large, if a record
        contains itself without an end, or if an array's items may take no bytes.

        A few bytes could declare any number of items that take no bytes.
        """
        nodes = list(islice(self.nodes(), _NODES_MAX + 1))
        if len(nodes) > _NODES_MAX:
            raise SchemaError("Avro schema", f"{text[:40]}...", f"has more than {_NODES_MAX:,} types{_AS_DDL}")
        if not self._ends(nodes):
            raise SchemaError(
                "Avro schema", f"{text[:40]}...", f"has a record that contains itself without an end{_AS_DDL}"
            )
        self._check_values(text, nodes)
        if self._deepest(nodes) > _TYPES_DEEP_MAX:
            raise SchemaError("Avro schema", f"{text[:40]}...", f"is nested too deep{_AS_DDL}")
        if any(node["type"] == "fixed" and node["size"] > _FIXED_BYTES_MAX for node in nodes):
            raise SchemaError(
                "Avro schema", f"{text[:40]}...", f"has a fixed of more than {_FIXED_BYTES_MAX:,} bytes{_AS_DDL}"
            )
        return self

    def _check_values(self, text: str, nodes: Sequence[Node]) -> None:
        """Raise SchemaError if a record without arrays has too many values, or if the items of an array may take no
        bytes.
        """
        taking: dict[str, bool] = {}
        values: dict[str, int] = {}

        def count(schema: Any) -> int:
            node = self.node(schema)
            if node["type"] in RECORDS:
                return values.get(node["name"], 1)
            return 1 + sum(map(count, parts_of(node)))

        for record in self._records_inmost_first():
            # A record that contains itself takes some bytes for each level, if it ends at all.
            taking[record["name"]] = any(self._takes_bytes(field["type"], taking) for field in record["fields"])
            values[record["name"]] = 1 + sum(map(count, parts_of(record)))
            if values[record["name"]] > _VALUES_MAX:
                raise SchemaError(
                    "Avro schema", f"{text[:40]}...", f"has records of more than {_VALUES_MAX:,} values{_AS_DDL}"
                )
        arrays = (node for node in nodes if node["type"] == "array")
        if not all(self._takes_bytes(node["items"], taking) for node in arrays):
            raise SchemaError("Avro schema", f"{text[:40]}...", f"has an array whose items take no bytes{_AS_DDL}")

    def _deepest(self, nodes: Sequence[Node]) -> int:
        """Return the greatest depth of nested types, if the definition of a type replaces each use of the type's name.
        For records that contain themselves, count all records of the cycle.

        Java's reader visits a record at each of its occurrences, not only at the first.
        """
        # Types without a name that are equally deep in their record share one node of the graph.
        places: dict[tuple[str, int], int] = {(self.root["name"], 0): 0}
        edges: set[tuple[int, int]] = set()
        for record in (node for node in nodes if node["type"] in RECORDS):
            pending = [(part, 0) for part in parts_of(record)]
            while pending:
                part, depth = pending.pop()
                inner = self.node(part)
                is_record = inner["type"] in RECORDS
                source, target = (
                    (record["name"], depth),
                    (inner["name"], 0) if is_record else (record["name"], depth + 1),
                )
                edges.add((places.setdefault(source, len(places)), places.setdefault(target, len(places))))
                if not is_record:
                    pending += [(each, depth + 1) for each in parts_of(inner)]
        return longest_path(len(places), edges)

    def _records_inmost_first(self) -> Iterator[Node]:
        """Yield the schema's record types, each after all record types that it contains. If two contain each other,
        either may come first.
        """
        seen: set[str] = set()
        pending = [(self.root, False)]
        while pending:
            record, is_left = pending.pop()
            if is_left:
                yield record
            elif record["name"] not in seen:
                seen.add(record["name"])
                pending.append((record, True))
                pending += [(inner, False) for inner in self.records_in(record)]

    def records_in(self, node: Node) -> list[Node]:
        """Return the record types directly inside a type, but not the record types inside these."""
        return [record for record, _ in self.records_within(node)]

    def records_within(self, node: Node) -> list[tuple[Node, bool]]:
        """Return the record types directly inside a type, each with whether the path to it leads through an array or a
        map.
        """
        records: list[tuple[Node, bool]] = []
        pending = [(part, False) for part in parts_of(node)]
        while pending:
            part, is_many = pending.pop()
            inner = self.node(part)
            if inner["type"] in RECORDS:
                records.append((inner, is_many))
            else:
                is_many = is_many or inner["type"] in ("array", "map")
                pending += [(each, is_many) for each in parts_of(inner)]
        return records

    def _ends(self, nodes: Sequence[Node]) -> bool:
        """Return whether each record type among the nodes can have a finite value. A record type can if the types of
        all of its fields can, a union if one of its members can. An array or map always can, because it may be empty.
        Cost: each field is visited once, without recursion.
        """
        unended: dict[str, set[int]] = {}
        waiting: dict[str, list[tuple[str, int]]] = {}
        for node in nodes:
            if node["type"] not in RECORDS:
                continue
            unended[node["name"]] = set()
            for place, field in enumerate(node["fields"]):
                own = self.node(field["type"])
                # A union has no union as a member.
                members = list(map(self.node, own["members"])) if own["type"] == "union" else [own]
                if all(member["type"] in RECORDS for member in members):
                    unended[node["name"]].add(place)
                    for member in members:
                        waiting.setdefault(member["name"], []).append((node["name"], place))
        ended = [name for name, places in unended.items() if not places]
        for name in ended:
            for other, place in waiting.pop(name, ()):
                places = unended[other]
                if place in places:
                    places.remove(place)
                    if not places:
                        ended.append(other)
        return len(ended) == len(unended)

    def node(self, schema: Any) -> Node:
        """Return the node of a part of the schema, which is a name, a list of a union's members, or the type itself."""
        if isinstance(schema, str):
            return self.named.get(schema) or {"type": schema}
        if isinstance(schema, list):
            return {"type": "union", "members": schema}
        return (
            schema
            if isinstance(schema["type"], str) and schema["type"] not in self.named
            else self.node(schema["type"])
        )

    def _takes_bytes(self, schema: Any, known: Mapping[str, bool]) -> bool:
        """Return whether each value of a type takes at least one byte. ``known``: the results for records, by name."""
        node = self.node(schema)
        if node["type"] == "null" or (node["type"] == "fixed" and not node["size"]):
            return False
        return node["type"] not in RECORDS or known.get(node["name"], True)

    def written_out(self, schema: Any, written: set[str]) -> Any:
        """Return a part of the schema as JSON in which the first use of each name is replaced by the definition of the
        type. ``written``: the names whose definitions were already written; the method adds to them.
        """
        if isinstance(schema, str) and schema not in self.named:
            return schema
        node = self.node(schema)
        name = node.get("name")
        if name in self.named:
            if name in written:
                return name
            written.add(str(name))
            node = with_namespace(node)
        kind = node["type"]
        if kind == "union":
            return [self.written_out(member, written) for member in node["members"]]
        if kind in RECORDS:
            fields = [{**field, "type": self.written_out(field["type"], written)} for field in node["fields"]]
            return {**node, "fields": fields}
        if kind in ("array", "map"):
            part = "items" if kind == "array" else "values"
            return {**node, part: self.written_out(node[part], written)}
        return node

    def fields(self) -> Schema:
        """Return the columns of a stream with such records. Raise SchemaError if no column type holds the values of a
        field.
        """
        import pyarrow as pa

        from asc.schema import Schema

        try:
            fields = [
                pa.field(field["name"], self.column(field["type"], field["name"])) for field in self.root["fields"]
            ]
        except UnicodeEncodeError as error:
            # JSON can spell half a surrogate pair.
            raise SchemaError("Avro field", str(error.object), "is no name of whole characters: rename it") from None
        return Schema.from_arrow(pa.schema(fields))

    def column(self, schema: Any, path: str, depth: int = 0) -> pa.DataType:
        """Return the Spark type that can represent all values of a part of the schema. Raise SchemaError if there is no
        such type.
        """
        import pyarrow as pa

        if depth > _COLUMN_DEPTH_MAX:
            raise SchemaError("Avro field", path[:100], "is nested in itself or too deep: write the schema as DDL")
        node = self.node(schema)
        kind = node["type"]
        if kind == "union":
            members = [member for member in node["members"] if self.node(member)["type"] != "null"]
            kinds = {self.node(member)["type"] for member in members}
            if len(members) == 1:
                return self.column(members[0], path, depth)
            wider = {frozenset(("int", "long")): pa.int64(), frozenset(("float", "double")): pa.float64()}
            if frozenset(kinds) in wider:
                return wider[frozenset(kinds)]
            raise SchemaError("Avro field", path, "is a union of several types: write the schema as DDL, with one")
        if kind in RECORDS:
            inner = [(f["name"], self.column(f["type"], f"{path}.{f['name']}", depth + 1)) for f in node["fields"]]
            return pa.struct(inner)
        if kind == "array":
            return pa.list_(self.column(node["items"], f"{path}[]", depth + 1))
        if kind == "map":
            return pa.map_(pa.string(), self.column(node["values"], f"{path}[]", depth + 1))
        logical = node.get("logicalType")
        if logical == "decimal" and kind in ("bytes", "fixed"):
            return pa.decimal128(min(int(node["precision"]), 38), int(node.get("scale", 0)))
        found = _TIMES.get((kind, str(logical))) or _PLAIN.get(kind)
        if found is None:
            raise SchemaError("Avro field", path, f"is of type {kind}, for which Spark has none")
        return {"date": pa.date32(), "instant": pa.timestamp("us", tz="UTC"), "local": pa.timestamp("us")}.get(
            found
        ) or pa.type_for_alias(found)

    def nodes(self) -> Iterator[Node]:
        """Yield the schema's types, each named type once."""
        seen: set[str] = set()
        pending: list[Any] = [self.root]
        while pending:
            node = self.node(pending.pop())
            name = node.get("name")
            if name in seen:
                continue
            if name is not None:
                seen.add(name)
            yield node
            pending += reversed(parts_of(node))


def parts_of(node: Node) -> list[Any]:
    """Return the types directly inside a type: those of its fields, items, values or members."""
    parts = [field["type"] for field in node.get("fields", ())]
    parts += [node[part] for part in ("items", "values") if part in node]
    return [*parts, *node.get("members", ())]


def with_namespace(node: Node) -> Node:
    """Return a named type with an explicit name space, also an empty one, so that its name does not depend on its
    position.
    """
    return node if "." in node["name"] else {**node, "namespace": ""}


_TIMES: Mapping[tuple[str, str], str] = {
    ("int", "date"): "date",
    ("long", "timestamp-millis"): "instant",
    ("long", "timestamp-micros"): "instant",
    ("long", "local-timestamp-millis"): "local",
    ("long", "local-timestamp-micros"): "local",
}
_PLAIN: Mapping[str, str] = {
    **{"boolean": "bool", "int": "int32", "long": "int64", "float": "float32", "double": "float64"},
    **{"string": "string", "enum": "string", "bytes": "binary", "fixed": "binary"},
}


def _plain(schema: Any) -> Any:
    """Return a parsed schema without the annotations that its parser added."""
    if isinstance(schema, list):
        return [_plain(member) for member in schema]
    if isinstance(schema, dict):
        return {key: value if key == "default" else _plain(value) for key, value in schema.items() if key[:2] != "__"}
    return schema
