"""Extraction of the comments of a Python file that are prose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_STRINGS = "|".join(
    rf"{quote}{quote}{quote}[^{quote}\\]*(?:(?:\\.|{quote}(?!{quote}{quote}))[^{quote}\\]*)*{quote}{quote}{quote}"
    rf"|{quote}(?:[^{quote}\\\n]|\\.)*{quote}"
    for quote in ("'", '"')
)
_STRING_OR_COMMENT = re.compile(rf"{_STRINGS}|#[^\n]*", re.DOTALL)
"""A string or a comment. Both are matched, because a string may contain the sign of a comment. The module `tokenize`
takes fifty times as long.
"""
_NO_PROSE = re.compile(r"#(?:!| *-\*-| *noqa\b| *(?:type|pragma|fmt|ruff|mypy):| *\||.*\S {3,}\S)")
"""The first line of a script, a comment for a tool, or a row of a table."""


@dataclass(slots=True)
class Comment:
    """A comment without its ``#`` signs. ``line`` and ``column``: the position of its first ``#``. ``lines``: the texts
    of its successive lines, which begin in the same column.
    """

    line: int
    column: int
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text of the comment."""
        return "\n".join(self.lines)


def comments(source: str) -> Iterator[Comment]:
    r"""Yield the comments of a file without errors of syntax. Lines that are no prose are empty.

    >>> [(comment.line, comment.text) for comment in comments("# Two\n# lines.\nx = '#'  # One.\n")]
    [(1, 'Two\nlines.'), (3, 'One.')]
    """
    if "#" not in source:
        return
    held: Comment | None = None
    line, place = 1, 0
    for match in _STRING_OR_COMMENT.finditer(source):
        if source[match.start()] != "#":
            continue
        line, place = line + source.count("\n", place, match.start()), match.start()
        column = place - source.rfind("\n", 0, place) - 1
        is_alone = not source[place - column : place].strip()
        if held and not (is_alone and line == held.line + len(held.lines) and column == held.column):
            yield held
            held = None
        held = held or Comment(line, column)
        held.lines.append("" if _NO_PROSE.match(match[0]) else match[0][1:].removeprefix(" "))
    if held:
        yield held
