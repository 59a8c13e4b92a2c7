"""Typed scalar expressions, each with its text in Spark SQL.

The text is built from the syntax tree, with the arguments of each operator in parentheses, so its meaning does not
depend on operator precedence. Names are written as in the schema, constants as the user wrote them. The text identifies
a p-attribute: predicates that spell the same expression differently share the p-attribute.
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

    ``sql`` is the text of the expression in Spark SQL. ``type`` is None if the type is not known without Spark.
    ``path`` is set only for a column, ``literal`` only for a constant. ``atomic``: the text needs no parentheses as an
    operator's argument. ``growth`` is the factor by which a value of the expression may be longer than the text of the
    record.
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
        """The key space of the expression's values; None if the type has no keys or is not known without Spark."""
        return None if self.type is None else space_of(self.type)

    @property
    def argument(self) -> str:
        """The text of the expression as an operator's argument, in parentheses if they are needed."""
        return self.sql if self.atomic else f"({self.sql})"


@lru_cache(maxsize=4096)
def column_sql(path: tuple[str, ...]) -> str:
    """Return the name of a column in Spark SQL. A part of the name is in backquotes if it is not a plain identifier.

    >>> column_sql(("place", "end", "a-b"))
    'place.`end`.`a-b`'
    """
    return ".".join(
        part if _PLAIN.match(part) and part.upper() not in KEYWORDS else "`" + part.replace("`", "``") + "`"
        for part in path
    )
