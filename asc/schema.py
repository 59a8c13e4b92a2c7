"""Stream schemas: the named, typed attributes of the tuples. Nested attributes have dotted paths."""

from __future__ import annotations

import dataclasses
import difflib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import pyarrow as pa

from asc.errors import SchemaError
from asc.keys.spaces import space_of
from asc.spark_types import (
    ddl_of_type,
    fields_of_ddl,
    fields_without_plain_text,
    folded,
    normalised_arrow_type,
    quoted_name,
    type_of_json,
)
from asc.spatial.layer import Layer
from asc.spatial.properties import Properties, is_property_type

GEOMETRY = "geometry"
"""The name by which predicates of joins refer to the shape of a layer's feature. They refer to the feature's properties
by the names of the properties.
"""

WGS84, PLANAR = "wgs84", "planar"
CRSS = (WGS84, PLANAR)
"""The meanings of the two numbers of a position: degrees of longitude and latitude (``wgs84``), or x and y in a plane
(``planar``).
"""


class StructType(Protocol):
    """The method of PySpark's StructType that the engine calls. With this protocol, the engine does not import
    PySpark.
    """

    def json(self) -> str:
        """Return the JSON of the type."""
        ...


@dataclass(frozen=True)
class Attribute:
    """A field of the schema, top-level or nested: its path in the schema's spelling, its type, and whether it may be
    NULL.
    """

    path: tuple[str, ...]
    type: pa.DataType
    nullable: bool

    @property
    def name(self) -> str:
        """The names of the path, joined by dots."""
        return ".".join(self.path)


@dataclass(frozen=True)
class Schema:
    """The attributes of a stream's tuples.

    ``arrow``: Spark's StructType as an Arrow schema. Each type of Spark has one Arrow type: signed integers,
    float32/64, decimal128, string, binary, bool, date32, ``timestamp('us', 'UTC')`` for TIMESTAMP, ``timestamp('us')``
    for TIMESTAMP_NTZ, struct, list, map. ``crs``: the meaning of numbers in positions, ``wgs84`` (degrees, longitude
    first) or ``planar`` (x and y in a plane). ``layers``: by name, the layers whose shapes predicates can use with
    ``shape('layer', 'id')``. Invariant: there is at least one field, and sibling names differ in more than case.
    Finding an attribute costs one dictionary access for each part of its path.

    >>> schema = Schema.from_ddl("delay INT, place STRUCT<city: STRING, x: DOUBLE>")
    >>> [a.name for a in schema.attributes]
    ['delay', 'place.city', 'place.x']
    >>> schema.resolve(("PLACE", "City")).type
    DataType(string)
    """

    arrow: pa.Schema
    crs: str = WGS84
    layers: Mapping[str, Layer] = dataclasses.field(default_factory=dict, repr=False)
    excluded: Mapping[str, str] = dataclasses.field(default_factory=dict, repr=False, compare=False)
    """The columns of the tuples that predicates may not name, by dotted path, each with the reason."""

    @classmethod
    def of(cls, value: Schema | pa.Schema | StructType | str) -> Schema:
        """Return the schema that a value represents: a ``pyarrow.Schema``, a PySpark ``StructType``, a text of Spark
        DDL, or the JSON of a StructType as text. A Schema is returned unchanged.

        Raise SchemaError for any other value.

        >>> Schema.of(pa.schema({"delay": pa.int32()})).ddl()
        'delay INT'
        """
        if isinstance(value, Schema):
            return value
        if isinstance(value, pa.Schema):
            return cls.from_arrow(value)
        if isinstance(value, str):
            return cls.from_json(value) if value.lstrip().startswith("{") else cls.from_ddl(value)
        # A caller with a StructType has imported PySpark already. Do not import PySpark for other callers.
        types = sys.modules.get("pyspark.sql.types")
        if types is not None and isinstance(value, types.StructType):
            return cls.from_json(value.json())
        remedy = "give an asc.Schema, a pyarrow.Schema, a PySpark StructType, or Spark DDL"
        raise SchemaError("schema of type", type(value).__name__, remedy)

    @classmethod
    def from_ddl(cls, text: str) -> Schema:
        """Read Spark DDL: ``"a INT, s STRUCT<x: DOUBLE>"``, also inside ``STRUCT<...>``. Raise SchemaError for other
        texts.
        """
        return cls(_checked(fields_of_ddl(text)))

    @classmethod
    def from_json(cls, value: str | Mapping[str, Any]) -> Schema:
        """Read the JSON of a Spark StructType, as text or parsed. Raise SchemaError for other values."""
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (json.JSONDecodeError, RecursionError) as error:
                raise SchemaError("schema JSON", str(value)[:80], f"not JSON: {error}") from None
        data_type = type_of_json(dict(value) if isinstance(value, Mapping) else value)
        if not pa.types.is_struct(data_type):
            raise SchemaError("schema JSON", str(value)[:80], "the outermost type must be a struct")
        return cls(_checked(data_type.field(i) for i in range(data_type.num_fields)))

    @classmethod
    def from_arrow(cls, schema: pa.Schema) -> Schema:
        """Read an Arrow schema. Large and dictionary-encoded types become the plain types.

        Raise SchemaError for types without a Spark counterpart (unsigned integers, timestamps in another unit than
        microseconds, ...).
        """
        excluded = fields_without_plain_text(schema.metadata)
        fields = (f for f in schema if f.name not in excluded)
        return cls(_checked(f.with_type(normalised_arrow_type(f.type, f.name)) for f in fields), excluded=excluded)

    def with_crs(self, crs: str) -> Schema:
        """Return the same attributes with a crs of positions, ``wgs84`` or ``planar``. Raise SchemaError for other
        values.
        """
        if crs not in CRSS:
            raise SchemaError("crs", crs, f"write {' or '.join(CRSS)}")
        return replace(self, crs=crs)

    def with_layers(self, layers: Mapping[str, Layer]) -> Schema:
        """Return the same attributes with other layers. ``layers``: the layers that ``shape`` may name, by name."""
        return replace(self, layers=layers)

    def ddl(self) -> str:
        """Return the schema as Spark DDL; ``Schema.from_ddl`` reads it back to an equal schema."""
        return ", ".join(
            f"{quoted_name(f.name)} {ddl_of_type(f.type)}{'' if f.nullable else ' NOT NULL'}" for f in self.arrow
        )

    @cached_property
    def attributes(self) -> tuple[Attribute, ...]:
        """The attributes that can be p-attributes: those of a scalar type, in the order of the schema. A struct is
        replaced by its fields.
        """
        return tuple(a for a in _walk(self.arrow, (), False) if space_of(a.type) is not None)

    @cached_property
    def _by_name(self) -> dict[tuple[str, ...], Attribute]:
        return {tuple(map(folded, a.path)): a for a in _walk(self.arrow, (), False)}

    def resolve(self, path: Sequence[str]) -> Attribute:
        """Return the attribute with a path. As in Spark, upper and lower case are treated as equal.

        The attribute has the schema's spelling. If the path does not exist, raise SchemaError, which names the nearest
        attribute.
        """
        attribute = self._by_name.get(tuple(map(folded, path)))
        if attribute is None:
            dotted = ".".join(path)
            reason = self._excluded_for(dotted)
            if reason is not None:
                raise SchemaError("column", dotted, reason)
            raise SchemaError("unknown column", dotted, self._nearest(path))
        return attribute

    def _excluded_for(self, dotted: str) -> str | None:
        """Return the reason why predicates may not name a column: the column is excluded, or is part of an excluded
        column. Return None if predicates may name the column.
        """
        wanted = folded(dotted)
        for name, reason in self.excluded.items():
            if wanted == folded(name) or wanted.startswith(f"{folded(name)}."):
                return reason
        return None

    @property
    def _dotted(self) -> dict[str, str]:
        """The attributes for which the name of a field in the path contains a dot: by the path, joined by dots, the
        spelling to use in predicates.
        """
        with_dots = (a for a in self._by_name.values() if any("." in part for part in a.path))
        return {a.name: ".".join(map(quoted_name, a.path)) for a in with_dots}

    def _nearest(self, path: Sequence[str]) -> str:
        dotted = ".".join(path)
        names = {a.name.casefold(): a.name for a in self._by_name.values()}
        near = difflib.get_close_matches(dotted.casefold()[:200], names, n=1, cutoff=0.6)
        if near:
            name = names[near[0]]
            if name in self._dotted:
                return f"did you mean {self._dotted[name]}?"
            if near[0] == dotted.casefold() and "." in path[0]:
                return f"did you mean {name}, without backquotes around the whole?"
            return f"did you mean {name!r}?"
        shown = [a.name for a in self.attributes[:8]]
        return f"the schema has {', '.join(shown)}{', ...' if len(self.attributes) > len(shown) else ''}"

    def __hash__(self) -> int:
        return hash(self.arrow)


