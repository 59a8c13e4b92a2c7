"""The functions of VARIANT, which parse JSON text and extract parts of it."""

from __future__ import annotations

import re

import pyarrow as pa

from asc.errors import SchemaError
from asc.predicate.expressions import types
from asc.predicate.functions.checks import every
from asc.predicate.functions.document_schema import places_of_repeated, read_safely
from asc.predicate.functions.function import Call, Function
from asc.predicate.functions.growth import longest, times
from asc.predicate.functions.results import BOOLEAN, STRING, always
from asc.predicate.functions.try_spellings import renamed
from asc.predicate.syntax.nodes import Node
from asc.spark_types import VARIANT, type_of_ddl

_MAX_PATH_CHARS = 1_000
_PATH = re.compile(r"""\$(?:\.[^.\[\s][^.\[]*|\['[^'?]+'\]|\["[^"?]+"\]|\[[0-9]{1,9}\])*""")
_MAX_TYPE_CHARS = 2_000


def _path(call: Call) -> str | None:
    path = call.constant(1)
    if not isinstance(path, str) or len(path) > _MAX_PATH_CHARS or not _PATH.fullmatch(path):
        return f"the path given to {call.name} must be a constant such as '$.key[0]'"
    return None


def _part(call: Call) -> pa.DataType | None:
    if len(call.args) < 3:
        return VARIANT
    text = call.constant(2)
    if not isinstance(text, str) or len(text) > _MAX_TYPE_CHARS:
        return None
    try:
        kind = read_safely(type_of_ddl(text))
    except SchemaError:
        return None
    return None if kind == pa.binary() else kind


def _type(call: Call) -> str | None:
    if _part(call) is None:
        return f"the type given to {call.name} must be a constant such as 'string' or 'array<int>', and no decimal"
    return None


def _taken(call: Call) -> float:
    return longest(call) * (1.0 + 3.0 * places_of_repeated(_part(call)))


def _constants(call: Call) -> str | None:
    """Return the reason for refusing a call whose argument contains a column; else None.

    Merging the types of the elements of an array can take time quadratic in the number of elements.
    """
    if _has_column(call.args[0].node):
        return f"{call.name} of what a record holds is unbounded work: take a part with variant_get, or use typeof"
    return None


def _has_column(node: Node) -> bool:
    return node.op == "column" or any(map(_has_column, node.args))


def _object(call: Call) -> str | None:
    kind = call.type(0)
    if kind is None or not _is_object(kind):
        return f"to_variant_object of {types.name(kind)}: it takes structs, arrays, and maps with strings for keys"
    return None


def _is_object(kind: pa.DataType, *, outermost: bool = True) -> bool:
    if pa.types.is_map(kind):
        return bool(kind.key_type == pa.string()) and _is_object(kind.item_type, outermost=False)
    if pa.types.is_nested(kind):
        return all(_is_object(kind.field(i).type, outermost=False) for i in range(kind.num_fields))
    return not outermost and not types.is_interval(kind)


def _table() -> dict[str, Function]:
    made, test = always(VARIANT), Function(1, 1, "V", BOOLEAN)
    get = every(_path, _type)
    return {
        "try_parse_json": Function(1, 1, "S", made, growth=times(4)),
        "parse_json": Function(1, 1, "S", made, growth=times(4), spelling=renamed("try_parse_json"), fails=True),
        "try_variant_get": Function(2, 3, "VSS", _part, get, _taken),
        "variant_get": Function(2, 3, "VSS", _part, get, _taken, renamed("try_variant_get")),
        "is_variant_null": test,
        "schema_of_variant": Function(1, 1, "V", STRING, _constants),
        "to_variant_object": Function(1, 1, "x", made, _object, times(8)),
    }


VARIANTS = _table()
