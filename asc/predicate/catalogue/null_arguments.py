"""The functions of Spark whose result for a NULL argument is not NULL, each with its result."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_FIRST = "the first that is not NULL"
_PASSED_OVER = "passed over; NULL where all are"
_AS_TEXT = "`null` in the text; NULL for the format"
_HASHED = "passed over: what is left is hashed"
_PUT_IN = "for the element: put in"
_DEFAULT_FORMAT = "for a format that a date or timestamp does not need: passed over"
_START = "for the start: 0"

OF_NULL: Mapping[str, str] = MappingProxyType(
    {
        "array": "an element",
        "array_append": _PUT_IN,
        "array_insert": _PUT_IN,
        "array_prepend": _PUT_IN,
        "array_repeat": "for the value: repeated",
        "cardinality": "-1",
        "coalesce": _FIRST,
        "collation": "the name of the collation",
        "concat_ws": "passed over; NULL for the separator",
        "decode": "equals NULL among what is looked for; for a character set NULL",
        "equal_null": "TRUE for two, FALSE for one",
        "format_string": _AS_TEXT,
        "greatest": _PASSED_OVER,
        "hash": _HASHED,
        "if": "for the condition: the third; else what is chosen",
        "ifnull": _FIRST,
        "is_variant_null": "FALSE",
        "isnan": "FALSE",
        "isnotnull": "FALSE",
        "isnull": "TRUE",
        "least": _PASSED_OVER,
        "locate": _START,
        "map": "for a value: put in",
        "mask": "for what stands in for signs: they stay; else NULL",
        "named_struct": "for a value: put in",
        "nanvl": "for the second: the first, unless that is NaN",
        "nullif": "for the second: the first",
        "nvl": _FIRST,
        "nvl2": "for the first: the third; else what is chosen",
        "position": _START,
        "printf": _AS_TEXT,
        "sentences": "for language and country: as if not given",
        "size": "-1",
        "to_unix_timestamp": _DEFAULT_FORMAT,
        "typeof": "the name of the type",
        "unix_timestamp": _DEFAULT_FORMAT,
        "xxhash64": _HASHED,
        "zeroifnull": "0",
    }
)
"""The result for a NULL argument in words, by function name. Every other function returns NULL if an argument is NULL.
"""
