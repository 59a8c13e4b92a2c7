"""Options and arguments that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from cli.file_options import EXISTING_FILE, config_option
from cli.suggestions import suggested_query_ids, suggested_streams

Command = TypeVar("Command", bound=Callable[..., Any])


def with_options(
    command: Callable[..., Any], options: Sequence[Callable[[Callable[..., Any]], Callable[..., Any]]]
) -> Callable[..., Any]:
    """Add options to a command, and return the command. The help of the command shows the options in the order of
    ``options``.
    """
    for option in reversed(options):
        command = option(command)
    return command


def where_option(command: Command, *, required: bool = True) -> Command:
    """Add ``--where``, the text of a predicate."""
    help_text = "The predicate: a Spark SQL boolean expression over the stream's attributes."
    return click.option("--where", required=required, help=help_text)(command)


def query_id_argument(command: Command) -> Command:
    """Add an argument for the id of a registered query, which the command receives as ``query_id``."""
    return click.argument("query_id", metavar="ID", shell_complete=suggested_query_ids)(command)


def query_ids_argument(*, required: bool = True) -> Callable[[Command], Command]:
    """Add an argument for one or more ids of queries, which the command receives as ``query_ids``."""
    metavar = "ID..." if required else "[ID...]"
    return click.argument("query_ids", metavar=metavar, nargs=-1, required=required, shell_complete=suggested_query_ids)


def stream_option(help_text: str) -> Callable[[Command], Command]:
    """Add ``--stream``, the name of one of the daemon's streams."""
    return click.option("--stream", help=help_text, shell_complete=suggested_streams)


def layer_option(help_text: str) -> Callable[[Command], Command]:
    """Add ``--layer``, the name of one of the daemon's layers."""
    return click.option("--layer", metavar="NAME", help=help_text)


def decoding_options_option(command: Command) -> Command:
    """Add ``--option NAME=VALUE``, a decoding option, which may be repeated. The command receives ``options``, the
    values of decoding options by name.
    """
    return click.option(
        "--option",
        "options",
        metavar="NAME=VALUE",
        multiple=True,
        callback=_pairs,
        help="A decoding option of the records, as [streams.NAME.options] has it; any number of them.",
    )(command)


def row_schema_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--schema``, ``--config``, ``--stream`` and ``--option``, which define the schema and the decoding of files'
    rows.

    The command receives ``schema_file``, ``config_file``, ``stream`` and ``options``.
    """
    schema_option = click.option(
        "--schema",
        "schema_file",
        type=EXISTING_FILE,
        help="The rows' schema: Spark DDL, or the JSON of a Spark StructType.",
    )
    own_config_option = config_option(
        "The daemon's configuration: schema, decoding options and time zone are those of its --stream."
    )
    own_stream_option = click.option("--stream", help="The stream of --config; needed where there are several.")
    return with_options(command, (schema_option, own_config_option, own_stream_option, decoding_options_option))


def _pairs(_context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    wrong = [name for name, equals, _ in pairs if not (name and equals)]
    if wrong:
        raise click.BadParameter(f"'{wrong[0]}' is not NAME=VALUE, as timestampFormat=yyyy-MM-dd")
    return {name: value for name, _, value in pairs}
