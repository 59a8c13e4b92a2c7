"""Column names in a tokens file: dotted paths, with backquotes around a part that contains a dot."""

from __future__ import annotations

import re

from asc.spark_types import folded

Path = tuple[str, ...]

_PARTS = re.compile(r"(?:`((?:[^`]|``)+)`|([^`.]+))(\.|\Z)")
_PLAIN = re.compile(r"[^`.]+")


def column_path(text: str) -> Path:
    """Return the path of the column that a text names, folded as Spark compares names. Raise ValueError if the text is
    no column name.

    >>> column_path("Place.City"), column_path("`a.b`.c")
    (('place', 'city'), ('a.b', 'c'))
    """
    parts: list[str] = []
    place = 0
    while place < len(text) or not parts or text[place - 1] == ".":
        match = _PARTS.match(text, place)
        if match is None:
            raise ValueError("write a column, a field of one as place.city, a name with a dot in backquotes")
        quoted, plain, _ = match.groups()
        parts.append(folded(plain if quoted is None else quoted.replace("``", "`")))
        place = match.end()
    return tuple(parts)


def dotted(path: Path) -> str:
    """Return a path as the dotted text of a tokens file.

    >>> dotted(("a.b", "c"))
    '`a.b`.c'
    """
    return ".".join(part if _PLAIN.fullmatch(part) else f"`{part.replace('`', '``')}`" for part in path)
