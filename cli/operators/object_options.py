"""The options of operator kinds that track objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

key_option = click.option(
    "--key", required=True, metavar="SQL", help="The identity of an object: a column or expression."
)
time_option = click.option(
    "--time", metavar="SQL", help="The time of a record, a TIMESTAMP; by default the record's own."
)


def events_option(help_text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add ``--events``, the types of outputs. The command receives a list of them, or None if the option is omitted."""
    return click.option("--events", metavar="TYPES", callback=_types, help=help_text)


def _types(_context: click.Context, _option: click.Parameter, value: str | None) -> list[str] | None:
    return None if value is None else [each.strip() for each in value.split(",")]
