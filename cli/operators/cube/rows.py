"""The table of the rows in a cube's answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cli.output import print_table

TIME = "pane"
"""The field of a row that has the start of the row's interval."""


def print_rows(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows in columns: the start of the row's interval, if it has one, then the dimensions, then the measures."""
    names = list(dict.fromkeys(name for row in rows for name in row["group"]))
    own = [name for name in rows[0] if name != "group"] if rows else []
    times, measures = [name for name in own if name == TIME], [name for name in own if name != TIME]
    table = [
        [
            *(_shown(row, name) for name in times),
            *(_shown(row["group"], name) for name in names),
            *(_shown(row, name) for name in measures),
        ]
        for row in rows
    ]
    print_table([*times, *names, *measures], table)


def _shown(values: Mapping[str, Any], name: str) -> object:
    """Return a value as text for a table. NULL and the empty text are spelled out; a missing value is blank."""
    if name not in values:
        return ""
    value = values[name]
    return "NULL" if value is None else '""' if value == "" else value
