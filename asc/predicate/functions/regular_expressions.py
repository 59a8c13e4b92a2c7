"""Functions that take a regular expression: a constant one, matched in time linear in the string's length."""

from __future__ import annotations

import re

from asc.predicate.functions.checks import constant_integer, every
from asc.predicate.functions.function import Call, Check, Function
from asc.predicate.functions.growth import longest, times
from asc.predicate.functions.results import BOOLEAN, INT, STRING, STRINGS
from asc.predicate.regular_expression import rlike_trouble

_GROUP = re.compile(r"\\.|\[(?:\\.|[^\\\]])*\]|(\()(?!\?)", re.DOTALL)
_REFERENCE = re.compile(r"\$(\d?)|\\.?", re.DOTALL)


def regular_expression(place: int) -> Check:
    """An argument must be a constant regular expression that is matched in linear time, where it is given."""

    def check(call: Call) -> str | None:
        pattern = call.constant(place)
        if place >= len(call.args) or call.is_null(place):
            return None
        if not isinstance(pattern, str):
            return "the regular expression must be a constant string"
        return rlike_trouble(pattern)

    return check


def _groups(call: Call) -> int:
    """The groups of the regular expression, which is an allowed one."""
    pattern = call.constant(1)
    assert isinstance(pattern, str)
    return sum(match.group(1) is not None for match in _GROUP.finditer(pattern))


def _group(place: int, default: int) -> Check:
    """Spark throws for a group that the regular expression has not."""

    def check(call: Call) -> str | None:
        if call.is_null(1) or call.is_null(place):
            return None
        number = call.constant(place) if place < len(call.args) else default
        groups = _groups(call)
        if not isinstance(number, int) or not 0 <= number <= groups:
            return f"{call.name} takes group {number}: the regular expression has {groups}, and group 0 is all of it"
        return None

    return check


def _replacement(call: Call) -> str | None:
    """A replacement is literal text and groups; Spark throws for what is neither."""
    text = call.constant(2)
    if call.is_null(1) or call.is_null(2):
        return None
    if not isinstance(text, str):
        return "the replacement given to regexp_replace must be a constant string"
    for match in _REFERENCE.finditer(text):
        if match.group(1) is None or not match.group(1) or int(match.group(1)) > _groups(call):
            return "the replacement may have the groups $0..$9 that the regular expression has, and no other $ or \\"
    return None


def _replaced(call: Call) -> float:
    """Where nothing is matched, a replacement may stand beside every character."""
    text = call.constant(2)
    if not isinstance(text, str):
        return longest(call)
    references = sum(1 for _ in _REFERENCE.finditer(text))
    return longest(call) * (1.0 + references + len(_REFERENCE.sub("", text).encode()))


def _table() -> dict[str, Function]:
    regular = regular_expression(1)
    searches = every(regular, _group(2, 0))
    extracts = every(regular, _group(2, 1))
    replaces = every(regular, _replacement, constant_integer(3, "position", 1, 1_000_000))
    limit = constant_integer(2, "limit", -(1 << 31), (1 << 31) - 1)
    return {
        **dict.fromkeys(("rlike", "regexp", "regexp_like"), Function(2, 2, "s", BOOLEAN, regular)),
        "regexp_count": Function(2, 2, "s", INT, regular),
        "regexp_instr": Function(2, 3, "ssI", INT, searches),
        "regexp_substr": Function(2, 2, "s", STRING, regular),
        "regexp_extract": Function(2, 3, "ssI", STRING, extracts),
        "regexp_extract_all": Function(2, 3, "ssI", STRINGS, extracts, times(4)),
        "regexp_replace": Function(3, 4, "sssI", STRING, replaces, _replaced),
        "split": Function(2, 3, "ssI", STRINGS, every(regular, limit), times(4)),
    }


REGULAR_EXPRESSIONS = _table()
