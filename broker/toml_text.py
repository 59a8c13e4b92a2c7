"""A TOML parser with bounds on nesting."""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any

LEVELS_MAX = 100
"""The largest permitted number of nested levels of a document. A configuration has four levels of tables and arrays."""

_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_LONG_KEY = re.compile(rf"(?:^|[\[{{,])[ \t]*{_PART}(?:[ \t]*\.[ \t]*{_PART}){{{LEVELS_MAX}}}", re.MULTILINE)
"""The pattern of a key with more than LEVELS_MAX parts (``a.b.c`` has three). The parser's time and memory grow with
the square of the number of parts.
"""


def parse_toml(text: str) -> dict[str, Any]:
    """Return the document in a TOML text. Raise ValueError with the reason if the text is invalid.

    >>> parse_toml("a = [1]")
    {'a': [1]}
    >>> parse_toml("a = " + "[" * 20_000)
    Traceback (most recent call last):
    ValueError: it is nested too deeply
    >>> parse_toml("x" + ".a" * 20_000 + " = 1")
    Traceback (most recent call last):
    ValueError: it is nested too deeply
    """
    if _LONG_KEY.search(text):
        raise ValueError("it is nested too deeply")
    tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        document: dict[str, Any] = tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if _levels(document) > LEVELS_MAX:
        raise ValueError("it is nested too deeply")
    return document


def _levels(document: object) -> int:
    """Return the number of nested levels of a document. If they are more than LEVELS_MAX, return LEVELS_MAX + 1."""
    levels, inner = 0, [document]
    while inner and levels <= LEVELS_MAX:
        levels += 1
        inner = [
            each
            for outer in inner
            if isinstance(outer, (dict, list))
            for each in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return levels
