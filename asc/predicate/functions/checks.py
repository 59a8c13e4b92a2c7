"""Checks of calls that several families of functions share. A check returns the reason why a call is
refused, or None.
"""

from __future__ import annotations

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.functions.bounded import MAX_SOUGHT_CHARS, is_short_constant
from asc.predicate.functions.function import Call, Check


def unified(
    kinds: list[pa.DataType | None], name: str, strings_with: str = "numbers and instants", *, are_cast: bool = False
) -> str | None:
    """Return the reason why values of these types have no common type; None if they have one.

    ``are_cast``: whether instants of several known types are cast to one type.
    """
    if not types.unifiable(kinds, strings_with):
        return f"{name} of {' and '.join(dict.fromkeys(map(types.name, kinds)))}: CAST them to one type"
    if types.mixed_instants(kinds) and not (are_cast and None not in kinds):
        return f"{name} of instants of several types: CAST them to one type"
    return None


def of_one_kind(places: slice = slice(None), strings_with: str = "numbers and instants") -> Check:
    """Return a check that the arguments at ``places`` have a common type in Spark."""
    return lambda call: unified(call.kinds[places], call.name, strings_with, are_cast=True)


def sought(place: int, within: int) -> Check:
    """Return a check of the constant argument at ``place``, which the call searches for in the argument at ``within``.

    One of the two must be a short constant, because a search takes time proportional to the product of their lengths.
    """

    def check(call: Call) -> str | None:
        if place >= len(call.args) or call.args[place].literal is None:
            return None
        if is_short_constant(call, place) or is_short_constant(call, within):
            return None
        return f"what {call.name} seeks is a constant of at most {MAX_SOUGHT_CHARS:,} characters"

    return check


def held(call: Call) -> str | None:
    """Return the reason for refusing to search the second argument among the elements of an array or the keys of a map,
    because of its type. Return None if the search is allowed.
    """
    container, value = call.type(0), call.type(1)
    if container is None or container == pa.null():
        return None
    if value == pa.null() and call.name in ("array_contains", "map_contains_key"):
        return f"{call.name} of NULL is refused by Spark: write exists(xs, x -> x IS NULL)"
    kind = container.key_type if pa.types.is_map(container) else container.value_type
    if call.name == "array_contains" and types.is_number(kind) and types.is_number(value):
        return None  # including decimals
    if not types.searchable(kind, value):
        return f"{call.name} seeks {types.name(kind)}, not {types.name(value)}: CAST it"
    return None


def constant_integer(place: int, what: str, low: int, high: int, but: int | None = None) -> Check:
    """Return a check that an argument, if present, is a constant integer within bounds, or NULL.

    The value ``but`` is not allowed, if given. ``what`` names the argument in the reason for a refusal.
    """
    bounds = f"{low}..{high}" + ("" if but is None else f" other than {but}")

    def check(call: Call) -> str | None:
        value = call.integer(place)
        if place >= len(call.args) or call.is_no_integer(place):
            return None
        if value is not None and low <= value <= high and value != but:
            return None
        return f"the {what} given to {call.name} must be a constant of {bounds}"

    return check


def integer_or_bounded(place: int, what: str, low: int, high: int, but: int | None = None) -> Check:
    """Return the check of :func:`constant_integer`, applied only to a constant.

    For an argument that is not constant, the SQL of the call has a bound instead.
    """
    check = constant_integer(place, what, low, high, but)
    return lambda call: check(call) if place < len(call.args) and call.args[place].literal is not None else None


def constant_string(place: int, what: str, most: int = MAX_SOUGHT_CHARS) -> Check:
    """Return a check that the argument at ``place``, if present, is a constant string of at most ``most`` characters,
    or NULL.
    """

    def check(call: Call) -> str | None:
        value = call.constant(place)
        if place >= len(call.args) or call.is_null(place) or (isinstance(value, str) and len(value) <= most):
            return None
        return f"the {what} given to {call.name} must be a constant string of at most {most:,} characters"

    return check


def every(*checks: Check) -> Check:
    """Return a check that returns the first reason for refusal that one of the checks finds."""
    return lambda call: next((trouble for check in checks if (trouble := check(call)) is not None), None)
