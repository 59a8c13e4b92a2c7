"""The options of Spark's from_json and from_csv that a stream may set, and what they may be set to."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping

CSV_COLUMNS_MAX = 20_480
"""Columns of a CSV record, where the option maxColumns does not say otherwise."""

DATE_PATTERNS = {"dateFormat": "to_date", "timestampFormat": "to_timestamp", "timestampNTZFormat": "to_timestamp_ntz"}
"""Options that are a pattern, and the function of Spark that reads by it."""

_COLUMNS_BOUND = 1_000_000
_LOCALE = re.compile("[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
_DISTINCT = ("quote", "escape", "comment")
_SYMBOLS = ("sep", "delimiter", *_DISTINCT, "charToEscapeQuoteEscaping")
_COMMON = (*DATE_PATTERNS, "timeZone", "locale")
_KNOWN = {
    "json": (
        *("allowComments", "allowUnquotedFieldNames", "allowSingleQuotes", "allowNumericLeadingZeros"),
        *("allowNonNumericNumbers", "allowBackslashEscapingAnyCharacter", "allowUnquotedControlChars"),
        *("primitivesAsString", *_COMMON),
    ),
    "csv": (
        *("sep", "delimiter", "quote", "escape", "comment", "charToEscapeQuoteEscaping", "unescapedQuoteHandling"),
        *("ignoreLeadingWhiteSpace", "ignoreTrailingWhiteSpace", "nullValue", "emptyValue", "nanValue"),
        *("positiveInf", "negativeInf", "maxColumns", *_COMMON),
    ),
}


def wrong_options(record_format: str, options: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """What is wrong with a stream's options: option, value and remedy of each.

    >>> list(wrong_options("csv", {"sep": ";", "maxColumns": "0"}))
    [('maxColumns', '0', 'use 1 to 1000000')]
    """
    known = _KNOWN[record_format]
    separator = options.get("sep", options.get("delimiter", ","))
    for option, value in options.items():
        if option not in known:
            near = difflib.get_close_matches(option, known, n=1, cutoff=0.5)
            remedy = f"did you mean '{near[0]}'?" if near else f"known for {record_format}: {', '.join(known)}"
            yield option, value[:50], f"is not a decoding option: {remedy}"
        elif option in ("sep", "delimiter") and not value:
            yield option, value, "give the separator at least one character"
        elif option in ("sep", "delimiter") and value == options.get("quote", '"'):
            yield option, value, "is the quote too: choose another character"
        elif option in _SYMBOLS and re.search("[\r\n]", value):
            yield option, value[:50], "a line break ends the record: choose another character"
        elif option in _DISTINCT and value == separator:
            yield option, value[:50], "is the separator too: choose another character"
        elif option == "maxColumns" and not _is_count(value):
            yield option, value[:50], f"use 1 to {_COLUMNS_BOUND}"
        elif option == "locale" and not _LOCALE.fullmatch(value):
            yield option, value[:50], "write a language tag, as en-US"
        elif option in DATE_PATTERNS and not value.strip():
            yield option, value, "give a pattern, as yyyy-MM-dd"


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 9 and 1 <= int(text) <= _COLUMNS_BOUND
