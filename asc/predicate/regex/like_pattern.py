"""LIKE patterns that can be matched in time linear in the string's length, with a small stack.

A long string must neither stall nor stop a stream. Spark passes a pattern to Java's backtracking matcher, whose
recursion is one call deeper for each ``_`` and each ``%``. So the number of these wildcards is bounded to a tenth of
the number that a small stack can handle.

A pattern with at most one ``%`` before its last character is passed to Spark unchanged. So are the forms that Spark
turns into startsWith, endsWith and contains. A segment is the text between two ``%``. Every other pattern becomes a
regular expression of atomic groups ``(?>.*?segment)``, which never backtracks into a segment that it has found. For
LIKE the leftmost occurrence of each segment is always as good as any later one.
"""

from __future__ import annotations

import re

_MAX_WILDCARDS = 500


def like_parts(pattern: str, escape: str) -> list[str | None]:
    """Return the parts of a pattern: literal texts, None for ``%``, and the empty string for ``_``.

    Raise ValueError for an escape sequence that Spark refuses.

    >>> like_parts("a%b_", chr(92))
    ['a', None, 'b', '']
    """
    parts: list[str | None] = []
    literal: list[str] = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        position += 1
        if character == escape:
            if position == len(pattern) or pattern[position] not in ("%", "_", escape):
                raise ValueError(f"after the escape {escape} comes %, _ or {escape}")
            literal.append(pattern[position])
            position += 1
        elif character in "%_":
            if literal:
                parts.append("".join(literal))
                literal.clear()
            if character == "_":
                parts.append("")
            elif not parts or parts[-1] is not None:
                parts.append(None)
        else:
            literal.append(character)
    if literal:
        parts.append("".join(literal))
    return parts


def like_work(parts: list[str | None]) -> int:
    """Return the maximum number of steps that a matcher takes for each character of a string.

    ``parts``: the parts of the pattern. Raise ValueError for more wildcards than a small stack can handle.

    >>> like_work(like_parts("abc%", chr(92))), like_work(like_parts("a%b__%cd", chr(92)))
    (0, 5)
    """
    if parts.count(None) + parts.count("") > _MAX_WILDCARDS:
        raise ValueError(f"at most {_MAX_WILDCARDS} of % and _")
    literals = [part for part in parts if part is not None]
    if "" not in literals and len(literals) <= 1:
        return 0  # a prefix, suffix or substring: Spark searches for it directly
    segments = [0]
    for part in parts:
        if part is None:
            segments.append(0)
        else:
            segments[-1] += len(part) or 1
    # The first segment is only tried at the start; a segment before % is never tried again; the last is searched for
    # from the end.
    _, *middle, last = segments if len(segments) > 1 else (*segments, 0)
    return max(middle, default=0) + last


def like_text(parts: list[str | None], escape: str) -> str:
    """Return the LIKE pattern that consists of ``parts``, with a single ``%`` in place of several in a row.

    Spark's matcher would try every distribution of a text among several ``%``.

    >>> like_text(like_parts("a%%b|_%", "|"), "|")
    'a%b|_%'
    """
    wild = {None: "%", "": "_"}
    special = re.compile(f"[%_{re.escape(escape)}]")
    return "".join(special.sub(lambda m: escape + m.group(), part) if part else wild[part] for part in parts)


def like_regex(pattern: str, escape: str) -> str | None:
    """Return the regular expression to use instead of a LIKE pattern; None if Spark can evaluate the LIKE itself in
    linear time.

    Raise ValueError for a pattern that Spark does not match as written.
    """
    parts = like_parts(pattern, escape)
    if like_text(parts, escape) != pattern and _torn(pattern):
        raise ValueError("%% beside a character beyond U+FFFF: write a single %")
    if "" not in parts and parts.count(None) == 2 and parts[0] is None and parts[-1] is None:
        return None  # contains
    if sum(part is None for part in parts[:-1]) <= 1:
        return None
    if _torn(pattern):
        raise ValueError("several % beside a character beyond U+FFFF: use contains(), startswith(), endswith()")
    segments: list[list[str]] = [[]]
    for part in parts:
        if part is None:
            segments.append([])
        else:
            segments[-1].append("." if part == "" else _java_literal(part))
    first, *middle, last = ("".join(segment) for segment in segments)
    found = "".join(f"(?>.*?{segment})" for segment in middle if segment)
    return f"(?s)\\A{first}{found}" + (f".*{last}\\z" if last else "")


def _torn(pattern: str) -> bool:
    """Return whether Spark's regular expression for LIKE splits a character of the pattern into two code units, so that
    Spark never finds the character.
    """
    return any(character > "\uffff" for character in pattern)


def _java_literal(text: str) -> str:
    return "".join(c if c.isalnum() or ord(c) > 127 else f"\\x{ord(c):02x}" for c in text)
