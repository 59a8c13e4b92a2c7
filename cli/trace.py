"""``asc trace``: why a record reaches queries, or does not."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from broker.client.client import Client
from cli.arguments import stream_option
from cli.client import Json, server_options
from cli.command import Command, examples
from cli.output import json_option, print_json
from cli.suggestions import suggested_query_ids
from cli.trace_text import print_trace, write_page

_Command = TypeVar("_Command", bound=Callable[..., Any])

_DEEPEST = 100
"""The most levels of nested objects and lists in a tuple. Python's JSON functions fail at several hundred levels."""


def record_options(command: _Command) -> _Command:
    """Add ``--tuple`` and ``--source``, which select the record, and ``--html``, the file for a page of its trace."""
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
    """Return the JSON object in the text of ``--tuple``. Raise BadParameter if the text is not a JSON object, or if
    Python can read it but could not send it as JSON.
    """
    try:
        values = json.loads(text, parse_constant=_finite, parse_float=_finite)
        is_too_deep = _is_deeper(values, _DEEPEST)
        json.dumps(values, ensure_ascii=False).encode()
    except RecursionError:
        is_too_deep = True
    except UnicodeEncodeError as error:
        raise _refused(f"not UTF-8: U+{ord(error.object[error.start]):04X} is no character by itself") from None
    except ValueError as error:
        raise _refused(f"not JSON: {error}") from None
    if is_too_deep:
        raise _refused(f"nested in more than {_DEEPEST} levels, which no schema is")
    if not isinstance(values, dict):
        raise _refused("a JSON object is wanted, like '{\"delay\": 75}'")
    return values


def _refused(why: str) -> click.BadParameter:
    return click.BadParameter(why, param_hint="'--tuple'")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no number that it can hold")
    return number


def _is_deeper(value: object, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return inner is not None and (not levels or any(_is_deeper(one, levels - 1) for one in inner))


def show_trace(answer: Json, *, page: Path | None, as_json: bool, with_path: bool) -> None:
    """Print a trace as text or JSON, and write its page if requested. Raise OSError if the page cannot be written."""
    if page is not None:
        write_page(answer, page)
    if as_json:
        print_json(answer)
        return
    print_trace(answer, with_path=with_path)
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
@stream_option("The stream; needed where --source and --query do not name it and the daemon has several.")
@record_options
@click.option(
    "--query",
    "query_id",
    metavar="ID",
    help="Say of this query why, term by term.",
    shell_complete=suggested_query_ids,
)
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
    followed through the plan that runs now, which need not be the one that a record was delivered by. It shows the
    queries that accept it, and those that remain after the last construct. Each step has the region of the value, the
    number of candidates left, and the eliminated queries with the reason. With --query the terms of that predicate
    that hold come first.

    --html writes a page that needs nothing else, with the path drawn.
    """
    if (tuple_text is None) == (source is None):
        raise click.UsageError("say which record: --source PLACE or --tuple JSON")
    answer = client.trace(
        stream=stream,
        values=None if tuple_text is None else parse_tuple(tuple_text),
        source=source,
        query=query_id,
        max_blocks=blocks,
    )
    show_trace(answer, page=page, as_json=as_json, with_path=page is None)
