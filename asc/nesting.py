"""The depth of nesting of JSON or WKT. It is counted without recursion, before a recursive parser reads the text,
because deep nesting would overflow the parser's stack.
"""

from __future__ import annotations

import re
from itertools import accumulate

JSON_LEVELS_MAX = 100
"""The greatest depth of nested arrays and objects in JSON that a recursive parser may read."""

WKT_LEVELS_MAX = 10
"""The greatest depth of nested parentheses in WKT. A MULTIPOLYGON has a depth of three."""

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)


def json_levels(text: str) -> int:
    """Return the greatest depth of nested arrays and objects in a JSON text. If the text is invalid JSON, the result
    counts at least the part before the fault. Cost: some nanoseconds per character.

    >>> json_levels('{"a": [1, {"b": "[[[["}]}')
    3
    """
    return _levels(_STRING.sub("", text), b"[{", b"]}")


def wkt_levels(text: str) -> int:
    """Return the greatest depth of nested parentheses in a WKT text.

    >>> wkt_levels("MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)))")
    3
    """
    return _levels(text, b"(", b")")


def _levels(text: str, opening: bytes, closing: bytes) -> int:
    # A byte outside of ASCII is never a bracket.
    marks = text.encode("utf-8", "surrogatepass").translate(
        bytes.maketrans(opening + closing, b"\x01" * len(opening) + b"\xff" * len(closing)),
        bytes(set(range(256)) - set(opening + closing)),
    )
    # The sign of an entry says whether it opens or closes a bracket.
    return max(accumulate(memoryview(marks).cast("b")), default=0)
