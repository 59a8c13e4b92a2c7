"""Shell completion with ids and names from the daemon. It waits for at most a second, and prints no error if no daemon
answers.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from broker.visible_text import visible

if TYPE_CHECKING:
    from broker.client.client import Client

_PATIENCE_S = 1.0
"""The longest wait in seconds for the daemon. It is short, because the user who presses TAB cannot type meanwhile."""

_SUGGESTED = 100
_WHERE_CHARS = 60


Suggested = list[CompletionItem[str]]


def suggested_query_ids(context: click.Context, parameter: click.Parameter, incomplete: str) -> Suggested:
    """Return the first hundred ids of registered queries that begin with ``incomplete``, without ids that are on the
    command line already.
    """
    given = context.params.get(parameter.name or "") or ()

    def read(client: Client) -> Suggested:
        return [
            CompletionItem(query["id"], help=visible(" ".join(query["where"].split()))[:_WHERE_CHARS])
            for query in islice(client.list(prefix=incomplete, page_size=_SUGGESTED), _SUGGESTED)
            if isinstance(given, str) or query["id"] not in given
        ]

    return _asked(context, read)


def suggested_streams(context: click.Context, _parameter: click.Parameter, incomplete: str) -> Suggested:
    """Return the names of the daemon's streams that begin with ``incomplete``."""

    def read(client: Client) -> Suggested:
        streams = [stream for stream in client.streams()["streams"] if stream["name"].startswith(incomplete)]
        return [CompletionItem(stream["name"], help=f"topic {stream['topic']}") for stream in streams]

    return _asked(context, read)


def suggested_commands(context: click.Context, parameter: click.Parameter, incomplete: str) -> Suggested:
    """Return the subcommands that may follow the commands on the command line, and that begin with ``incomplete``."""
    found: click.Command | None = context.find_root().command
    for name in context.params.get(parameter.name or "") or ():
        found = found.get_command(context, name) if isinstance(found, click.Group) else None
    if not isinstance(found, click.Group):
        return []
    commands = sorted(found.commands.items())
    return [
        CompletionItem(name, help=one.get_short_help_str()) for name, one in commands if name.startswith(incomplete)
    ]


def _asked(context: click.Context, read: Callable[[Client], Suggested]) -> Suggested:
    """Return the result of ``read`` for the daemon that the command line names. Return an empty list if the daemon does
    not answer.
    """
    given: dict[str, Any] = context.params
    try:
        from cli.client import DEFAULT_SERVER, connected

        server = given.get("server") or DEFAULT_SERVER
        with connected(server, given.get("token_file"), given.get("ca_file"), _PATIENCE_S) as client:
            return read(client)
    except Exception:
        # Report no error, because a message would appear in the line that the user is typing.
        return []
