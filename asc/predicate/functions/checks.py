"""Why calls of functions are refused: what several families of them have in common."""

from __future__ import annotations

import pyarrow as pa

from asc.predicate import types
from asc.predicate.functions.function import Call, Check

_MAX_SOUGHT = 1_000


def unified(kinds: list[pa.DataType | None], name: str, strings_with: str) -> str | None:
    if not types.unifiable(kinds, strings_with):
        return f"{name} of {' and '.join(dict.fromkeys(map(types.name, kinds)))}: CAST them to one type"
    if types.mixed_instants(kinds):
        return f"{name} of instants of several types: CAST them to one type"
    return None


def same_kind(call: Call) -> str | None:
    return unified(call.kinds, call.name, "numbers and instants")


def same_kind_of_branches(call: Call) -> str | None:
    return unified(call.kinds[1:], call.name, "numbers and instants")


def same_kind_strictly(call: Call) -> str | None:
    return unified(call.kinds, call.name, "")


def comparable_pair(call: Call) -> str | None:
    if not types.comparable("=", call.type(0), call.type(1)):
        return f"{types.name(call.type(0))} and {types.name(call.type(1))} cannot be compared"
    if types.mixed_instants([call.type(0), call.type(1)]):
        return f"{call.name} of instants of several types: CAST them to one type"
    return None


def searched(call: Call) -> str | None:
    """One string sought in another takes the product of their lengths: one of the two must be short."""
    if len(call.args) == 1:
        return None
    constants = [arg.literal.value for arg in call.args[:2] if arg.literal is not None]
    if not any(len(str(constant)) <= _MAX_SOUGHT for constant in constants):
        return f"one of the strings given to {call.name} must be a constant of at most {_MAX_SOUGHT} characters"
    return None


def sought(call: Call) -> str | None:
    """What is sought in an array or among the keys of a map, or put there."""
    container, value = call.type(0), call.type(1)
    if container is None or container == pa.null():
        return None
    held = container.key_type if pa.types.is_map(container) else container.value_type
    if call.name == "array_contains" and types.is_number(held) and types.is_number(value):
        return None  # decimals as well
    if not types.searchable(held, value):
        return f"{call.name} seeks {types.name(held)}, not {types.name(value)}: CAST it"
    return None


def constant_integer(place: int, what: str, low: int, high: int, but: int | None = None) -> Check:
    """An argument must be a constant integer within bounds, where it is given; ``but`` is one that it may not be."""
    bounds = f"{low}..{high}" + ("" if but is None else f" other than {but}")

    def check(call: Call) -> str | None:
        value = call.constant(place)
        if place >= len(call.args) or (type(value) is int and low <= value <= high and value != but):
            return None
        return f"the {what} given to {call.name} must be a constant of {bounds}"

    return check


def constant_string(place: int, what: str, most: int = _MAX_SOUGHT) -> Check:
    """An argument must be a constant string, where it is given."""

    def check(call: Call) -> str | None:
        value = call.constant(place)
        if place >= len(call.args) or (isinstance(value, str) and len(value) <= most):
            return None
        return f"the {what} given to {call.name} must be a constant string of at most {most:,} characters"

    return check


def every(*checks: Check) -> Check:
    """The first trouble that one of the checks finds."""
    return lambda call: next((trouble for check in checks if (trouble := check(call)) is not None), None)
