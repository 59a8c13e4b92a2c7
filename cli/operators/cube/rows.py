"""The table of the rows in a cube's answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from broker.answers.bounded import is_bounded, nested_text, sides_of
from cli.output import cut, print_table

TIME, WINDOW = "pane", "window"
"""The names of two fields of a row: the begin of the row's interval, and the begin and end of the row's day or
month.
"""

_CELL_CHARS = 60
"""The most characters of a name or a text in the table. Without this limit, a column would be too wide, because the
text of a dimension may have 4 KiB.
"""


def print_rows(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows in columns: the begin of the row's interval, if it has one, the end of a day or month, then the
    dimensions and the measures. Each measure with bounds has further columns for them. Long names and texts are cut;
    The option ``--json`` prints them whole. Print nothing if there are no rows.
    """
    if not rows:
        return
    names = list(dict.fromkeys(name for row in rows for name in row["group"]))
    own = [name for name in rows[0] if name not in ("group", WINDOW)]
    times, measures = [name for name in own if name == TIME], [name for name in own if name != TIME]
    ends = ["to"] if WINDOW in rows[0] else []
    sides = {name: _sides(rows, name) for name in measures}
    table = [
        [
            *(_shown(row, name) for name in times),
            *(row[WINDOW][1] for _ in ends),
            *(_shown(row["group"], name) for name in names),
            *(cell for name in measures for cell in _cells(row, name, sides[name])),
        ]
        for row in rows
    ]
    headings = [heading for name in measures for heading in (name, *sides[name])]
    print_table([cut(name, _CELL_CHARS) for name in (*times, *ends, *names, *headings)], table)


def _sides(rows: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    """Return the headings of the columns for the bounds of a measure. Return an empty list if the measure has no
    bounds.
    """
    values = (row[name] for row in rows)
    return list(next((sides_of(value) for value in values if is_bounded(value)), {}))


def _cells(row: Mapping[str, Any], name: str, sides: Sequence[str]) -> list[object]:
    """Return the value of a measure, and the values of its bounds. The bounds are blank if the measure is NULL."""
    value = row[name]
    if not is_bounded(value):
        return [_shown(row, name), *("" for _ in sides)]
    return [_shown(value, "estimate"), *(_shown(sides_of(value), side) for side in sides)]


def _shown(values: Mapping[str, Any], name: str) -> object:
    """Return a value for a table. NULL and the empty text are spelled out, a missing value is blank, and a long text is
    cut.
    """
    if name not in values:
        return ""
    value = values[name]
    if isinstance(value, str) and value:
        return cut(value, _CELL_CHARS)
    if isinstance(value, Mapping | list):
        return cut(nested_text(value), _CELL_CHARS)
    return "NULL" if value is None else '""' if value == "" else value
