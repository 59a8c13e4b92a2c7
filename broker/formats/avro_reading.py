"""Conversion of values that were written with one Avro schema to the columns of a stream: fields are matched by name,
and no value is changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from asc.spark_types import backquoted, ddl_of_type
from broker.formats.avro_levels import writer_text
from broker.formats.avro_schema import AvroSchema, with_namespace

if TYPE_CHECKING:
    import pyarrow as pa

    from asc.schema import Schema

WHOLE = "__asc_whole"
"""A field that no writer has; its default value shows that a value was read. For damaged values Spark yields NULLs
only.
"""

_Sql = Callable[[str], str]
"""A function from the SQL of a value to the SQL of an expression over that value."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """The conversion of one part of a record, as SQL over the value that Spark reads with the schema ``expected``.

    ``fault`` is the condition under which the value is not of the column's type. It is None if every value is of this
    type.
    """

    expected: Any
    value: _Sql
    fault: _Sql | None = None


@dataclass(frozen=True, slots=True)
class ColumnReading:
    """The conversion of one column: functions from the SQL of the record to the SQL of the value and of its fault.

    ``fault`` is the condition (never NULL) under which the written value is not of the column's type, or None if every
    written value is of this type. ``value`` is None if no written value can be of the type.
    """

    value: str | None
    fault: str | None


MISSING = ColumnReading("NULL", None)
"""The conversion of a column for which neither the writer has a field nor the stream's own schema a default."""


@dataclass(frozen=True, slots=True)
class AvroReading:
    """The conversion of the records of one writer to columns.

    ``writer`` is the JSON schema with which the records were written. ``reader`` is the one with which they are read:
    it has the writer's fields that columns need, in the writer's types, and WHOLE. ``columns``: conversions by column
    name. A column that the writer lacks is NULL or has its default. Cost: none per record; it is built once per writer.
    """

    writer: str
    reader: str
    columns: Mapping[str, ColumnReading]


def reading_of(writer: AvroSchema, fields: Schema, record: str, own_schema: AvroSchema | None = None) -> AvroReading:
    """Return the conversion of a writer's records to fields. ``record`` is the SQL name of the struct that Spark reads.

    ``own_schema`` is the stream's own Avro schema, if it has one. Missing fields take their defaults from it, and its
    aliases also identify fields.
    """
    resolver = _Resolver(writer, own_schema)
    columns: dict[str, ColumnReading] = {}
    expected = []
    for field in fields.arrow:
        field_reading = resolver.field(writer.root, own_schema.root if own_schema else None, field.name, field.type, 0)
        if field_reading is None:
            columns[field.name] = MISSING
            continue
        if isinstance(field_reading, _Unfit):
            columns[field.name] = ColumnReading(None, None)
            continue
        expected.append(field_reading.expected)
        place = f"{record}.{backquoted(field.name)}"
        columns[field.name] = ColumnReading(
            field_reading.value(place), field_reading.fault(place) if field_reading.fault else None
        )
    expected.append({"name": WHOLE, "type": "boolean", "default": True})
    reader = _each_once({**with_namespace(writer.root), "fields": expected}, set())
    return AvroReading(writer_text(writer), json.dumps(reader), columns)


class _Unfit:
    """The marker in place of a conversion if no value of a writer's type can be of the column's type."""


_UNFIT = _Unfit()


