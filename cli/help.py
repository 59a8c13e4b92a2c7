"""``asc help``: show the help of a command."""

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
    command: click.Command = root.command
    shown = root
    for name in names:
        if not isinstance(command, click.Group):
            raise click.UsageError(f"'{shown.command_path}' has no commands of its own, so not {name!r}")
        _, inner, _ = command.resolve_command(shown, [name])
        if inner is not None:
            command = inner
            shown = click.Context(command, info_name=name, parent=shown, **command.context_settings)
    click.echo(command.get_help(shown))
