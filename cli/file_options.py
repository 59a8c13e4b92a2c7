"""Options that name a file, especially the configuration file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def config_option(help_text: str) -> Callable[[Command], Command]:
    """Add ``--config``, the path of a configuration file. The command receives it as ``config_file``."""
    return click.option("--config", "config_file", type=EXISTING_FILE, help=help_text)
