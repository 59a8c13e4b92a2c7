"""``to_char``: numbers, dates, timestamps and bytes as texts of a given form."""

from __future__ import annotations

import re

import pyarrow as pa

from asc.predicate import types
from asc.predicate.functions.caught import as_text, cast_to, with_short_number
from asc.predicate.functions.function import Call, Function, plain
from asc.predicate.functions.growth import times
from asc.predicate.functions.results import STRING
from asc.predicate.functions.time_pattern import time_pattern_trouble
from asc.predicate.literal import TIMESTAMP

_NUMBER = re.compile(
    r"(?=[^09]*[09])(?P<sign>MI|S)?\$?(?:[09]+(?:[,G][09]+)*)?(?:[.D][09]*)?(?(sign)|(?:MI|S|PR)?)\Z", re.IGNORECASE
)
_OF_BYTES = ("base64", "hex", "utf-8")
_MAX_CHARS = 100


def _trouble(call: Call) -> str | None:
    kind, form = call.type(0), call.constant(1)
    if call.is_null(1):
        return None
    if not isinstance(form, str) or len(form) > _MAX_CHARS:
        return f"the form given to {call.name} must be a constant of at most {_MAX_CHARS} characters"
    if types.is_instant(kind):
        return time_pattern_trouble(form, parses=False)
    if kind == pa.binary():
        return None if form.lower() in _OF_BYTES else f"{call.name} of binary: 'base64', 'hex' or 'utf-8'"
    if not types.may_be_number(kind) or kind is None:
        return f"{call.name} of {types.name(kind)}: give it a number, an instant or binary"
    return None if _NUMBER.match(form) else f"{call.name} of a number takes a form such as '$99,990.00' or 'S999'"


def _spelling(call: Call) -> str:
    first, form = call.args
    if types.is_instant(first.type):
        return f"date_format({cast_to(TIMESTAMP, first)}, {form.sql})"
    if first.type == pa.string():
        return with_short_number(call, 0)
    if first.type == pa.binary() and str(call.constant(1)).lower() == "utf-8":
        return as_text(call)
    return plain(call)


TO_CHAR = Function(2, 2, "cS", STRING, _trouble, times(3), _spelling)
