"""The functions that parse and write JSON, and the functions that extract parts of URLs."""

from __future__ import annotations

import re

import pyarrow as pa

from asc.keys.byte_strings import quoted
from asc.predicate.expressions import types
from asc.predicate.functions.checks import constant_string, every
from asc.predicate.functions.document_schema import HELD, places_of_repeated, record_type
from asc.predicate.functions.function import Call, Function, plain
from asc.predicate.functions.growth import longest, times
from asc.predicate.functions.inferred_schema import inferred_type
from asc.predicate.functions.options import JSON_INFERRED, JSON_READ, JSON_WRITTEN, options
from asc.predicate.functions.results import INT, STRING, STRINGS
from asc.predicate.functions.try_spellings import as_text
from asc.spark_types import VARIANT, ddl_of_type

_PARTS = ("HOST", "PATH", "QUERY", "REF", "PROTOCOL", "FILE", "AUTHORITY", "USERINFO")
_MAX_JSON_CHARS = 2_000
_KEY = re.compile(r"[\w%-]{1,100}\Z", re.ASCII)


def _url_part(call: Call) -> str | None:
    if call.constant(1) not in _PARTS:
        return f"{call.name} takes one of the parts {', '.join(_PARTS)}"
    # Spark inserts the key into a regular expression.
    if len(call.args) > 2 and not (isinstance(key := call.constant(2), str) and _KEY.match(key)):
        return f"the key given to {call.name} must be a constant of letters, digits, _, - and %"
    return None


def _type_of_schema(call: Call) -> pa.DataType | None:
    node = call.args[1].node
    if node.op == "call" and node.value == "schema_of_json" and len(node.args) == 1:
        literal = node.args[0].value if node.args[0].op == "literal" else None
        return None if literal is None else inferred_type(literal.value)
    return record_type(call)


def _record_schema(call: Call) -> str | None:
    if _type_of_schema(call) is None:
        if str(call.constant(1)).strip().lower() == "variant":
            return "from_json of a VARIANT throws for bad text: use try_parse_json"
        return f"the schema given to from_json must be a constant such as 'a INT, b ARRAY<STRING>', of {HELD}"
    return None


def _with_type(call: Call) -> str:
    """Return SQL for ``from_json`` with the DDL of the inferred type if the schema is a ``schema_of_json`` call."""
    if call.constant(1) is not None:
        return plain(call)
    kind = _type_of_schema(call)
    assert kind is not None
    text, _, *others = (arg.sql for arg in call.args)
    return f"from_json({', '.join([text, quoted(ddl_of_type(kind)), *others])})"


def _read(call: Call) -> float:
    return longest(call) * (2.0 + 3.0 * places_of_repeated(_type_of_schema(call)))


def _writable(call: Call) -> str | None:
    if call.type(0) is None or not types.is_container(call.type(0)) or not _is_written_safely(call.type(0)):
        return f"to_json of {types.name(call.type(0))}: it takes structs, arrays, maps and variants of {HELD}"
    return None


def _is_written_safely(kind: pa.DataType | None) -> bool:
    if kind is None or types.is_interval(kind):
        return False
    if kind == VARIANT:
        return True
    if pa.types.is_map(kind):
        return not types.is_container(kind.key_type) and all(map(_is_written_safely, (kind.key_type, kind.item_type)))
    if types.is_container(kind):
        return all(_is_written_safely(kind.field(i).type) for i in range(kind.num_fields))
    return True


def _written(call: Call) -> str:
    """Return SQL for ``to_json``. If the call can fail (with options, or for dates, timestamps and variants), the SQL
    gives NULL on failure.
    """
    return as_text(call) if len(call.args) > 1 or _holds_more(call.type(0)) else plain(call)


def _holds_more(kind: pa.DataType | None) -> bool:
    if kind is None or kind == VARIANT or types.is_instant(kind):
        return True
    return types.is_container(kind) and any(_holds_more(kind.field(i).type) for i in range(kind.num_fields))


def _table() -> dict[str, Function]:
    path = constant_string(1, "path")
    read = every(_record_schema, options(2, JSON_READ, parses=True))
    write = every(_writable, options(1, JSON_WRITTEN, parses=False))
    infer = every(constant_string(0, "text", _MAX_JSON_CHARS), options(1, JSON_INFERRED, parses=True))
    return {
        "get_json_object": Function(2, 2, "S", STRING, path, times(2)),
        "from_json": Function(2, 3, "SSm", _type_of_schema, read, _read, _with_type),
        "to_json": Function(1, 2, "xm", STRING, write, times(8), _written),
        "schema_of_json": Function(1, 2, "Sm", STRING, infer, spelling=as_text, fails=True),
        "json_array_length": Function(1, 1, "S", INT),
        "json_object_keys": Function(1, 1, "S", STRINGS, growth=times(4)),
        **dict.fromkeys(("parse_url", "try_parse_url"), Function(2, 3, "S", STRING, _url_part)),
        "url_decode": Function(1, 1, "s", STRING, spelling=as_text, fails=True),
        "try_url_decode": Function(1, 1, "s", STRING),
    }


DOCUMENTS = _table()
