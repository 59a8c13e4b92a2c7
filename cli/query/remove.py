"""``asc query remove``: remove queries through the daemon's API, all in one step."""

from __future__ import annotations

from collections.abc import Sequence

import click

from broker.answers.refusal import RefusedLine
from broker.client.client import Client
from broker.client.errors import RefusedError
from broker.visible_text import visible
from cli.arguments import query_ids_argument
from cli.client import Json, server_options
from cli.command import Command, examples
from cli.failure import CommandError
from cli.output import counted, json_option, print_json
from cli.query.progress_bars import load_bar
from cli.registration_options import from_offsets, from_where

SHOWN_COUNT = 20
"""The most ids that are printed."""


@click.command(
    cls=Command,
    epilog=examples(
        "asc query remove late",
        "asc query remove late hauls",
        "asc query remove --label team=ops --dry-run",
        "asc query remove --label team=ops",
    ),
)
@query_ids_argument(required=False)
@click.option("--label", metavar="K=V", help="In place of IDs: all queries that bear this label.")
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
@server_options
@json_option
def remove(*, client: Client, query_ids: Sequence[str], label: str | None, dry_run: bool, as_json: bool) -> None:
    """Remove predicates.

    All are removed in one step. Prints the offsets from which on no record meets them; records before these may still
    arrive a moment later, from the batch that is running. An ID that no query has is named, the others are removed, and
    the exit code is 1.
    """
    if bool(query_ids) == (label is not None):
        raise click.UsageError("name the queries by their IDs, or by --label")
    if label is not None:
        name, sign, _ = label.partition("=")
        if not sign or not name:
            raise click.UsageError(f"--label {label!r} is not of the form KEY=VALUE")
        query_ids = [query["id"] for query in client.list(label=label)]
        if not query_ids:
            raise CommandError("no query with label", label, "'asc query list' shows those that there are")
    wanted = list(dict.fromkeys(query_ids))
    answer, refused = _sent(client, wanted, dry_run=dry_run)
    is_refused = {line["line"] for line in refused}
    removed = [query_id for number, query_id in enumerate(wanted, 1) if number not in is_refused]
    if as_json:
        print_json({**answer, "removed": len(removed), "removed_ids": removed, "errors": refused})
    elif removed:
        _print_removed(removed, answer, "would be removed" if dry_run else "removed")
    for line in refused:
        click.echo(f"error: {visible(line['error']['message'])}", err=True)
    if refused:
        click.get_current_context().exit(1)


def _sent(client: Client, query_ids: Sequence[str], *, dry_run: bool) -> tuple[Json, Sequence[RefusedLine]]:
    """Send the removal. Return its version and its effective offsets, and the lines that the daemon refuses. In a dry
    run, there is neither version nor offset.
    """
    try:
        with load_bar(len(query_ids)) as progress:
            answer = client.apply(
                [{"remove": query_id} for query_id in query_ids], keep_going=True, dry_run=dry_run, progress=progress
            )
    except RefusedError as error:
        if not error.lines:
            raise
        return {}, error.lines
    place = {} if dry_run else {name: answer[name] for name in ("version", "effective_offsets")}
    return place, answer.get("errors") or []


def _print_removed(removed: Sequence[str], answer: Json, done: str) -> None:
    offsets = answer.get("effective_offsets") or {}
    if len(removed) == 1 and len(offsets) == 1:
        (stream_offsets,) = offsets.values()
        place = from_where({"version": answer["version"], "effective_offsets": stream_offsets})
        click.echo(f"{done} {visible(removed[0])}, {place}")
        return
    for query_id in removed[:SHOWN_COUNT]:
        click.echo(f"{done}: {visible(query_id)}")
    if len(removed) > SHOWN_COUNT:
        click.echo(f"and {len(removed) - SHOWN_COUNT:,} others")
    version = f", version {answer['version']}" if "version" in answer else ""
    click.echo(f"{counted(len(removed), 'query')} {done}{version}")
    for stream, stream_offsets in offsets.items():
        click.echo(f"{stream}: {from_offsets(stream_offsets)}")
