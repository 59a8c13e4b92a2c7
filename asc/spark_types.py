"""Spark's types in three representations: DDL, the JSON of a StructType, and the Arrow type of the values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from asc.errors import SchemaError

_TEXT = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_TOKEN = re.compile(rf"\s*(?:(`(?:[^`]|``)*`)|({_TEXT})|(\w+)|([<>(),:])|(\S))", re.DOTALL)

VARIANT = pa.opaque(pa.binary(), "variant", "spark")
"""The type that represents Spark's VARIANT, a result of JSON functions. No column has this type."""

_SIMPLE: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "byte": pa.int8(),
    "smallint": pa.int16(),
    "short": pa.int16(),
    "int": pa.int32(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "long": pa.int64(),
    "float": pa.float32(),
    "real": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ltz": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}
_DDL_NAMES: dict[pa.DataType, str] = {
    pa.bool_(): "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.string(): "STRING",
    pa.binary(): "BINARY",
    pa.date32(): "DATE",
    pa.timestamp("us", tz="UTC"): "TIMESTAMP",
    pa.timestamp("us"): "TIMESTAMP_NTZ",
    pa.null(): "VOID",
    pa.month_day_nano_interval(): "INTERVAL",
    VARIANT: "VARIANT",
}
_NO_COLUMNS = (pa.null(), pa.month_day_nano_interval(), VARIANT)
"""Types that only values inside a predicate have, never a column."""

_KNOWN = "BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL(p,s), STRING, BINARY, DATE, TIMESTAMP, TIMESTAMP_NTZ, STRUCT<...>, ARRAY<...>, MAP<...>"  # noqa: E501
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
MAX_TYPE_DEPTH = 32


def quoted_name(name: str) -> str:
    """Return a field's name in DDL: plain if possible, else in backquotes."""
    return name if _PLAIN_NAME.match(name) else backquoted(name)


def backquoted(name: str) -> str:
    """Return a name in backquotes, so that an expression does not read it as a keyword or a function."""
    return "`" + name.replace("`", "``") + "`"


def folded(name: str) -> str:
    """Return a form of a name that is the same for all names that Spark treats as equal: each character is converted to
    upper, then to lower case.

    A character whose other case has several characters stays unchanged, as in Java's ``equalsIgnoreCase``.

    >>> folded("StraSSe") == folded("strasse"), folded("straße") == folded("strasse")
    (True, False)
    """
    if name.isascii():
        return name.lower()
    upper = (c.upper() if len(c.upper()) == 1 else c for c in name)
    return "".join(c.lower()[:1] for c in upper)


def simple_type(name: str) -> pa.DataType | None:
    """Return the type with a name without parameters, such as ``BIGINT``. Return None for other names.

    >>> simple_type("BIGINT")
    DataType(int64)
    """
    lowered = name.lower()
    if lowered in ("decimal", "dec", "numeric"):
        return pa.decimal128(10, 0)
    return _SIMPLE.get(lowered)


def decimal_type(precision: int, scale: int) -> pa.DataType:
    """Return the Arrow type of DECIMAL(precision, scale). Raise SchemaError if the numbers are outside of Spark's
    bounds.
    """
    if not (1 <= precision <= 38 and 0 <= scale <= precision):
        raise SchemaError("decimal type", f"DECIMAL({precision},{scale})", "precision is 1..38, scale 0..precision")
    return pa.decimal128(precision, scale)


def ddl_of_type(data_type: pa.DataType) -> str:
    """Return a type as Spark DDL.

    >>> ddl_of_type(pa.struct([("x", pa.int32()), ("inner", pa.list_(pa.decimal128(10, 2)))]))
    'STRUCT<x: INT, inner: ARRAY<DECIMAL(10,2)>>'
    """
    if pa.types.is_decimal(data_type):
        return f"DECIMAL({data_type.precision},{data_type.scale})"
    if pa.types.is_struct(data_type):
        inner = ", ".join(
            f"{quoted_name(f.name)}: {ddl_of_type(f.type)}{'' if f.nullable else ' NOT NULL'}"
            for f in (data_type.field(i) for i in range(data_type.num_fields))
        )
        return f"STRUCT<{inner}>"
    if pa.types.is_map(data_type):
        return f"MAP<{ddl_of_type(data_type.key_type)}, {ddl_of_type(data_type.item_type)}>"
    if pa.types.is_list(data_type):
        return f"ARRAY<{ddl_of_type(data_type.value_type)}>"
    if data_type not in _DDL_NAMES and isinstance(data_type, pa.BaseExtensionType):
        return str(data_type)  # an interval: a value within a predicate, never a column
    return _DDL_NAMES[data_type]


_NO_TYPE = ("", ",", ":", "<", ">", "(", ")")
"""Tokens that indicate a missing type. The empty token is the end of the text."""


def fields_of_ddl(text: str, *, variants: bool = False) -> list[pa.Field]:
    """Return the fields that a text of Spark DDL declares. The text is ``name TYPE [NOT NULL] [COMMENT '...'], ...``,
    or a ``STRUCT<...>`` around such fields.

    ``variants``: whether VARIANT is allowed as a type.
    """
    reader = _DdlReader(text, variants)
    if reader.peek().upper() == "STRUCT" and reader.peek(1) == "<":
        struct = reader.type(0)
        fields = [struct.field(i) for i in range(struct.num_fields)]
    else:
        fields = reader.fields("", 0)
    reader.expect("")
    return fields


def type_of_ddl(text: str) -> pa.DataType:
    """Return the type that a text of Spark DDL names, such as ``array<int>`` or VARIANT. Raise SchemaError for a text
    that is no type.

    >>> type_of_ddl("array<int>")
    ListType(list<item: int32>)
    """
    reader = _DdlReader(text, variants=True)
    found = reader.type(0)
    reader.expect("")
    return found


class _DdlReader:
    """A recursive-descent parser over the tokens of a DDL text. MAX_TYPE_DEPTH bounds the nesting of types."""

    def __init__(self, text: str, variants: bool) -> None:
        self._text = text
        self._variants = variants
        self._tokens: list[str] = []
        for match in _TOKEN.finditer(text):
            if match.group(5):
                raise SchemaError("schema", match.group(5), f"unexpected character at position {match.start(5)}")
            self._tokens.append(match.group().strip())
        self._next = 0

    def peek(self, offset: int = 0) -> str:
        index = self._next + offset
        return self._tokens[index] if index < len(self._tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self._next += 1
        return token

    def expect(self, *tokens: str) -> str:
        if self.peek().upper() not in tokens:
            wanted = " or ".join(repr(t) if t else "the end" for t in tokens)
            raise SchemaError("schema", self._text, f"expected {wanted} before {self.peek() or 'the end'!r}")
        return self.take()

    def fields(self, end: str, depth: int) -> list[pa.Field]:
        fields: list[pa.Field] = []
        while True:
            name = self.take()
            if not name or name in "<>(),:" or name[0] in "'\"":
                raise SchemaError("schema", self._text, f"expected a field name before {name or 'the end'!r}")
            if name[0] == "`":
                name = name[1:-1].replace("``", "`")
            if self.peek() == ":":
                self.take()
            if self.peek() in _NO_TYPE:
                raise SchemaError("column", name, f"has no type: write one after it, as {quoted_name(name)} INT")
            data_type = self.type(depth)
            nullable = True
            if self.peek().upper() == "NOT":
                self.take()
                self.expect("NULL")
                nullable = False
            if self.peek().upper() == "COMMENT":
                self.take()
                if self.peek()[:1] not in ("'", '"') or not self.take():
                    raise SchemaError("schema", self._text, "COMMENT needs a quoted text")
            fields.append(pa.field(name, data_type, nullable))
            if self.peek() != ",":
                return fields
            self.take()

    def type(self, depth: int) -> pa.DataType:
        if depth > MAX_TYPE_DEPTH:
            raise SchemaError("schema", self._text[:60], f"types are nested deeper than {MAX_TYPE_DEPTH}")
        name = self.take()
        lowered = name.lower()
        if lowered == "struct":
            self.expect("<")
            fields = self.fields(">", depth + 1)
            self.expect(">")
            return pa.struct(fields)
        if lowered == "array":
            self.expect("<")
            element = self.type(depth + 1)
            self.expect(">")
            return pa.list_(element)
        if lowered == "map":
            self.expect("<")
            key = self.type(depth + 1)
            self.expect(",")
            item = self.type(depth + 1)
            self.expect(">")
            return pa.map_(key, item)
        if lowered in ("decimal", "dec", "numeric") and self.peek() == "(":
            self.take()
            precision, scale = self._integer(), 0
            if self.expect(",", ")") == ",":
                scale = self._integer()
                self.expect(")")
            return decimal_type(precision, scale)
        if name in _NO_TYPE:
            raise SchemaError("schema", self._text, f"expected a type before {name or 'the end'!r}")
        found = VARIANT if self._variants and lowered == "variant" else simple_type(name)
        if found is None:
            remedy = "use STRING" if lowered in ("char", "varchar", "character") else f"use one of {_KNOWN}"
            raise SchemaError("unknown type", name, remedy)
        return found

    def _integer(self) -> int:
        token = self.take()
        if not (token.isascii() and token.isdecimal()) or len(token) > 4:
            raise SchemaError("schema", self._text, f"expected a number before {token!r}")
        return int(token)


def type_of_json(value: Any, depth: int = 0) -> pa.DataType:
    """Return the type of one node of a StructType's JSON. Raise SchemaError if the node is not a type."""
    if depth > MAX_TYPE_DEPTH:
        raise SchemaError("schema", "JSON", f"types are nested deeper than {MAX_TYPE_DEPTH}")
    if isinstance(value, str):
        match = re.fullmatch(r"decimal\(([0-9]{1,4}),\s*([0-9]{1,4})\)", value)
        found = decimal_type(int(match.group(1)), int(match.group(2))) if match else simple_type(value)
        if found is None:
            raise SchemaError("unknown type", value, f"use one of {_KNOWN}")
        return found
    if isinstance(value, dict):
        kind = value.get("type")
        try:
            if kind == "struct":
                for f in value["fields"]:
                    _check_plain_text(f)
                return pa.struct(
                    [
                        pa.field(_name(f["name"]), type_of_json(f["type"], depth + 1), f.get("nullable", True))
                        for f in value["fields"]
                    ]
                )
            if kind == "array":
                return pa.list_(type_of_json(value["elementType"], depth + 1))
            if kind == "map":
                key, item = type_of_json(value["keyType"], depth + 1), type_of_json(value["valueType"], depth + 1)
                return pa.map_(key, item)
        except (KeyError, TypeError, AttributeError) as error:
            raise SchemaError("schema JSON", str(value)[:80], f"a {kind} type misses or garbles {error}") from None
    raise SchemaError("schema JSON", str(value)[:80], "use the JSON of a Spark StructType (df.schema.json())")


_SPARK_ROW = b"org.apache.spark.sql.parquet.row.metadata"
_COLLATIONS, _FIXED_TEXT = "__COLLATIONS", "__CHAR_VARCHAR_TYPE_STRING"
"""The metadata keys of a field under which Spark stores collations and CHAR types: the field's JSON type does not have
them.
"""


class PlainTextError(SchemaError):
    """An error: a field has texts that Spark does not compare byte by byte, unlike the engine."""


def _check_plain_text(field: Mapping[str, Any]) -> None:
    """Raise PlainTextError if a field has texts that Spark does not compare byte by byte: collated texts, or CHAR."""
    metadata = field.get("metadata") or {}
    collations = metadata.get(_COLLATIONS)
    if collations:
        names = ", ".join(sorted({str(name).rpartition(".")[2] for name in dict(collations).values()}))
        remedy = "predicates compare texts byte by byte: select it as s COLLATE UTF8_BINARY"
        raise PlainTextError(f"column {field.get('name')} has the collation", names, remedy)
    fixed = re.search(r"(?<!var)char\(\d+\)", str(metadata.get(_FIXED_TEXT, "")).lower())
    if fixed is not None:
        remedy = "Spark pads what it is compared with: CAST it to STRING"
        raise PlainTextError(f"column {field.get('name')} has the type", fixed[0].upper(), remedy)


def fields_without_plain_text(metadata: Mapping[bytes, bytes] | None) -> dict[str, str]:
    """Return the columns that Spark wrote with a collation or as CHAR, each with the reason why predicates may not name
    it.

    ``metadata``: the metadata of an Arrow schema. In a Parquet file written by Spark it has the JSON of the StructType.
    """
    try:
        fields = json.loads((metadata or {}).get(_SPARK_ROW, b"{}")).get("fields", [])
    except (ValueError, AttributeError):
        return {}
    reasons: dict[str, str] = {}
    for field in fields:
        try:
            type_of_json({"type": "struct", "fields": [field]})
        except PlainTextError as error:
            reasons[str(field.get("name"))] = str(error)
        except SchemaError:
            # Not a matter of texts: the field's Arrow type shows whether the engine supports its type.
            continue
    return reasons


def _name(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise SchemaError("schema JSON", str(value)[:80], "a field needs a name")
    return value


def normalised_arrow_type(data_type: pa.DataType, where: str) -> pa.DataType:
    """Return the Arrow type that the engine uses for the values of an Arrow type, such as string for large string. If
    Spark has no such type, raise SchemaError with the name ``where`` of the attribute.
    """
    types = pa.types
    if types.is_dictionary(data_type):
        return normalised_arrow_type(data_type.value_type, where)
    if types.is_string(data_type) or types.is_large_string(data_type) or data_type == pa.string_view():
        return pa.string()
    if (
        types.is_binary(data_type)
        or types.is_large_binary(data_type)
        or types.is_fixed_size_binary(data_type)
        or data_type == pa.binary_view()
    ):
        return pa.binary()
    if types.is_timestamp(data_type):
        if data_type.unit != "us":
            remedy = "cast it to microseconds: timestamp('us')"
            raise SchemaError(f"attribute {where} has type", str(data_type), remedy)
        return pa.timestamp("us", tz="UTC") if data_type.tz else pa.timestamp("us")
    if types.is_decimal(data_type):
        return decimal_type(data_type.precision, data_type.scale)
    if types.is_struct(data_type):
        fields = [data_type.field(i) for i in range(data_type.num_fields)]
        return pa.struct([f.with_type(normalised_arrow_type(f.type, f"{where}.{f.name}")) for f in fields])
    if types.is_map(data_type):
        key, item = (normalised_arrow_type(t, where) for t in (data_type.key_type, data_type.item_type))
        return pa.map_(key, item)
    if types.is_list(data_type) or types.is_large_list(data_type) or types.is_fixed_size_list(data_type):
        return pa.list_(normalised_arrow_type(data_type.value_type, where))
    if data_type in _DDL_NAMES and data_type not in _NO_COLUMNS:
        return data_type
    raise SchemaError(f"attribute {where} has type", str(data_type), f"cast it to what one of these holds: {_KNOWN}")
