"""Names of columns as a stream's schema spells them, for a stream goes by case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asc.schema import Schema


def spelled(columns: Sequence[str], schema: Schema) -> list[str]:
    """Return the columns, those that are a field but for case spelled as the schema does; of several, the best or first
    is.

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
    """Give a row's columns the names of :func:`spelled`."""
    # Most rows of a file have the columns of the one before.
    names_of = lru_cache(maxsize=256)(lambda columns: spelled(columns, schema))
    return lambda row: dict(zip(names_of(tuple(row)), row.values(), strict=True))
