"""The blocks of a page that contain tables of figures. A block begins with a marker that names its table, and ends with
an end marker.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tools.figures.errors import FiguresError

_BLOCK = re.compile(r"^<!-- figures: (?P<name>[^\n]+?) -->\n(?P<body>.*?)^<!-- end -->$", re.MULTILINE | re.DOTALL)
_MARKER = re.compile(r"^<!-- (figures: [^\n]+?|end) -->$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Filled:
    """A page whose blocks contain the current tables. ``names``: the names of all tables on the page. ``stale``: the
    names of the tables that had other content before.
    """

    text: str
    names: tuple[str, ...]
    stale: tuple[str, ...]


def filled(page: str, text: str, table_of: Callable[[str], str]) -> Filled:
    r"""Fill the blocks of a page. ``page``: the name of the page. ``table_of``: returns the table with a name.

    >>> filled("x.md", "<!-- figures: a -->\n<!-- end -->", lambda name: "| 1 |").text
    '<!-- figures: a -->\n\n| 1 |\n\n<!-- end -->'
    """
    names: list[str] = []
    stale: list[str] = []
    if len(_MARKER.findall(text)) != 2 * len(_BLOCK.findall(text)):
        raise FiguresError("page", page, "write `<!-- end -->` after each `<!-- figures: NAME -->`, and nowhere else")

    def replaced(block: re.Match[str]) -> str:
        names.append(block["name"])
        body = f"\n{table_of(block['name'])}\n\n"
        if body != block["body"]:
            stale.append(block["name"])
        return f"<!-- figures: {block['name']} -->\n{body}<!-- end -->"

    return Filled(_BLOCK.sub(replaced, text), tuple(names), tuple(stale))
