"""Typed scalar expressions and the Spark SQL text that stands for them.

The text is built from the tree, each operator's arguments in parentheses, so it means what the tree means whatever the
precedence; names are the schema's, constants the user's own. It is the identity of a p-attribute: predicates that
spell an expression in different ways share it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa

from asc.keys.key_space import KeySpace
from asc.keys.spaces import space_of
from asc.predicate.syntax.literal import Literal
from asc.predicate.syntax.nodes import KEYWORDS, Node

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(slots=True)
class Expression:
    """A typed scalar expression.

    ``sql`` is its text. ``type`` is None where it is not known offline. ``path`` is set for a column, ``literal`` for a
    constant. ``atomic`` texts need no parentheses as an argument. ``growth`` is how many times longer than the text of
    the record its value may be.
    """

    sql: str
    type: pa.DataType | None
    node: Node
    path: tuple[str, ...] | None = None
    literal: Literal | None = None
    atomic: bool = True
    growth: float = 1.0

    @property
    def space(self) -> KeySpace | None:
        """The keys of its values; None where they have none, or where that is not known offline."""
        return None if self.type is None else space_of(self.type)

    @property
    def argument(self) -> str:
        """The text as an operator's argument."""
        return self.sql if self.atomic else f"({self.sql})"


@lru_cache(maxsize=4096)
def column_sql(path: tuple[str, ...]) -> str:
    """Return a column as Spark SQL: parts in backquotes where they are not plain names.

    >>> column_sql(("place", "end", "a-b"))
    'place.`end`.`a-b`'
    """
    return ".".join(
        part if _PLAIN.match(part) and part.upper() not in KEYWORDS else "`" + part.replace("`", "``") + "`"
        for part in path
    )
