"""Time patterns that calls have as their second argument.

A constant pattern is validated. For a pattern from a record, the SQL of a call gives NULL if Spark throws.
"""

from __future__ import annotations

from asc.predicate.expressions.constant_text import constant_text
from asc.predicate.functions.bounded import text_up_to
from asc.predicate.functions.function import Call, Check
from asc.predicate.functions.time_pattern import MAX_PATTERN_CHARS, time_pattern_trouble
from asc.predicate.functions.try_spellings import caught_text

_OF_TIME_LIST = """
date_format from_unixtime to_char to_date to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp to_varchar
try_to_timestamp unix_timestamp
"""
OF_TIME_PATTERNS = frozenset(_OF_TIME_LIST.split())
"""The functions whose second argument may be a time pattern."""
_MOST_SHOWN = 16.0
"""The maximum length of a formatted date or timestamp, as a multiple of the length of the pattern.

Two letters of the pattern may become the name of a time zone.
"""


def pattern_check(*, parses: bool) -> Check:
    """Return a check that the second argument of a call is a valid time pattern, if it is a constant or is composed of
    constants.

    ``parses``: whether the pattern is used for parsing, not for formatting.
    """

    def check(call: Call) -> str | None:
        pattern = call.text(1)
        return None if pattern is None else time_pattern_trouble(pattern, parses=parses)

    return check


def brings_pattern(call: Call) -> bool:
    """Return whether a call has a time pattern as its second argument that comes from the record, not from
    constants.
    """
    return len(call.args) > 1 and not call.is_null(1) and constant_text(call.args[1].node) is None


def pattern_of(call: Call) -> str:
    """Return the SQL text of a call's time pattern; a pattern from the record is NULL if it is too long."""
    return text_up_to(1, MAX_PATTERN_CHARS)(call) if brings_pattern(call) else call.args[1].sql


def shown_by_pattern(call: Call, instant: str, name: str | None = None) -> str:
    """Return SQL for a date or timestamp as a text in the time pattern of a call. The text is NULL if Spark throws for
    a pattern from the record.
    """
    made = f"{name or call.name}({instant}, {pattern_of(call)})"
    return caught_text(made) if brings_pattern(call) else made


def longest_shown(call: Call) -> float:
    """Return the factor by which a date or timestamp, formatted with a pattern from the record, may be longer than the
    text of the record.

    The factor is 0 if the pattern does not come from the record.
    """
    return _MOST_SHOWN * call.args[1].growth if brings_pattern(call) else 0.0
