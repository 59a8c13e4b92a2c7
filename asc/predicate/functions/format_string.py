"""The check of the format of ``format_string``.

The format must be a constant with which the call cannot fail and the length of the result is bounded.
"""

from __future__ import annotations

import re

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.functions.function import Call
from asc.predicate.functions.growth import joined

_MAX_WIDTH = 100
_SPECIFIER = re.compile(r"%(?:(\d{1,2})\$)?([-#+ 0,(]*)(\d{1,3})?(?:\.(\d{1,3}))?([a-zA-Z%])?", re.ASCII)
_FLAGS = {
    **dict.fromkeys("sS", frozenset("-")),
    "d": frozenset("-+ 0,("),
    **dict.fromkeys("xXo", frozenset("-#0")),
    "f": frozenset("-+ 0,("),
    **dict.fromkeys("eE", frozenset("-+ 0(")),
}
"""By conversion, such as ``d``: the flags that the format may give it. Every other conversion except ``%%`` and ``%n``
is refused.
"""
_OF_INTEGERS, _OF_FLOATS = frozenset("dxXo"), frozenset("feE")


def format_trouble(call: Call) -> str | None:
    """Return the reason why a call of format_string is refused; None if it is allowed.

    Java throws for a value whose type does not match its conversion.
    """
    text = call.constant(0)
    if call.is_null(0):
        return None
    if not isinstance(text, str):
        return f"the format given to {call.name} must be a constant string"
    following = 1
    for match in _SPECIFIER.finditer(text):
        place, flags, width, precision, conversion = match.groups()
        if conversion in ("%", "n") and match.group() == f"%{conversion}":
            continue
        if conversion not in _FLAGS or not set(flags) <= _FLAGS[conversion]:
            return f"{call.name} takes %s, %d, %x, %o, %f, %e and %%, not {match.group()}"
        if len(set(flags)) < len(flags) or {"-", "0"} <= set(flags) or {"+", " "} <= set(flags):
            return f"{call.name} takes no {match.group()}: its flags exclude each other"
        if (set(flags) & {"-", "0"} and width is None) or (precision and conversion in _OF_INTEGERS):
            return f"{call.name} takes no {match.group()}: give it a width, and whole numbers no precision"
        if max(int(width or 0), int(precision or 0)) > _MAX_WIDTH or (width and width.startswith("0")):
            return f"{call.name} takes widths and precisions of at most {_MAX_WIDTH}, not {match.group()}"
        if place is None:
            place, following = str(following), following + 1
        if not 1 <= int(place) < len(call.args):
            return f"{call.name} has no argument for {match.group()}"
        trouble = _value_trouble(call, match.group(), conversion, int(place))
        if trouble:
            return trouble
    return None


def _value_trouble(call: Call, specifier: str, conversion: str, place: int) -> str | None:
    kind = call.type(place)
    if types.is_container(kind):
        return f"argument {place + 1} of {call.name} is {types.name(kind)}, not a single value"
    if kind == pa.null():
        return None
    if conversion in _OF_INTEGERS and kind not in types.INTEGERS:
        return f"{specifier} takes an integer, not {types.name(kind)}: CAST it to BIGINT"
    if conversion in _OF_FLOATS and kind not in (pa.float32(), pa.float64()):
        return f"{specifier} takes a double, not {types.name(kind)}: CAST it to DOUBLE"
    return None


def formatted(call: Call) -> float:
    """Return the factor by which a formatted text may be longer than the record. The format may repeat a value."""
    text = call.constant(0)
    if not isinstance(text, str):
        return 1.0
    used = sum(1 for _ in _SPECIFIER.finditer(text))
    return joined(call) * max(1, used - len(call.args) + 2)
