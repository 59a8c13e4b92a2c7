"""Column names in the spelling of a stream's schema, because a stream is case-sensitive."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asc.schema import Schema


def spelled(columns: Sequence[str], schema: Schema) -> list[str]:
    """Return the columns. A column that equals a field except for case gets the field's spelling.

    If several columns equal a field, only the exact match, or else the first, gets the spelling.

    >>> from asc.schema import Schema
    >>> spelled(["DELAY", "Delay", "x"], Schema.from_ddl("delay INT")), spelled(["A", "a"], Schema.from_ddl("a INT"))
    (['delay', 'Delay', 'x'], ['A', 'a'])
    """
    fields = {field.name.lower(): field.name for field in schema.arrow}
    taken = {name for name in fields.values() if name in columns}
    names = []
    for column in columns:
        field = fields.get(column.lower())
        if field is not None and field not in taken:
            taken.add(field)
            names.append(field)
        else:
            names.append(column)
    return names


def respelling(schema: Schema) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return a function that renames a row's columns as :func:`spelled` does."""
    # Most rows of a file have the columns of the one before.
    names_of = lru_cache(maxsize=256)(lambda columns: spelled(columns, schema))
    return lambda row: dict(zip(names_of(tuple(row)), row.values(), strict=True))
