"""Functions that read JSON and URLs."""

from __future__ import annotations

import re

import pyarrow as pa

from asc.errors import SchemaError
from asc.predicate import types
from asc.predicate.functions.caught import as_text
from asc.predicate.functions.checks import constant_string
from asc.predicate.functions.function import Call, Function
from asc.predicate.functions.growth import times
from asc.predicate.functions.results import INT, STRING, STRINGS
from asc.spark_types import fields_of_ddl

_PARTS = ("HOST", "PATH", "QUERY", "REF", "PROTOCOL", "FILE", "AUTHORITY", "USERINFO")
_READ_SAFELY = frozenset((*types.INTEGERS, pa.float32(), pa.float64(), pa.bool_(), pa.string()))
_HELD = "numbers, booleans, strings"
_MAX_SCHEMA_CHARS = 2_000
_KEY = re.compile(r"[\w%-]{1,100}\Z", re.ASCII)


def _url_part(call: Call) -> str | None:
    if call.constant(1) not in _PARTS:
        return f"{call.name} takes one of the parts {', '.join(_PARTS)}"
    # Spark makes a regular expression of it.
    if len(call.args) > 2 and not (isinstance(key := call.constant(2), str) and _KEY.match(key)):
        return f"the key given to {call.name} must be a constant of letters, digits, _, - and %"
    return None


def _record_schema(call: Call) -> str | None:
    """A schema of values that every JSON text either has or has not: Spark can throw for instants, and for keys."""
    text = call.constant(1)
    if not isinstance(text, str) or len(text) > _MAX_SCHEMA_CHARS or _type_of_schema(call) is None:
        return f"the schema given to from_json must be a constant such as 'a INT, b STRING', of {_HELD} and structs"
    return None


def _type_of_schema(call: Call) -> pa.DataType | None:
    try:
        kind = pa.struct(fields_of_ddl(str(call.constant(1))))
    except SchemaError:
        return None
    return kind if _is_read_safely(kind) else None


def _is_read_safely(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return all(_is_read_safely(field.type) and field.nullable for field in kind)
    return kind in _READ_SAFELY


def _writable(call: Call) -> str | None:
    if call.type(0) is None or not types.is_container(call.type(0)) or not _is_written_safely(call.type(0)):
        return f"to_json of {types.name(call.type(0))}: it takes structs and arrays of {_HELD}"
    return None


def _is_written_safely(kind: pa.DataType | None) -> bool:
    if kind is None or pa.types.is_map(kind):
        return False
    if types.is_container(kind):
        return all(_is_written_safely(kind.field(i).type) for i in range(kind.num_fields))
    return kind in _READ_SAFELY or pa.types.is_decimal(kind)


def _table() -> dict[str, Function]:
    path = constant_string(1, "path")
    return {
        "get_json_object": Function(2, 2, "S", STRING, path, times(2)),
        "from_json": Function(2, 2, "S", _type_of_schema, _record_schema, times(2)),
        "to_json": Function(1, 1, "x", STRING, _writable, times(8)),
        "json_array_length": Function(1, 1, "S", INT),
        "json_object_keys": Function(1, 1, "S", STRINGS, growth=times(4)),
        **dict.fromkeys(("parse_url", "try_parse_url"), Function(2, 3, "S", STRING, _url_part)),
        "url_decode": Function(1, 1, "s", STRING, spelling=as_text, fails=True),
        "try_url_decode": Function(1, 1, "s", STRING),
    }


DOCUMENTS = _table()
