"""Depth of nesting of a text, counted without recursion: before a reader that goes one call deeper for each level."""

from __future__ import annotations

import re
from itertools import accumulate

JSON_LEVELS_MAX = 100
"""Arrays and objects that may be open at once in JSON that is read here by recursion."""

WKT_LEVELS_MAX = 10
"""Parentheses that may be open at once in WKT: a MULTIPOLYGON has three."""

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)


def json_levels(text: str) -> int:
    """Return the most arrays and objects of a JSON text that are open at once; of what is no JSON, of the part before
    its fault at least. Cost: some nanoseconds a character.

    >>> json_levels('{"a": [1, {"b": "[[[["}]}')
    3
    """
    return _levels(_STRING.sub("", text), b"[{", b"]}")


def wkt_levels(text: str) -> int:
    """Return the most parentheses of a WKT text that are open at once.

    >>> wkt_levels("MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)))")
    3
    """
    return _levels(text, b"(", b")")


def _levels(text: str, opening: bytes, closing: bytes) -> int:
    # A byte of no ASCII is part of no bracket.
    marks = text.encode("utf-8", "surrogatepass").translate(
        bytes.maketrans(opening + closing, b"\x01" * len(opening) + b"\xff" * len(closing)),
        bytes(set(range(256)) - set(opening + closing)),
    )
    # Each is a step of 1 or -1, by its sign.
    return max(accumulate(memoryview(marks).cast("b")), default=0)
