"""Options and arguments that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def config_option(help_text: str) -> Callable[[Command], Command]:
    """``--config``, the command's ``config_file``."""
    return click.option("--config", "config_file", type=EXISTING_FILE, help=help_text)


def where_option(command: Command) -> Command:
    """``--where``, the text of a predicate."""
    help_text = "The predicate: a Spark SQL boolean expression over the stream's attributes."
    return click.option("--where", required=True, help=help_text)(command)


def query_ids_argument(command: Command) -> Command:
    """One id or more, the command's ``query_ids``."""
    return click.argument("query_ids", metavar="ID...", nargs=-1, required=True)(command)
