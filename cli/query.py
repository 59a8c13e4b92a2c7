"""``asc query``: the registry through the daemon's API, and ``check`` offline."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from cli.arguments import EXISTING_FILE, query_ids_argument
from cli.client import Client, Json, ServerError, server_options
from cli.command import Group, examples
from cli.output import json_option, print_json, print_table

WHERE_HELP = "The predicate: a Spark SQL boolean expression over the stream's attributes."


@click.group(
    cls=Group,
    epilog=examples(
        'asc query check --where "arr_delay > 60" --schema flights.ddl',
        'asc query add late --where "arr_delay > 60" --topic late-flights --label team=ops',
        "asc query list --label team=ops",
        "asc query remove late",
    ),
)
def query() -> None:
    """Register, look at, change and remove standing predicates.

    Each has an ID. What it accepts arrives in the topic asc.ID, or in the one that --topic names.
    """


def parse_labels(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """``KEY=VALUE`` options as a mapping."""
    labels: dict[str, str] = {}
    for value in values:
        name, sign, text = value.partition("=")
        if not sign or not name:
            raise click.BadParameter(f"{value!r} is not of the form KEY=VALUE")
        labels[name] = text
    return labels


@query.command(
    epilog=examples(
        'asc query add late --where "arr_delay > 60"',
        'asc query add hauls --where "distance >= 2500" --stream flights --topic long-hauls --label team=ops',
    )
)
@click.argument("query_id", metavar="ID")
@click.option("--where", required=True, help=WHERE_HELP)
@click.option("--stream", help="The stream it stands on; may be left out where there is one.")
@click.option("--topic", help="The topic for what it accepts; asc.ID by default.")
@click.option("--label", "labels", multiple=True, metavar="K=V", callback=parse_labels, help="A label; repeatable.")
@click.option("--paused", is_flag=True, help="Register it without running it yet.")
@click.option("--expires-at", metavar="TIME", help="When to remove it, an ISO 8601 time.")
@server_options
@json_option
def add(
    *,
    client: Client,
    query_id: str,
    where: str,
    stream: str | None,
    topic: str | None,
    labels: dict[str, str],
    paused: bool,
    expires_at: str | None,
    as_json: bool,
) -> None:
    """Register a predicate, or replace the one of that ID.

    Replacing is one step: no record meets neither or both. Returns once it is in the running plan, with the
    offsets from which it sees every record.
    """
    optional = {"stream": stream, "topic": topic, "labels": labels, "expires_at": expires_at}
    body = {"id": query_id, "where": where, **{name: value for name, value in optional.items() if value}}
    answer = client.add({**body, "paused": True} if paused else body)
    _print_registered(answer, as_json)


@query.command(
    epilog=examples(
        "asc query apply queries.ndjson",
        "asc query apply --keep-going - < queries.ndjson",
        "A line of the file:",
        '{"id": "late", "where": "arr_delay > 60", "topic": "late-flights", "labels": {"team": "ops"}}',
    )
)
@click.argument("file", type=click.File("rb"))
@click.option("--keep-going", is_flag=True, help="Register what is valid and list the rest; else it is all or none.")
@server_options
@json_option
def apply(client: Client, file: Any, keep_going: bool, as_json: bool) -> None:
    """Register the predicates of a file.

    FILE (- for stdin) holds a JSON object a line with the keys id and where and, if wanted, stream, topic, labels,
    paused, expires_at. Ends with 1 when a line was refused.
    """
    try:
        answer = client.apply(file.read(), keep_going=keep_going)
        refused = answer.get("errors") or []
    except ServerError as error:
        if not error.lines:
            raise
        answer, refused = {"registered": 0, "errors": error.lines}, error.lines
    if as_json:
        print_json(answer)
    else:
        version = f", version {answer['version']}" if "version" in answer else ""
        click.echo(f"{answer['registered']:,} registered, {len(refused):,} refused{version}")
        for query_id, texts in (answer.get("warnings") or {}).items():
            for text in texts:
                click.echo(f"warning: {query_id}: {text}", err=True)
    for line in refused:
        click.echo(refused_line(line), err=True)
    if refused:
        click.get_current_context().exit(1)


def refused_line(refused: Json) -> str:
    """One line for one refused line of a bulk file."""
    error = refused.get("error") or {}
    name = f" ({refused['id']})" if refused.get("id") else ""
    text = error.get("message") if isinstance(error, dict) else error
    return f"error: line {refused.get('line')}{name}: {text}"


@query.command(
    "list",
    epilog=examples(
        "asc query list",
        "asc query list --prefix late --label team=ops --json",
    ),
)
@click.option("--prefix", help="Only ids that begin so.")
@click.option("--label", metavar="K=V", help="Only queries that bear this label.")
@click.option("--stream", help="Only queries of this stream.")
@server_options
@json_option
def list_queries(client: Client, prefix: str | None, label: str | None, stream: str | None, as_json: bool) -> None:
    """List the registered predicates.

    On a terminal long ones are cut to its width; 'asc query show' and --json have them whole.
    """
    found = client.queries(prefix=prefix, label=label, stream=stream)
    if as_json:
        print_json(found)
    else:
        print_table(
            ["id", "stream", "topic", "state", "labels", "where"],
            [
                [q["id"], q["stream"], q["topic"], _state(q), _labels_text(q.get("labels") or {}), q["where"]]
                for q in found
            ],
            fitted=True,
        )
        for listed in found:
            if not listed.get("served", True):
                click.echo(f"warning: {listed['id']} is not served: {listed.get('reason')}", err=True)


@query.command(
    epilog=examples(
        "asc query show late",
        "asc query show late --json",
    )
)
@click.argument("query_id", metavar="ID")
@server_options
@json_option
def show(client: Client, query_id: str, as_json: bool) -> None:
    """Show one registered predicate."""
    found = client.query(query_id)
    if as_json:
        print_json(found)
    else:
        shown = {**found, "labels": _labels_text(found.get("labels") or {})}
        print_table(["key", "value"], [[name, value] for name, value in shown.items()])


@query.command(
    epilog=examples(
        "asc query remove late",
        "asc query remove late hauls",
    )
)
@query_ids_argument
@server_options
@json_option
def remove(client: Client, query_ids: Sequence[str], as_json: bool) -> None:
    """Remove predicates.

    Prints the offsets from which on no record meets them; records before these may still arrive a moment
    later, from the batch that is running.
    """
    _for_each(query_ids, client.remove, "removed", as_json)


@query.command(
    epilog=examples(
        "asc query pause late",
        "asc query pause late hauls",
    )
)
@query_ids_argument
@server_options
@json_option
def pause(client: Client, query_ids: Sequence[str], as_json: bool) -> None:
    """Keep predicates registered without running them.

    Records that pass meanwhile are not delivered later.
    """
    _for_each(query_ids, lambda query_id: client.change(query_id, {"paused": True}), "paused", as_json)


@query.command(
    epilog=examples(
        "asc query resume late",
        "asc query resume late hauls",
    )
)
@query_ids_argument
@server_options
@json_option
def resume(client: Client, query_ids: Sequence[str], as_json: bool) -> None:
    """Run paused predicates again."""
    _for_each(query_ids, lambda query_id: client.change(query_id, {"paused": False}), "resumed", as_json)


@query.command(
    epilog=examples(
        "asc query explain late",
        "asc query explain late --tuple '{\"arr_delay\": 75}'",
    )
)
@click.argument("query_id", metavar="ID")
@click.option("--tuple", "tuple_text", metavar="JSON", help="A record: a JSON object with the stream's fields.")
@server_options
@json_option
def explain(client: Client, query_id: str, tuple_text: str | None, as_json: bool) -> None:
    """Show how a registered predicate is evaluated.

    That is: its constructs and their sequence, and with --tuple a record's way through them.
    """
    answer = client.explain(query_id, None if tuple_text is None else parse_tuple(tuple_text))
    for warning in answer["warnings"]:
        click.echo(f"warning: {warning}", err=True)
    if as_json:
        print_json(answer)
    else:
        click.echo(answer["text"])


def parse_tuple(text: str) -> Json:
    """The object of ``--tuple``."""
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise click.BadParameter(f"not JSON: {error}", param_hint="'--tuple'") from None
    if not isinstance(values, dict):
        raise click.BadParameter("a JSON object is wanted, like '{\"delay\": 75}'", param_hint="'--tuple'")
    return values


@query.command(
    epilog=examples(
        'asc query check --where "arr_delay > 60 OR dep_time IS NULL" --schema flights.ddl',
        'asc query check --where "distance / air_time > 8" --schema flights.json --json',
    )
)
@click.option("--where", required=True, help=WHERE_HELP)
@click.option(
    "--schema",
    "schema_file",
    required=True,
    type=EXISTING_FILE,
    help="The stream's schema: Spark DDL, or the JSON of a Spark StructType.",
)
@click.option("--time-zone", default="UTC", show_default=True, help="Time zone that TIMESTAMP literals are read in.")
@json_option
def check(where: str, schema_file: Path, time_zone: str, as_json: bool) -> None:
    """Show what a predicate becomes, without a daemon.

    That is: its normal form, p-attributes, constraints, warnings. Needs no Kafka and no Java either.
    What only Spark can compute is named; that part Spark checks at registration.
    """
    from asc.predicate import normalise
    from asc.predicate.describe import describe, plain_form
    from broker.formats.record_attributes import attributes_of
    from cli.schema_file import read_schema

    # The record's own attributes are there in every stream.
    predicate = normalise(where, attributes_of(read_schema(schema_file)), time_zone=time_zone)
    if as_json:
        print_json(plain_form(predicate))
    else:
        click.echo(describe(predicate))


def _for_each(query_ids: Sequence[str], action: Callable[[str], Json], done: str, as_json: bool) -> None:
    """Do it to each; go on after one that is refused, name it, and end with 1."""
    answers: Json = {}
    failed = False
    for query_id in query_ids:
        try:
            answers[query_id] = action(query_id)
        except ServerError as error:
            click.echo(f"error: {error}", err=True)
            failed = True
        else:
            if not as_json:
                click.echo(f"{done} {query_id}, {_from_where(answers[query_id])}")
    if as_json:
        print_json(answers)
    if failed:
        click.get_current_context().exit(1)


def _print_registered(answer: Json, as_json: bool) -> None:
    if as_json:
        print_json(answer)
        return
    registered = answer["query"]
    click.echo(f"registered {registered['id']} -> {registered['topic']}, {_from_where(answer)}")
    for warning in answer.get("warnings") or []:
        click.echo(f"warning: {warning}", err=True)


def _from_where(answer: Json) -> str:
    """Version and effective offsets of a change in words."""
    offsets = answer.get("effective_offsets") or {}
    places = ", ".join(f"{partition}: {offset}" for partition, offset in offsets.items())
    return f"version {answer.get('version')}" + (f", from partition: offset {places}" if places else "")


def _state(registered: Json) -> str:
    if not registered.get("served", True):
        return "not served"
    return "paused" if registered["paused"] else "running"


def _labels_text(labels: Json) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(labels.items()))
