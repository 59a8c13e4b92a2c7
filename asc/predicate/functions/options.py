"""Checks of the options of functions that parse and write documents. The options are a map of constant strings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from asc.predicate.functions.function import Call, Check
from asc.predicate.functions.time_pattern import time_pattern_trouble
from asc.predicate.functions.time_zone import is_time_zone

_BOOLEAN = re.compile(r"true|false", re.IGNORECASE)
_CHARACTER = re.compile(r"[\x20-\x7e\t]")
_TEXT = re.compile(r".{0,100}", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w{0,99}", re.ASCII)
_PERMISSIVE = re.compile(r"permissive", re.IGNORECASE)
_PATTERNS = frozenset(("dateformat", "timestampformat", "timestampntzformat"))
_ZONE = "timezone"
_TIMES: Mapping[str, re.Pattern[str]] = MappingProxyType(dict.fromkeys((*_PATTERNS, _ZONE), _TEXT))
"""The options for times (patterns and time zone). Their values are validated further, after the regular expression here
has matched.
"""


def _of(pattern: re.Pattern[str], names: str) -> dict[str, re.Pattern[str]]:
    return dict.fromkeys(names.lower().split(), pattern)


JSON_READ = MappingProxyType(
    {
        **_TIMES,
        "mode": _PERMISSIVE,
        **_of(
            _BOOLEAN,
            """
            allowComments allowUnquotedFieldNames allowSingleQuotes allowNumericLeadingZeros allowNonNumericNumbers
            allowBackslashEscapingAnyCharacter allowUnquotedControlChars primitivesAsString
            """,
        ),
    }
)
JSON_INFERRED = MappingProxyType({**JSON_READ, **_of(_BOOLEAN, "prefersDecimal dropFieldIfAllNull inferTimestamp")})
JSON_WRITTEN = MappingProxyType({**_TIMES, **_of(_BOOLEAN, "ignoreNullFields pretty")})
_CSV = MappingProxyType(
    {
        **_TIMES,
        **_of(_CHARACTER, "sep delimiter quote escape"),
        **_of(_TEXT, "nullValue emptyValue nanValue positiveInf negativeInf"),
        **_of(_BOOLEAN, "header ignoreLeadingWhiteSpace ignoreTrailingWhiteSpace"),
    }
)
CSV_READ = MappingProxyType({**_CSV, "mode": _PERMISSIVE})
CSV_INFERRED = MappingProxyType({**CSV_READ, **_of(_BOOLEAN, "inferSchema")})
CSV_WRITTEN = MappingProxyType({**_CSV, **_of(_BOOLEAN, "quoteAll escapeQuotes")})
_XML = MappingProxyType(
    {**_TIMES, **_of(_NAME, "rowTag valueTag attributePrefix arrayElementName"), **_of(_TEXT, "nullValue")}
)
XML_READ = MappingProxyType(
    {**_XML, "mode": _PERMISSIVE, **_of(_BOOLEAN, "excludeAttribute ignoreSurroundingSpaces ignoreNamespace")}
)
XML_WRITTEN = _XML


def options(place: int, known: Mapping[str, re.Pattern[str]], *, parses: bool) -> Check:
    """Return a check that an argument, if present, is ``map('name', 'value', ...)`` of known options.

    ``parses``: whether the time patterns among the options are used for parsing, not for formatting.
    """

    def check(call: Call) -> str | None:
        if place >= len(call.args):
            return None
        given = options_of(call, place)
        if given is None:
            return f"the options given to {call.name} must be constant strings: map('name', 'value', ...)"
        for name, value in given.items():
            if name not in known:
                return f"{call.name} has no option {name!r} here"
            trouble = None if known[name].fullmatch(value) else "is not one of its values"
            if name in _PATTERNS:
                trouble = time_pattern_trouble(value, parses=parses)
            elif name == _ZONE and not is_time_zone(value):
                trouble = "is no time zone such as 'Europe/Berlin' or '+01:00'"
            if trouble:
                return f"the option {name!r} of {call.name}: {value!r}: {trouble}"
        return None

    return check


def options_of(call: Call, place: int) -> Mapping[str, str] | None:
    """Return the options by lower-case name. The result is empty if the argument at ``place`` is missing.

    Return None if the options are not constants, or if a name occurs twice.
    """
    if place >= len(call.args):
        return {}
    node = call.args[place].node
    if node.op != "call" or node.value != "map" or not node.args or len(node.args) % 2:
        return None
    texts = [arg.value.value for arg in node.args if arg.op == "literal" and isinstance(arg.value.value, str)]
    given = {name.lower(): value for name, value in zip(texts[::2], texts[1::2], strict=False)}
    return given if 2 * len(given) == len(node.args) else None