class _Resolver:
    """Resolves parts of a writer's schema against types of columns and against the stream's own schema.

    Each record type gets a separate name space at each occurrence, because the occurrences may be read for different
    columns.
    """

    def __init__(self, writer: AvroSchema, own: AvroSchema | None) -> None:
        self._writer = writer
        self._stream_schema = own
        self._numbers = count()

    def field(self, record: Any, own: Any, name: str, column: pa.DataType, depth: int) -> _Reading | _Unfit | None:
        """Return the conversion of a field: of the field that the writer has under the name or an alias, or else of the
        default in the stream's own schema. Return None if neither exists.
        """
        mine = _field_of(own, name)
        names = [name, *(mine.get("aliases", ()) if mine else ())]
        for written_name in names:
            theirs = _field_of(record, written_name)
            if theirs is not None:
                reading = self.part(self._writer, theirs["type"], mine and mine["type"], column, depth)
                aliases = {} if written_name == name else {"aliases": [written_name]}
                return _renamed(reading, {"name": name, **aliases})
        if mine is None or "default" not in mine:
            return None
        assert self._stream_schema is not None
        reading = self.part(self._stream_schema, mine["type"], None, column, depth)
        if isinstance(reading, _Unfit):
            return reading
        # The default of a union is a value of its first member, so that member comes first, even before NULL.
        return _renamed(reading, {"name": name, "default": mine["default"]}, first_of=mine["type"])

    def part(self, schema: AvroSchema, part: Any, own: Any, column: pa.DataType, depth: int) -> _Reading | _Unfit:
        """Return the conversion of a part of the writer's schema to the column's type."""
        import pyarrow as pa

        node = schema.node(part)
        mine = self._stream_schema.node(own) if self._stream_schema and own is not None else None
        kind, types = node["type"], pa.types
        if kind == "union":
            return self._union(schema, node["members"], mine, column, depth)
        if mine is not None and mine["type"] == "union":
            mine = next((n for n in map(self._stream_schema.node, mine["members"]) if n["type"] == kind), None)  # type: ignore[union-attr]
        if kind == "null":
            return _Reading("null", lambda _: f"CAST(NULL AS {ddl_of_type(column)})")
        if kind in ("record", "error"):
            return self._record(schema, node, mine, column, depth) if types.is_struct(column) else _UNFIT
        if kind == "array":
            return self._array(schema, node, mine, column, depth) if types.is_list(column) else _UNFIT
        if kind == "map":
            return self._map(schema, node, mine, column, depth) if types.is_map(column) else _UNFIT
        return _scalar(node, column)

    def _union(self, schema: AvroSchema, members: Any, mine: Any, column: pa.DataType, depth: int) -> _Reading | _Unfit:
        own_type = None if mine is None else (mine["members"] if mine["type"] == "union" else mine)
        others = [member for member in members if schema.node(member)["type"] != "null"]
        nullable = ["null"] if len(others) < len(members) else []
        if not others:
            return self.part(schema, "null", None, column, depth)
        kinds = [schema.node(member)["type"] for member in others]
        is_plain = not any(schema.node(member).get("logicalType") for member in others)
        if len(others) == 1 or (is_plain and set(kinds) in ({"int", "long"}, {"float", "double"})):
            wider = others[0] if len(others) == 1 else ("long" if "long" in kinds else "double")
            found = self.part(schema, wider, own_type, column, depth)
            if isinstance(found, _Unfit):
                # Values of another type are not read, but NULL can be read as any type.
                return _all_null(schema, members) if nullable else found
            expected = [found.expected] if len(others) == 1 else others
            return _Reading([*nullable, *expected], found.value, found.fault)
        # Spark makes a struct of them, of which one is not NULL.
        parts = [self.part(schema, member, own_type, column, depth) for member in others]
        expected = [
            schema.written_out(member, set()) if isinstance(found, _Unfit) else found.expected
            for member, found in zip(others, parts, strict=True)
        ]
        fit = [(place, found) for place, found in enumerate(parts) if isinstance(found, _Reading)]
        unfit = [place for place, found in enumerate(parts) if isinstance(found, _Unfit)]
        if not fit and not nullable:
            return _UNFIT
        null = f"CAST(NULL AS {ddl_of_type(column)})"

        def value(x: str) -> str:
            return f"coalesce({', '.join([*(found.value(f'{x}.member{place}') for place, found in fit), null])})"

        def fault(x: str) -> str:
            wrong = [f"{x}.member{place} IS NOT NULL" for place in unfit]
            wrong += [found.fault(f"{x}.member{place}") for place, found in fit if found.fault is not None]
            return f"({' OR '.join(wrong)})"

        has_faults = unfit or any(found.fault for _, found in fit)
        return _Reading([*nullable, *expected], value, fault if has_faults else None)

    def _record(self, schema: AvroSchema, node: Any, mine: Any, column: pa.DataType, depth: int) -> _Reading | _Unfit:
        inner: dict[str, tuple[pa.DataType, _Reading | None]] = {}
        for place in range(column.num_fields):
            field = column.field(place)
            found = self.field(node, mine, field.name, field.type, depth)
            if isinstance(found, _Unfit):
                return found
            inner[field.name] = (field.type, found)
        own_name = {"name": node["name"].rpartition(".")[2], "namespace": f"asc{next(self._numbers)}"}
        # A record without fields is none to Spark.
        fields = [found.expected for _, found in inner.values() if found is not None]
        fields.append({"name": WHOLE, "type": "boolean", "default": True})
        kept = {key: value for key, value in node.items() if key not in ("name", "namespace", "fields", "aliases")}

        def value(x: str) -> str:
            parts = []
            for name, (kind, found) in inner.items():
                written = "NULL" if found is None else found.value(f"{x}.{backquoted(name)}")
                parts.append(f"'{_text(name)}', CAST({written} AS {ddl_of_type(kind)})")
            return f"IF({x} IS NULL, NULL, named_struct({', '.join(parts)}))"

        faults = [(name, found.fault) for name, (_, found) in inner.items() if found is not None and found.fault]

        def fault(x: str) -> str:
            return f"({' OR '.join(wrong(f'{x}.{backquoted(name)}') for name, wrong in faults)})"

        return _Reading({**kept, **own_name, "fields": fields}, value, fault if faults else None)

    def _array(self, schema: AvroSchema, node: Any, mine: Any, column: pa.DataType, depth: int) -> _Reading | _Unfit:
        own = mine["items"] if mine is not None and mine["type"] == "array" else None
        item_reading = self.part(schema, node["items"], own, column.value_type, depth + 1)
        if isinstance(item_reading, _Unfit):
            return _UNFIT
        item, of_item, wrong = f"x{depth}", item_reading.value, item_reading.fault
        is_same = of_item(item) == item
        return _Reading(
            {"type": "array", "items": item_reading.expected},
            lambda x: x if is_same else f"transform({x}, {item} -> {of_item(item)})",
            None if wrong is None else lambda x: f"coalesce(exists({x}, {item} -> {wrong(item)}), false)",
        )

    def _map(self, schema: AvroSchema, node: Any, mine: Any, column: pa.DataType, depth: int) -> _Reading | _Unfit:
        import pyarrow as pa

        own = mine["values"] if mine is not None and mine["type"] == "map" else None
        value_reading = self.part(schema, node["values"], own, column.item_type, depth + 1)
        if isinstance(value_reading, _Unfit) or not pa.types.is_string(column.key_type):
            return _UNFIT
        key, item, of_item, wrong = (
            f"k{depth}",
            f"x{depth}",
            value_reading.value,
            value_reading.fault or (lambda _: "false"),
        )
        is_same = of_item(item) == item

        def fault(x: str) -> str:
            keys = f"exists(map_keys({x}), {key} -> NOT is_valid_utf8({key}))"
            values = f"exists(map_values({x}), {item} -> {wrong(item)})"
            return f"coalesce({keys} OR {values}, false)"

        return _Reading(
            {"type": "map", "values": value_reading.expected},
            lambda x: x if is_same else f"transform_values({x}, ({key}, {item}) -> {of_item(item)})",
            fault,
        )


