"""P-attributes: columns and scalar expressions that conjuncts constrain."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from asc.keys.constraint import Key
from asc.keys.key_space import KeySpace
from asc.keys.spaces import space_of


@dataclass(frozen=True, slots=True)
class PAttribute:
    """A column, or a deterministic scalar expression over columns, that some conjunct constrains (spec: p-attribute).

    ``sql`` is its canonical Spark SQL text and its identity; ``path`` is the column's path, None for an expression that
    Spark computes; ``type`` is the Arrow type of its values (boolean for a predicate that Spark computes whole).
    ``error_condition`` is the condition, as Spark SQL and never NULL, under which its evaluation is an error, and with
    ANSI mode off its value is NULL for it; None where there is none. ``weight`` is what it costs to have Spark compute
    it, in nodes of its expression, and ``steps`` what its patterns may take for each character of a string; 0 for a
    column.
    """

    sql: str
    type: pa.DataType
    path: tuple[str, ...] | None = None
    error_condition: str | None = field(default=None, compare=False)
    weight: int = field(default=0, compare=False)
    steps: int = field(default=0, compare=False)

    @property
    def space(self) -> KeySpace:
        """The keys of its values. Raises TypeError for a type that has none."""
        space = space_of(self.type)
        if space is None:
            raise TypeError(f"{self.sql} has type {self.type}, which no key represents")
        return space

    def key_of(self, value: pa.Scalar) -> Key | None:
        """The key of an Arrow scalar of its type; None for NULL.

        >>> PAttribute("city", pa.string()).key_of(pa.scalar("Oslo"))
        b'Oslo'
        """
        return self.space.key_of(value) if value.is_valid else None

    def __hash__(self) -> int:
        return hash(self.sql)

    def __str__(self) -> str:
        return self.sql
