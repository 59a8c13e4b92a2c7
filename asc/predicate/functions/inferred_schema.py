"""The type that Spark's ``schema_of_json`` infers from a constant."""

from __future__ import annotations

import json

import pyarrow as pa

from asc.predicate.syntax.literal import INT64_MAX, INT64_MIN

_MAX_CHARS = 2_000


def inferred_type(text: object) -> pa.DataType | None:
    """Return the struct or array type of a JSON text.

    Return None if the text has neither type, or if its type cannot be determined.

    >>> inferred_type('[{"b": 1.5, "a": [null]}]')
    ListType(list<item: struct<a: list<item: string>, b: double>>)
    """
    if not isinstance(text, str) or len(text) > _MAX_CHARS:
        return None
    try:
        found = _kind(json.loads(text, object_pairs_hook=_once))
    except (ValueError, RecursionError):
        return None
    return _settled(found) if pa.types.is_nested(found) else None


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if not found or len({name.lower() for name in found}) < len(pairs):
        raise ValueError("an object without fields, or with one twice")
    return found


def _kind(value: object) -> pa.DataType:
    """Return the type of a decoded JSON value. Raise ValueError for a number beyond BIGINT.

    The type null stands for a part whose type no value has determined so far.
    """
    if value is None:
        return pa.null()
    if isinstance(value, bool):
        return pa.bool_()
    if isinstance(value, int):
        if not INT64_MIN <= value <= INT64_MAX:
            raise ValueError("a decimal")
        return pa.int64()
    if isinstance(value, float):
        return pa.float64()
    if isinstance(value, str):
        return pa.string()
    if isinstance(value, dict):
        return pa.struct([(name, _kind(value[name])) for name in sorted(value)])
    assert isinstance(value, list)
    kind = pa.null()
    for element in value:
        kind = _merged(kind, _kind(element))
    return pa.list_(kind)


def _merged(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    if left == right or right == pa.null():
        return left
    if left == pa.null():
        return right
    if {left, right} == {pa.int64(), pa.float64()}:
        return pa.float64()
    if pa.types.is_struct(left) and pa.types.is_struct(right):
        fields = {field.name: field.type for field in left}
        for field in right:
            fields[field.name] = _merged(fields.get(field.name, pa.null()), field.type)
        return pa.struct([(name, fields[name]) for name in sorted(fields)])
    if pa.types.is_list(left) and pa.types.is_list(right):
        return pa.list_(_merged(left.value_type, right.value_type))
    return pa.string()


def _settled(kind: pa.DataType) -> pa.DataType:
    """Return an inferred type with the type string in place of each part whose type no value has determined (null)."""
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _settled(field.type)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(_settled(kind.value_type))
    return pa.string() if kind == pa.null() else kind
