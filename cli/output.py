"""The output of commands: tables for people, JSON for programs."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from broker.visible_text import spelled_json, visible

Command = TypeVar("Command", bound=Callable[..., Any])


def json_option(command: Command) -> Command:
    """Add the option ``--json``, which every command that prints a table has."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")(command)


def print_json(value: object) -> None:
    """Print one JSON document, indented."""
    click.echo(spelled_json(json.dumps(value, indent=2, ensure_ascii=False)))


def terminal_width() -> int | None:
    """Return the width of the terminal to which the command prints. Return None if the output is not a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_table(headings: Sequence[str], rows: Sequence[Sequence[object]], *, fitted: bool = False) -> None:
    """Print a table in columns, as `table_text` formats it. With ``fitted``, its lines are cut to the terminal's width
    if the output is a terminal.
    """
    width = terminal_width() if fitted else None
    click.echo(table_text(headings, rows, width))


def table_text(headings: Sequence[str], rows: Sequence[Sequence[object]], width: int | None = None) -> str:
    """Return a table as text. A column is as wide as its widest cell, numbers are aligned to the right, and columns are
    two spaces apart. Lines are cut to ``width``.

    >>> print(table_text(["query", "rows"], [["late", 12], ["cancelled", 7]]))
    query      rows
    late         12
    cancelled     7
    >>> print(table_text(["query", "where"], [["late", "arr_delay > 60 AND distance > 500"]], width=20))
    query  where
    late   arr_delay >…
    """
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max([len(heading), *(len(row[i]) for row in cells)]) for i, heading in enumerate(headings)]
    right = [bool(rows) and all(isinstance(row[i], (int, float)) for row in rows) for i in range(len(headings))]

    def line(values: Sequence[str]) -> str:
        padded = (v.rjust(w) if r else v.ljust(w) for v, w, r in zip(values, widths, right, strict=True))
        text = "  ".join(padded).rstrip()
        return text if width is None else cut(text, width)

    return "\n".join([line(list(headings)), *map(line, cells)])


def cut(line: str, width: int) -> str:
    """Return a line, cut to a width if it is longer.

    >>> cut("arr_delay > 60", 14), cut("arr_delay > 60", 11)
    ('arr_delay > 60', 'arr_delay…')
    """
    return line if len(line) <= width else line[: max(0, width - 1)].rstrip() + "…"


def counted(number: int, noun: str) -> str:
    """Return a number and a noun as text, with the noun in the plural if necessary.

    >>> counted(1, "row"), counted(20000, "row"), counted(2, "query")
    ('1 row', '20,000 rows', '2 queries')
    """
    if number != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun}"


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return "" if value is None else visible(" ".join(str(value).split()))
