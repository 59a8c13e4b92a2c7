"""``asc query apply``: make the registered queries equal to those in files, or show the differences (dry run)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from broker.answers.query import Query
from broker.answers.refusal import RefusedLine
from broker.client.client import Client
from broker.client.errors import RefusedError
from broker.files.bounded_file import STDIN, read_whole
from broker.files.queries_file import FORMATS, as_ndjson, form_of
from broker.visible_text import visible
from broker.whole_file import QUERIES_BYTES_MAX
from cli.client import Json, server_options
from cli.command import Command, examples
from cli.output import json_option, print_json
from cli.query.desired_queries import DesiredQueries, Selector, desired_queries, query_files
from cli.query.progress_bars import load_bar, walk_bar

if TYPE_CHECKING:
    from cli.query.difference import Differences

DIFFERS = 3
"""The exit code with ``--exit-code`` if there are differences; 1 means a failure, 2 wrong usage."""

_REMOVED_SHOWN = 20
_NOTHING = "nothing was registered: mend what is refused, or register the rest with --keep-going"
_NOTHING_AT_ALL = "nothing was changed: mend what is refused"


def no_replace_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--no-replace`` to a command. The option sets the command's parameter ``replaces`` to false."""
    return click.option(
        "--no-replace", "replaces", flag_value=False, default=True, help="Refuse an ID that a query has already."
    )(command)


@dataclass(frozen=True, slots=True)
class Load:
    """The lines that are sent to the daemon in one step, and the location in the files from which each line comes."""

    ndjson: bytes
    places: Sequence[str]
    keep_going: bool = False
    replaces: bool = True
    removed: Sequence[str] = ()


def _selector(
    *, prune: bool, prefix: str | None, label: str | None, whole: bool, keep_going: bool, replaces: bool
) -> Selector | None:
    """Return the selector of the queries that the files manage. Return None without --prune."""
    if not prune:
        if prefix is not None or label is not None or whole:
            raise click.UsageError("--prefix, --label and --all say which queries the files manage: give --prune")
        return None
    if whole == (prefix is not None or label is not None):
        raise click.UsageError("--prune needs to know which queries the files manage: --prefix, --label, or --all")
    if keep_going or not replaces:
        raise click.UsageError("--prune makes the registry equal to the files: without --keep-going and --no-replace")
    if prefix == "":
        raise click.UsageError("an empty --prefix is all queries: say --all")
    name, sign, text = (label or "").partition("=")
    if label is not None and (not sign or not name):
        raise click.UsageError(f"--label {label!r} is not of the form KEY=VALUE")
    return Selector(prefix or "", None if label is None else (name, text))


