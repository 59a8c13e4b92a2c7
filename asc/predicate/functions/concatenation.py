"""The functions ``concat`` and ``reverse`` and the operator ``||``, for strings, binaries and arrays."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.expressions.common_type import held_together
from asc.predicate.functions.function import MANY, Call, Function, is_array
from asc.predicate.functions.growth import joined
from asc.predicate.functions.results import part_of_string, string_or_binary


def concatenation_trouble(kinds: Sequence[pa.DataType | None]) -> str | None:
    """Return the reason why values of these types cannot be concatenated; None if they can be."""
    containers = [kind for kind in kinds if kind is not None and types.is_container(kind)]
    if not containers:
        return None
    others = [kind for kind in kinds if kind is not None and not is_array(kind)]
    if others:
        return f"{types.name(containers[0])} joined with {types.name(others[0])}: join arrays, or strings"
    held = _held(kinds)
    # A constant next to instants may be a time word.
    read = pa.string() in held and any(map(types.is_instant, held))
    if read or not types.unifiable(held, "numbers") or types.mixed_instants(held):
        return f"{' and '.join(dict.fromkeys(map(types.name, containers)))}: CAST them to one type to join them"
    return None


def type_of_concatenation(kinds: Sequence[pa.DataType | None]) -> pa.DataType | None:
    """Return the type of the concatenation of values of these types; None if it is not known."""
    if any(kind is not None and types.is_container(kind) for kind in kinds):
        held = None if None in kinds else held_together(_held(kinds))
        return None if held is None else pa.list_(held)
    found = set(kinds)
    return None if pa.binary() in found or None in found else pa.string()


def _held(kinds: Sequence[pa.DataType | None]) -> list[pa.DataType | None]:
    return [kind.value_type for kind in kinds if kind is not None and is_array(kind)]


def _trouble(call: Call) -> str | None:
    return concatenation_trouble(call.kinds)


def _joined(call: Call) -> pa.DataType | None:
    return type_of_concatenation(call.kinds) if any(map(types.is_container, call.kinds)) else string_or_binary(call)


def _no_map_or_struct(call: Call) -> str | None:
    kind = call.type(0)
    if kind is not None and types.is_container(kind) and not is_array(kind):
        return f"reverse of {types.name(kind)}: it takes a string or an array"
    return None


def _reversed(call: Call) -> pa.DataType | None:
    kind = call.type(0)
    return kind if kind is not None and is_array(kind) else part_of_string(call)


CONCATENATION = {
    "reverse": Function(1, 1, "x", _reversed, _no_map_or_struct),
    "concat": Function(0, MANY, "x", _joined, _trouble, joined),
}
"""The functions that concatenate or reverse strings, binaries or arrays, by name."""
