"""The functions of Spark whose result for a NULL argument is not always NULL, each with a description of the result."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_FIRST = "the first argument that is not NULL"
_IGNORED = "NULL arguments are ignored; NULL if all are NULL"
_AS_TEXT = "a NULL argument is `null` in the text; NULL for a NULL format"
_HASHED = "the hash of the arguments that are not NULL"
_INSERTED = "a NULL element is inserted; otherwise NULL"
_DEFAULT_FORMAT = "a NULL format is ignored for a date or timestamp; otherwise NULL"
_START = "0 for a NULL start; otherwise NULL"

OF_NULL: Mapping[str, str] = MappingProxyType(
    {
        "array": "the array contains a NULL element",
        "array_append": _INSERTED,
        "array_insert": _INSERTED,
        "array_prepend": _INSERTED,
        "array_repeat": "a NULL value is repeated; otherwise NULL",
        "cardinality": "-1",
        "coalesce": _FIRST,
        "collation": "the name of the collation",
        "concat_ws": "NULL arguments are ignored; NULL for a NULL separator",
        "decode": "a NULL value equals a NULL search value; NULL for a NULL character set",
        "equal_null": "TRUE if both arguments are NULL, FALSE if one is",
        "format_string": _AS_TEXT,
        "greatest": _IGNORED,
        "hash": _HASHED,
        "if": "the third argument for a NULL condition; otherwise the chosen argument",
        "ifnull": _FIRST,
        "is_variant_null": "FALSE",
        "isnan": "FALSE",
        "isnotnull": "FALSE",
        "isnull": "TRUE",
        "least": _IGNORED,
        "locate": _START,
        "map": "the map contains a NULL value",
        "mask": "characters with a NULL replacement stay as they are; NULL for a NULL text",
        "named_struct": "the struct contains a NULL field",
        "nanvl": "for a NULL second argument: the first, unless it is NaN; otherwise NULL",
        "nullif": "the first argument for a NULL second one; otherwise NULL",
        "nvl": _FIRST,
        "nvl2": "the third argument for a NULL first one; otherwise the chosen argument",
        "position": _START,
        "printf": _AS_TEXT,
        "sentences": "a NULL language or country is ignored; NULL for a NULL text",
        "size": "-1",
        "to_unix_timestamp": _DEFAULT_FORMAT,
        "typeof": "the name of the type",
        "unix_timestamp": _DEFAULT_FORMAT,
        "xxhash64": _HASHED,
        "zeroifnull": "0",
    }
)
"""A description of the result for a NULL argument, by function name.

Every other function returns NULL if an argument is NULL.
"""
