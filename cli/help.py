"""``asc help``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from cli.command import Command, examples
from cli.suggestions import suggested_commands


@click.command(
    "help",
    cls=Command,
    epilog=examples(
        "asc help",
        "asc help query add",
    ),
)
@click.argument("names", metavar="[COMMAND...]", nargs=-1, shell_complete=suggested_commands)
@click.pass_context
def help_command(context: click.Context, names: Sequence[str]) -> None:
    """Show the help of a command, as its --help does."""
    root = context.find_root()
    found: click.Command = root.command
    shown = root
    for name in names:
        if not isinstance(found, click.Group):
            raise click.UsageError(f"'{shown.command_path}' has no commands of its own, so not {name!r}")
        _, inner, _ = found.resolve_command(shown, [name])
        if inner is not None:
            found = inner
            shown = click.Context(found, info_name=name, parent=shown, **found.context_settings)
    click.echo(found.get_help(shown))
