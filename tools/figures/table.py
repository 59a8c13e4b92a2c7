"""Tables of Markdown. Each column reads one figure from a JSON row of a result, and formats the figure with its
unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Any
"""One row of a result, in the form of the JSON file."""
Read = Callable[[Row], Any]

ABSENT = "-"
"""The text of a cell if the row does not have the figure of the column."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. ``read``: the path of the figure in a row (``us/mean``), or a function that computes it.

    ``form``: the format of the figure, with its unit.
    """

    title: str
    read: str | Read
    form: str = "{}"

    def cell(self, row: Row) -> str:
        """Return the figure of a row as text.

        >>> Column("median", "spread/median_s", "{:.1f} s").cell({"spread": {"median_s": 0.25}})
        '0.2 s'
        """
        value = self.read(row) if callable(self.read) else at(row, self.read)
        return ABSENT if value is None else self.form.format(value)


def at(row: Row, path: str) -> Any:
    """Return the value at a path of keys, or None where a key is missing.

    >>> at({"asc": {"us": 1.5}}, "asc/us"), at({"asc": {}}, "asc/us")
    (1.5, None)
    """
    for key in path.split("/"):
        row = row.get(key) if isinstance(row, Mapping) else None
    return row


def times(path: str, factor: float) -> Read:
    """Return a function that reads the figure at a path of a row, and returns it in another unit: multiplied by
    ``factor``.

    >>> times("worst_s", 1e3)({"worst_s": 0.25})
    250.0
    """

    def read(row: Row) -> float | None:
        value = at(row, path)
        return None if value is None else value * factor

    return read


def milliseconds(path: str) -> Read:
    """Return a function that reads the seconds at a path of a row, and returns them in milliseconds."""
    return times(path, 1e3)


def ratio(path: str, base: str) -> Read:
    """Return a function that reads two figures of a row, at the paths ``path`` and ``base``, and returns their ratio.

    >>> ratio("scan", "own")({"scan": 6.0, "own": 2.0})
    3.0
    """

    def read(row: Row) -> float | None:
        value, other = at(row, path), at(row, base)
        return None if value is None or other is None else value / other

    return read


def table(columns: Sequence[Column], rows: Iterable[Row]) -> str:
    """Return a table with a line for each row. A column without a figure in any row is excluded."""
    cells = [[column.cell(row) for column in columns] for row in rows]
    kept = [index for index in range(len(columns)) if any(own[index] != ABSENT for own in cells)]
    return markdown([columns[index].title for index in kept], [[own[index] for index in kept] for own in cells])


def listed(columns: Sequence[Column], row: Row, title: str = "measured") -> str:
    """Return a table with a line for each column: the title and the figure of a single ``row``. A column without a
    figure in the row is excluded.
    """
    cells = [(column.title, column.cell(row)) for column in columns]
    return markdown(["", title], [own for own in cells if own[1] != ABSENT])


def markdown(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table with the column titles ``titles``, and a line of cells for each of ``rows``.

    >>> print(markdown(["queries", ""], [["10", "met"]]))
    | queries | |
    |---|---|
    | 10 | met |
    """
    lines = [_line(titles), "|" + "---|" * len(titles)]
    return "\n".join([*lines, *(_line(cells) for cells in rows)])


def _line(cells: Sequence[str]) -> str:
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def by_contender(rows: Iterable[Row], keys: Sequence[str]) -> list[Row]:
    """Join the rows of all contenders of one case to one row: the keys, and each contender's row under its name.

    >>> by_contender([{"queries": 10, "contender": "asc", "us": 1.5}], ["queries"])
    [{'queries': 10, 'asc': {'queries': 10, 'contender': 'asc', 'us': 1.5}}]
    """
    cases: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        case = tuple(row[key] for key in keys)
        cases.setdefault(case, dict(zip(keys, case, strict=True)))[row["contender"]] = row
    return list(cases.values())