def _each_once(schema: Any, seen: set[str]) -> Any:
    """Return a schema as JSON in which a named type is written out at its first occurrence, and named at later ones."""
    if isinstance(schema, list):
        return [_each_once(member, seen) for member in schema]
    if not isinstance(schema, dict):
        return schema
    name = ".".join(filter(None, (schema.get("namespace"), schema.get("name"))))
    if name:
        if name in seen:
            return name
        seen.add(name)
    if "fields" in schema:
        fields = [{**field, "type": _each_once(field["type"], seen)} for field in schema["fields"]]
        return {**schema, "fields": fields}
    parts = {part: _each_once(schema[part], seen) for part in ("items", "values") if part in schema}
    return {**schema, **parts}


def _field_of(record: Any, name: str) -> Any:
    fields = record["fields"] if record is not None and "fields" in record else ()
    return next((field for field in fields if field["name"] == name), None)


def _renamed(reading: _Reading | _Unfit, named: dict[str, Any], first_of: Any = None) -> _Reading | _Unfit:
    if isinstance(reading, _Unfit):
        return reading
    expected = reading.expected
    if isinstance(first_of, list) and first_of[0] != "null" and isinstance(expected, list):
        expected = [*(member for member in expected if member != "null"), "null"]
    return _Reading({**named, "type": expected}, reading.value, reading.fault)


def _all_null(schema: AvroSchema, members: Any) -> _Reading:
    """Return the conversion of a union of NULL and types that do not fit the column's type. Any value except NULL is a
    fault.
    """
    expected = schema.written_out(members, set())
    return _Reading(expected, lambda _: "NULL", lambda x: f"({x} IS NOT NULL)")


def _same(x: str) -> str:
    return x


