"""Patterns of dates and times as Spark reads them, and a test of whether a constant is such a pattern.

Spark passes the patterns to Java's DateTimeFormatter. Spark refuses a letter that had another meaning in Java's older
parser.
"""

from __future__ import annotations

import re

MAX_PATTERN_CHARS = 100
_MOST = {
    **dict.fromkeys("GMLqQE", 4),
    **dict.fromkeys("dhHkKms", 2),
    **dict.fromkeys("aF", 1),
    **dict.fromkeys("xXZ", 5),
    "y": 6,
    "D": 3,
    "S": 9,
    "V": 2,
    "z": 4,
    "O": 4,
}
"""The letters that a time pattern may have, each with the maximum number of its repetitions."""
_FORMATTED_ONLY = frozenset("EFqQ")
_PIECE = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*|.", re.DOTALL)


def time_pattern_trouble(pattern: str, *, parses: bool) -> str | None:
    """Return the reason why a text is no valid time pattern; None if it is valid.

    ``parses``: whether the pattern is used for parsing, not for formatting.

    >>> time_pattern_trouble("yyyy-MM-dd'T'HH:mm[:ss]", parses=True)
    >>> time_pattern_trouble("YYYY", parses=False)
    'a pattern of times has no letter Y'
    """
    if not pattern or len(pattern) > MAX_PATTERN_CHARS:
        return f"a pattern of times has 1 to {MAX_PATTERN_CHARS} characters"
    depth = 0
    for match in _PIECE.finditer(pattern):
        piece, letter = match.group(), match.group(1)
        if letter:
            most = _MOST.get(letter, 0)
            if not most or (parses and letter in _FORMATTED_ONLY):
                return f"a pattern of times{' to read with' if most else ''} has no letter {letter}"
            if len(piece) > most or (letter == "V" and len(piece) != 2) or (letter == "O" and len(piece) not in (1, 4)):
                return f"a pattern of times has {letter} as {letter * most} at most, not as {piece}"
        elif piece in ("'", "{", "}", "#"):
            return f"a pattern of times with {piece}: put text in single quotes"
        elif piece in "[]":
            depth += 1 if piece == "[" else -1
            if depth < 0:
                return "a pattern of times with a ] that has no ["
    return None