def properties_of_ddl(text: str) -> Properties:
    """Return the properties of a layer from Spark DDL; no properties for an empty text.

    Raise SchemaError if the text is not DDL, and for a type that a property cannot have, such as an array.

    >>> list(properties_of_ddl("name STRING, ceiling INT").types)
    ['name', 'ceiling']
    """
    fields = Schema.from_ddl(text).arrow if text.strip() else []
    for field in fields:
        if not is_property_type(field.type):
            remedy = "use a number, STRING, BOOLEAN, DATE, TIMESTAMP or TIMESTAMP_NTZ"
            raise SchemaError(f"property {field.name} of type", ddl_of_type(field.type), remedy)
        if folded(field.name) == GEOMETRY:
            raise SchemaError("property", field.name, "is what predicates call the shape: leave it out")
    return Properties({one.name: one.type for one in fields})


def _walk(fields: Iterable[pa.Field], prefix: tuple[str, ...], nullable: bool) -> Iterable[Attribute]:
    for field in fields:
        path = (*prefix, field.name)
        may_be_null = nullable or field.nullable
        yield Attribute(path, field.type, may_be_null)
        if pa.types.is_struct(field.type):
            inner = (field.type.field(i) for i in range(field.type.num_fields))
            yield from _walk(inner, path, may_be_null)


def _checked(fields: Iterable[pa.Field]) -> pa.Schema:
    listed = list(fields)
    if not listed:
        raise SchemaError("schema", None, "it needs at least one field")
    _check_names(listed, "")
    return pa.schema([f.remove_metadata() for f in listed])


def _check_names(fields: Iterable[pa.Field], prefix: str) -> None:
    seen: dict[str, str] = {}
    for field in fields:
        if not field.name:
            raise SchemaError("schema", prefix, "a field needs a name")
        key = folded(field.name)
        if key in seen:
            raise SchemaError("duplicate field", prefix + field.name, f"{seen[key]!r} is there already")
        seen[key] = field.name
        if pa.types.is_struct(field.type):
            inner = (field.type.field(i) for i in range(field.type.num_fields))
            _check_names(inner, f"{prefix}{field.name}.")
