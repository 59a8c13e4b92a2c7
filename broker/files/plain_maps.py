"""The check of columns of type MAP in lines of JSON: whether Spark certainly decodes their values."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    import pyarrow as pa

_Check = Callable[[Any], bool]


def is_checkable(data_type: pa.DataType) -> bool:
    """Return whether :func:`doubtful_map` can check the values of a type."""
    import pyarrow as pa

    types = pa.types
    return bool(types.is_map(data_type) and types.is_string(data_type.key_type)) and _check(data_type) is not None


def doubtful_map(lines: Sequence[bytes], maps: Sequence[pa.Field]) -> str | None:
    """Return what is doubtful about the columns ``maps`` in lines of one JSON object each. Return None if Spark
    certainly decodes them.

    Arrow reads no MAP from JSON. A column that nobody needs is checked nevertheless, because Spark cannot decode a
    record with a value of another type. Cost: each line is parsed in Python.
    """
    checks = [(field.name, check) for field in maps if (check := _check(field.type)) is not None]
    for line in lines:
        try:
            columns = json.loads(line, object_pairs_hook=_unique, parse_constant=_refuse)
        except ValueError as error:
            return str(error)
        for name, is_plain in checks:
            value = columns.get(name)
            if value is None:
                continue
            if not isinstance(value, dict) or not all(own is None or is_plain(own) for own in value.values()):
                return f"column {name} holds {json.dumps(value)[:40]}"
    return None


def _check(data_type: pa.DataType) -> _Check | None:
    """Return a function that returns whether Spark decodes a value of a map. Return None for types that are not
    checked.
    """
    import pyarrow as pa

    types, item = pa.types, data_type.item_type
    if types.is_string(item):
        return lambda value: isinstance(value, str)
    if types.is_boolean(item):
        return lambda value: isinstance(value, bool)
    if types.is_integer(item):
        end = 1 << (item.bit_width - 1)
        return lambda value: type(value) is int and -end <= value < end
    if types.is_floating(item):
        return lambda value: type(value) in (int, float) and math.isfinite(value)
    return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object. Raise ValueError if a name occurs twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("an object has a name twice")
    return members


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
