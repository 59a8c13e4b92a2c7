"""``asc config``."""

from __future__ import annotations

from pathlib import Path

import click

from cli.arguments import config_option
from cli.command import Command, examples
from cli.output import json_option, print_json
from cli.toml_text import toml_lines


@click.command(
    cls=Command,
    epilog=examples(
        "asc config",
        "asc config --config asc.toml --json",
    ),
)
@config_option("The configuration to check and complete; without it, the defaults.")
@json_option
def config(config_file: Path | None, as_json: bool) -> None:
    """Check a configuration and print the effective one.

    Defaults are filled in, secrets masked.
    """
    from broker.config.config import load_config

    effective = load_config(config_file).effective()
    if as_json:
        print_json(effective)
    else:
        click.echo("\n".join(toml_lines(effective)))