@click.command(
    cls=Command,
    epilog=examples(
        "asc query apply queries.ndjson",
        "asc query apply --keep-going - < queries.ndjson",
        "asc query apply --no-replace queries.toml",
        "asc query apply queries/ --prune --label team=ops --dry-run",
        "asc query apply queries/ --prune --label team=ops",
        "A line of NDJSON:",
        '{"id": "late", "where": "arr_delay > 60", "topic": "late-flights", "labels": {"team": "ops"}}',
        "The same in TOML:",
        "[late]",
        'where = "arr_delay > 60"',
        'topic = "late-flights"',
        'labels = { team = "ops" }',
    ),
)
@click.argument("path", metavar="FILE|DIR", type=click.Path(exists=True, allow_dash=True, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--exit-code", "tells", is_flag=True, help="With --dry-run: end with 3 where something would change.")
@click.option("--prune", is_flag=True, help="Remove queries that are in no file; of these:")
@click.option("--prefix", help="With --prune: those whose ids begin so.")
@click.option("--label", metavar="K=V", help="With --prune: those that bear this label.")
@click.option("--all", "whole", is_flag=True, help="With --prune: all that stand.")
@click.option("--keep-going", is_flag=True, help="Register what is valid and list the rest; else it is all or none.")
@no_replace_option
@click.option("--format", "form", type=click.Choice(FORMATS), help="The file's; by default its name and content tell.")
@server_options
@json_option
def apply(
    *,
    client: Client,
    path: Path,
    dry_run: bool,
    tells: bool,
    prune: bool,
    prefix: str | None,
    label: str | None,
    whole: bool,
    keep_going: bool,
    replaces: bool,
    form: str | None,
    as_json: bool,
) -> None:
    """Register the predicates of a file, or of all files in a folder.

    FILE (- for stdin) has an object for each query, with the keys id and where. The keys stream, topic, labels, paused,
    expires_at, join and operator are optional, as in the API. The file has one object on each line (NDJSON), or a JSON
    list of objects. A file of JSON or TOML may also be a mapping from ids to objects or to predicates. With --json or
    --format, 'asc query list' prints such a file; fields that only the daemon sets are ignored. In DIR and the folders
    in it, the command reads all files that end in .toml, .json, .ndjson or .jsonl.

    All changes, removals included, are made in one step. If one is refused, no change is made, and the command ends
    with 1. A query that is registered as in the file is left unchanged.

    With --prune, the command removes each query that the files manage but that is in no file. The files manage the
    queries that --prefix and --label select, or all queries with --all. A query in a file that is not selected is an
    error.
    """
    selector = _selector(prune=prune, prefix=prefix, label=label, whole=whole, keep_going=keep_going, replaces=replaces)
    if tells and not dry_run:
        raise click.UsageError("--exit-code goes with --dry-run")
    if dry_run and (keep_going or not replaces):
        raise click.UsageError("--dry-run goes without --keep-going and --no-replace")
    if path.is_dir() and form is not None:
        raise click.UsageError("--format goes with a file: of a folder's, each name tells")
    if dry_run:
        _rehearse(client, _wanted(path, form, selector), selector, as_json, tells)
    elif selector is not None:
        _make(client, pruning(client, _wanted(path, form, selector), selector), as_json)
    elif path.is_dir():
        wanted = _wanted(path, form, None)
        _make(client, Load(b"\n".join(wanted.lines), wanted.places, keep_going, replaces), as_json)
    else:
        name, content = _read(path)
        ndjson, places = as_ndjson(content, form or form_of(name, content), name)
        _make(client, Load(ndjson, places, keep_going, replaces), as_json)


def _read(path: Path) -> tuple[str, bytes]:
    return "<stdin>" if str(path) == STDIN else str(path), read_whole(path, QUERIES_BYTES_MAX)


def _wanted(path: Path, form: str | None, selector: Selector | None) -> DesiredQueries:
    return desired_queries(query_files(path) if path.is_dir() else [_read(path)], form=form, selector=selector)


def pruning(client: Client, wanted: DesiredQueries, selector: Selector) -> Load:
    """Return the queries of the files, and the removal of each managed registered query that is in no file."""
    from cli.query.difference import is_unreadable

    label = None if selector.label is None else "=".join(selector.label)
    removed: list[str] = []
    for query in _walked(client, prefix=selector.prefix or None, label=label):
        if query["id"] not in wanted.line_of:
            if is_unreadable(query):
                _warn_of_kept([query["id"]])
            else:
                removed.append(query["id"])
    return _with_removals(wanted, removed)


def _with_removals(wanted: DesiredQueries, removed: Sequence[str]) -> Load:
    lines = [json.dumps({"remove": query_id}).encode() for query_id in removed]
    places = [*wanted.places, *["to be removed"] * len(removed)]
    return Load(b"\n".join([*wanted.lines, *lines]), places, removed=removed)


def _walked(client: Client, prefix: str | None, label: str | None = None) -> Iterator[Query]:
    """Yield the registered queries that match the filters, page by page, with a progress bar if there are many."""
    with walk_bar(client) as bar:
        for query in client.list(prefix=prefix, label=label):
            yield query
            bar.update()


def _make(client: Client, load: Load, as_json: bool) -> None:
    """Send a load and print its outcome. Exit with 1 if something was refused."""
    answer, refused = _sent(client, load)
    if as_json:
        print_json({**answer, "removed_ids": list(load.removed)} if load.removed and not refused else answer)
    else:
        if not refused:
            for query_id in load.removed[:_REMOVED_SHOWN]:
                click.echo(f"removed {visible(query_id)}")
            if len(load.removed) > _REMOVED_SHOWN:
                click.echo(f"and {len(load.removed) - _REMOVED_SHOWN:,} others")
        version = f", version {answer['version']}" if "version" in answer else ""
        click.echo(f"{applied_text({**answer, 'refused': len(refused)})}{version}")
        _warn(answer)
    if refused:
        _print_refused(refused, load.places)
        if not load.keep_going:
            click.echo(_NOTHING_AT_ALL if load.removed else _NOTHING, err=True)
        click.get_current_context().exit(1)


def _sent(client: Client, load: Load, *, dry_run: bool = False) -> tuple[Json, Sequence[RefusedLine]]:
    """Send a load. Return the daemon's answer, and the lines that the daemon refuses."""
    try:
        with load_bar(len(load.places)) as progress:
            answer = client.apply_ndjson(
                load.ndjson,
                keep_going=load.keep_going,
                replaces=load.replaces,
                dry_run=dry_run,
                progress=progress,
            )
        return answer, answer.get("errors") or []
    except RefusedError as error:
        if not error.lines:
            raise
        return {"registered": 0, "errors": error.lines}, error.lines


def _rehearse(client: Client, wanted: DesiredQueries, selector: Selector | None, as_json: bool, tells: bool) -> None:
    """Print the changes that a load would make. Exit with 1 if the daemon would refuse a line. With ``tells``, exit
    with DIFFERS if there are changes.
    """
    from cli.query.difference import difference_lines, differences

    streams = [stream["name"] for stream in client.streams()["streams"]]
    # A query of a file may be registered without the label, and is then a change, not an addition.
    prefix = selector.prefix if selector is not None else wanted.prefix()
    standing = _walked(client, prefix=prefix or None)
    changes = differences(wanted, standing, streams[0] if len(streams) == 1 else None, selector)
    load = _with_removals(wanted, changes.removed())
    answer, refused = _sent(client, load, dry_run=True)
    if as_json:
        print_json(_plain(changes, answer, refused))
    if refused:
        _print_refused(refused, load.places)
        click.echo("nothing would be changed: mend what is refused", err=True)
        click.get_current_context().exit(1)
    if not as_json:
        color = False if os.environ.get("NO_COLOR") else None
        for difference in changes:
            click.echo("\n".join(difference_lines(difference)), color=color)
        click.echo(changes.summary())
        _warn(answer)
    _warn_of_kept(changes.kept)
    if tells and len(changes):
        click.get_current_context().exit(DIFFERS)


def _plain(found: Differences, answer: Json, refused: Sequence[RefusedLine]) -> Json:
    kinds = {kind: [one.plain() for one in found.of(kind)] for kind in ("add", "change", "remove")}
    return {**kinds, "unchanged": found.unchanged, "warnings": answer.get("warnings") or {}, "errors": refused}


def _warn(answer: Json) -> None:
    for query_id, texts in (answer.get("warnings") or {}).items():
        for text in texts:
            click.echo(f"warning: {query_id}: {text}", err=True)


def _warn_of_kept(query_ids: Sequence[str]) -> None:
    for query_id in query_ids:
        remedy = f"its record cannot be read, a newer daemon may: remove it with 'asc query remove {visible(query_id)}'"
        click.echo(f"warning: {visible(query_id)} is in no file and kept: {remedy}", err=True)


def _print_refused(refused: Sequence[RefusedLine], places: Sequence[str]) -> None:
    for line in refused:
        click.echo(refused_line(line, places), err=True)


def applied_text(counts: Json) -> str:
    """Return in words how many queries of a file were registered, replaced, unchanged, removed and refused.

    >>> applied_text({"registered": 12, "replaced": 3, "unchanged": 40, "removed": 2, "refused": 0})
    '12 registered, 3 replaced, 40 unchanged, 2 removed'
    >>> applied_text({"registered": 0, "refused": 0})
    '0 registered'
    >>> applied_text({"registered": 0, "refused": 2})
    '0 registered, 2 refused'
    """
    names = [name for name in ("registered", "replaced", "unchanged", "removed") if counts.get(name)] or ["registered"]
    if counts.get("refused"):
        names.append("refused")
    return ", ".join(f"{counts[name]:,} {name}" for name in names)


def refused_line(refused: RefusedLine, places: Sequence[str]) -> str:
    """Return one line about a refused query, with its location in the file."""
    error = refused.get("error") or {}
    line = refused.get("line")
    place = places[line - 1] if isinstance(line, int) and 0 < line <= len(places) else f"line {line}"
    name = f" ({refused['id']})" if refused.get("id") else ""
    text = error.get("message") if isinstance(error, dict) else error
    return f"error: {place}{name}: {text}"
