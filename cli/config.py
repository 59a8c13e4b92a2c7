"""``asc config``: check a configuration, and print the effective one."""

from __future__ import annotations

from pathlib import Path

import click

from broker.files.toml_lines import toml_lines
from cli.command import Command, examples
from cli.file_options import config_option
from cli.output import json_option, print_json


@click.command(
    cls=Command,
    epilog=examples(
        "asc config",
        "asc config --config asc.toml --json",
        "ASC__API__PORT=8751 asc config --config asc.toml",
    ),
)
@config_option("The configuration to check and complete; without it, the defaults.")
@json_option
def config(config_file: Path | None, as_json: bool) -> None:
    """Check a configuration and print the effective one.

    Defaults are filled in, secrets masked. Behind each value that is not a default
    is its origin: the file, or a variable as ASC__API__PORT, which overrides the
    file. With --json the origins are in "origins".
    """
    from broker.config.config import load_config, origins

    effective, found = load_config(config_file).effective(), origins(config_file)
    if as_json:
        print_json({**effective, "origins": {".".join(path): origin for path, origin in found.items()}})
    else:
        click.echo("\n".join(toml_lines(effective, notes=found)))
