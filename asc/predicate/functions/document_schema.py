"""The schemas with which JSON, CSV and XML are parsed."""

from __future__ import annotations

import re

import pyarrow as pa

from asc.errors import SchemaError
from asc.predicate.expressions import types
from asc.predicate.functions.function import Call
from asc.predicate.syntax.literal import TIMESTAMP, TIMESTAMP_NTZ
from asc.spark_types import VARIANT, fields_of_ddl, type_of_ddl

_MAX_SCHEMA_CHARS = 2_000
_SINGLE = frozenset(
    (
        *types.INTEGERS,
        *(pa.float32(), pa.float64(), pa.bool_(), pa.string(), pa.binary(), pa.date32(), TIMESTAMP, TIMESTAMP_NTZ),
    )
)
HELD = "numbers, booleans, strings, dates and timestamps"
_CORRUPT = "_corrupt_record"
_WHOLE = re.compile(r"\s*(?:(?:array|map)\s*<|variant\s*\Z)", re.IGNORECASE)
"""A pattern that matches a schema that is one type, such as ``ARRAY<INT>``, and no list of fields."""


def record_type(call: Call, place: int = 1) -> pa.DataType | None:
    """Return the struct, array or map that a constant schema describes.

    Return None if the argument is no such schema, or if parsing with the schema may throw or stall. Decimals are
    excluded: Java takes time quadratic in the number of digits to parse a decimal.
    """
    text = call.constant(place)
    if not isinstance(text, str) or len(text) > _MAX_SCHEMA_CHARS:
        return None
    try:
        whole = _WHOLE.match(text) is not None
        kind = type_of_ddl(text) if whole else pa.struct(fields_of_ddl(text, variants=True))
    except SchemaError:
        return None
    # If the whole schema is a variant, Spark throws for a text that it cannot parse.
    return None if kind == VARIANT else read_safely(kind)


def read_safely(kind: pa.DataType) -> pa.DataType | None:
    """Return the type of the values that Spark makes when it parses a document with the schema ``kind``. Every field
    and element may be NULL.

    Return None if parsing may throw or stall.
    """
    if pa.types.is_struct(kind):
        fields = [(field.name, read_safely(field.type)) for field in (kind.field(i) for i in range(kind.num_fields))]
        names = {name.lower() for name, _ in fields}
        corrupt = dict(fields).get(_CORRUPT, pa.string())
        known = all(inner is not None for _, inner in fields) and len(names) == len(fields) and corrupt == pa.string()
        return pa.struct(fields) if known else None
    if pa.types.is_map(kind):
        item = read_safely(kind.item_type)
        return pa.map_(pa.string(), item) if item is not None and kind.key_type == pa.string() else None
    if pa.types.is_list(kind):
        element = read_safely(kind.value_type)
        return None if element is None else pa.list_(element)
    return kind if kind in _SINGLE or kind == VARIANT else None


def places_of_repeated(kind: pa.DataType | None, *, repeated: bool = False) -> int:
    """Return the number of fields of the largest struct that may occur several times in a value of the type.

    The text ``[{},{},{}]`` is short, but each struct parsed from it has a value for every field.

    >>> places_of_repeated(pa.list_(pa.struct([("a", pa.int32()), ("b", pa.int32())])))
    2
    """
    if kind is None or not pa.types.is_nested(kind):
        return 0
    own = kind.num_fields if repeated and pa.types.is_struct(kind) else 0
    within = repeated or not pa.types.is_struct(kind)
    return max(own, *(places_of_repeated(kind.field(i).type, repeated=within) for i in range(kind.num_fields)))
