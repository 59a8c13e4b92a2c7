"""Why calls of functions are refused: what several families of them have in common."""

from __future__ import annotations

import pyarrow as pa

from asc.predicate import types
from asc.predicate.expression import Expression
from asc.predicate.functions.function import Call, Check

_MAX_SOUGHT = 1_000
_OF_ABOUT_THE_LENGTH = frozenset(("encode", "unhex", "unbase64", "to_binary", "lower", "upper"))
"""Calls whose result is not much longer than their first argument."""


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
    if not any(_is_short(arg) for arg in call.args[:2]):
        return f"one of the strings given to {call.name} must be a constant of at most {_MAX_SOUGHT} characters"
    return None


def _is_short(arg: Expression) -> bool:
    """Whether an argument is a constant of few characters, itself or as other bytes."""
    literal, node = arg.literal, arg.node
    if literal is None and node.op == "call" and node.value in _OF_ABOUT_THE_LENGTH and node.args:
        literal = node.args[0].value if node.args[0].op == "literal" else None
    return literal is not None and len(str(literal.value)) <= _MAX_SOUGHT


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
