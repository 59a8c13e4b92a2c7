"""``asc trace``: why a record reaches queries, or does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from cli.client import Client, Json, server_options
from cli.command import Command, examples
from cli.output import json_option, print_json
from cli.trace_text import print_trace, write_page

_Command = TypeVar("_Command", bound=Callable[..., Any])


def record_options(command: _Command) -> _Command:
    """``--tuple`` and ``--source``, which say what record is meant, and ``--html``, a page of what became of it."""
    page = click.option(
        "--html",
        "page",
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Write it as a page, too.",
    )
    source = click.option(
        "--source", metavar="PLACE", help="A record of the source topic: TOPIC-PARTITION-OFFSET, as asc-source has it."
    )
    tuple_ = click.option(
        "--tuple", "tuple_text", metavar="JSON", help="A record: a JSON object with the stream's fields."
    )
    return tuple_(source(page(command)))


def parse_tuple(text: str) -> Json:
    """The object of ``--tuple``."""
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise click.BadParameter(f"not JSON: {error}", param_hint="'--tuple'") from None
    if not isinstance(values, dict):
        raise click.BadParameter("a JSON object is wanted, like '{\"delay\": 75}'", param_hint="'--tuple'")
    return values


def tell_trace(answer: Json, *, page: Path | None, as_json: bool, way: bool) -> None:
    """Print a trace, as text or JSON, and write its page where one is wanted; OSError where that fails."""
    if page is not None:
        write_page(answer, page)
    if as_json:
        print_json(answer)
        return
    print_trace(answer, way=way)
    if page is not None:
        click.echo(f"the whole way is in {page}")


@click.command(
    cls=Command,
    epilog=examples(
        "asc trace --source flights-0-1742",
        "asc trace --source flights-0-1742 --query late --html why.html",
        'asc trace --stream flights --tuple \'{"arr_delay": 75, "dest": "SFO"}\'',
        "asc trace --stream flights --tuple '{\"arr_delay\": 75}' --blocks 1 --json",
    ),
)
@click.option("--stream", help="The stream; may be left out where --source, --query or the daemon has only one.")
@record_options
@click.option("--query", "query_id", metavar="ID", help="Say of this query why, term by term.")
@click.option(
    "--blocks",
    type=click.IntRange(0, 16),
    default=8,
    show_default=True,
    help="Tell the way through so many blocks of the plan at most.",
)
@server_options
@json_option
def trace(
    *,
    client: Client,
    stream: str | None,
    tuple_text: str | None,
    source: str | None,
    page: Path | None,
    query_id: str | None,
    blocks: int,
    as_json: bool,
) -> None:
    """Show why a record reaches queries, or does not.

    The record is one of a source topic (--source), or made up (--tuple). It is decoded as the stream decodes it, and
    followed through the plan that runs now, which need not be the one that a record was delivered by: who accepts it;
    step by step the region that its value lies in, how many candidates are left, and what fell out and why. With
    --query, first of all, which terms of that predicate hold.

    --html writes a page that needs nothing else, with the way drawn.
    """
    if (tuple_text is None) == (source is None):
        raise click.UsageError("say which record: --source PLACE or --tuple JSON")
    answer = client.trace(
        stream=stream,
        values=None if tuple_text is None else parse_tuple(tuple_text),
        source=source,
        query=query_id,
        blocks=blocks,
    )
    tell_trace(answer, page=page, as_json=as_json, way=page is None)