def _scalar(node: Any, column: pa.DataType) -> _Reading | _Unfit:
    """Return the conversion of a scalar type to a Spark type: unchanged, or by a cast that keeps the value or fails."""
    import pyarrow as pa

    kind, logical, types = node["type"], node.get("logicalType"), pa.types
    ddl = ddl_of_type(column)
    expected = kind if kind in ("string", "boolean") else with_namespace(node) if "name" in node else node
    is_number = logical == "decimal" and kind in ("bytes", "fixed")
    if types.is_string(column) and kind in ("string", "enum", "bytes") and not is_number:
        return _text_reading(kind, "bytes" if kind == "bytes" else expected)
    if types.is_binary(column) and kind == "string":
        return _Reading(expected, lambda x: f"CAST({x} AS BINARY)")
    if types.is_binary(column) and kind in ("bytes", "fixed") and not is_number:
        return _Reading("bytes" if kind == "bytes" else expected, _same)
    if types.is_boolean(column) and kind == "boolean":
        return _Reading(expected, _same)
    if types.is_date(column) and (kind, logical) == ("int", "date"):
        return _Reading(expected, _same)
    if types.is_timestamp(column) and kind == "long" and logical in _times(column):
        return _Reading(expected, _same)
    if types.is_floating(column) and kind in _FLOATING[ddl]:
        return _Reading(kind, _cast(kind, ddl))
    if types.is_integer(column) and kind in ("int", "long"):
        # Ignore the logical type: the column receives the number that was written.
        narrow = column.bit_width < (32 if kind == "int" else 64)
        return _checked(kind, ddl) if narrow else _Reading(kind, _cast(kind, ddl))
    if types.is_decimal(column):
        digits = column.precision - column.scale
        if kind in ("int", "long") and logical is None:
            return _Reading(kind, lambda x: f"CAST({x} AS {ddl})") if digits >= _DIGITS[kind] else _checked(kind, ddl)
        if is_number and int(node.get("scale", 0)) <= column.scale:
            if kind == "bytes":
                return _checked("bytes", ddl, _decimal_of(node))
            if int(node["precision"]) - int(node.get("scale", 0)) <= digits:
                return _Reading(expected, lambda x: f"CAST({x} AS {ddl})")
            return _checked(expected, ddl)
    return _UNFIT


def _decimal_of(node: Any) -> _Sql:
    """Return the conversion of bytes to a decimal. Empty bytes are zero, because Go's writers encode zero so. Spark's
    reader would throw an error for empty bytes.
    """
    schema = _text(json.dumps({key: node[key] for key in ("type", "logicalType", "precision", "scale") if key in node}))

    def decimal(x: str) -> str:
        given = f"IF(length({x}) = 0, X'00', {x})"
        return f"from_avro(to_avro({given}, '\"bytes\"'), '{schema}', map('mode', 'PERMISSIVE'))"

    return decimal


def _text_reading(kind: str, expected: Any) -> _Reading:
    def fault(x: str) -> str:
        return f"coalesce(NOT is_valid_utf8({_as_text(x)}), false)"

    def _as_text(x: str) -> str:
        return f"CAST({x} AS STRING)" if kind == "bytes" else x

    # An enum's symbols are letters.
    return _Reading(expected, _as_text, None if kind == "enum" else fault)


def _checked(expected: Any, ddl: str, number: _Sql = _same) -> _Reading:
    """Return the conversion of a number that may be too large for its column."""
    return _Reading(
        expected,
        lambda x: f"TRY_CAST({number(x)} AS {ddl})",
        lambda x: f"({x} IS NOT NULL AND TRY_CAST({number(x)} AS {ddl}) IS NULL)",
    )


def _cast(kind: str, ddl: str) -> _Sql:
    return _same if _OWN[kind] == ddl else (lambda x: f"CAST({x} AS {ddl})")


def _times(column: pa.DataType) -> tuple[str, str]:
    prefix = "" if column.tz is not None else "local-"
    return f"{prefix}timestamp-millis", f"{prefix}timestamp-micros"


def _text(name: str) -> str:
    return name.replace("\\", "\\\\").replace("'", "\\'")


_OWN = {"int": "INT", "long": "BIGINT", "float": "FLOAT", "double": "DOUBLE"}
_DIGITS = {"int": 10, "long": 19}
_FLOATING = {"FLOAT": ("int", "long", "float"), "DOUBLE": ("int", "long", "float", "double")}
