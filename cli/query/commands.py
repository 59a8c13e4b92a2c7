"""``asc query``: the commands that manage standing queries through the daemon's API."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click

from broker.client.client import Client
from broker.client.errors import RefusedError
from cli.arguments import query_ids_argument, stream_option
from cli.client import Json, server_options
from cli.command import Group, examples
from cli.operators.commands import OPERATOR_COMMANDS
from cli.output import json_option, print_json
from cli.query.apply import apply
from cli.query.predicate_options import where_or_plan_options
from cli.query.remove import remove
from cli.query.trial import trial
from cli.query.views import check, explain, list_queries, show
from cli.registration_options import from_where, register, standing_options


@click.group(
    cls=Group,
    epilog=examples(
        'asc query check --where "arr_delay > 60" --stream flights',
        'asc query test --where "arr_delay > 60"',
        'asc query add late --where "arr_delay > 60" --topic late-flights --label team=ops',
        "asc query list --label team=ops",
        "asc query remove late",
    ),
)
def query() -> None:
    """Register, look at, change and remove standing predicates.

    Each has an ID. Accepted records arrive in the topic asc.ID, or in the one that --topic names.
    """


for command in (apply, list_queries, show, explain, check, trial, remove):
    query.add_command(command)


_OPERATOR_ADDS = [f"'asc {command.name} add'" for command in OPERATOR_COMMANDS]

_ADD_HELP = f"""Register a predicate, or replace the one of that ID.

Replacing is one step: each record meets either the old predicate or the new one. Returns once the query is in the
running plan, with the offsets from which it sees every record. An equal query stays as it is.

With --layer the query is a join: one predicate for each shape of the layer. An accepted record then has a header
asc-shape: ID/SHAPE for each shape that accepts it. 'asc join add' does the same.

{", ".join(_OPERATOR_ADDS[:-1])} and {_OPERATOR_ADDS[-1]} register queries with an operator.

A plan of BBoxDB Streams becomes a predicate, or a join with the layer that its join-table names. Its stream-table
names the stream, where --stream does not (both without the group: of dgroup_ships, ships).
"""


@query.command(
    help=_ADD_HELP,
    epilog=examples(
        'asc query add late --where "arr_delay > 60"',
        'asc query add hauls --where "distance >= 2500" --stream flights --topic long-hauls --label team=ops',
        'asc query add storm --where "wind_ms > 24" --no-replace --expires-at 2030-01-31T12:00:00Z',
        'asc query add over --layer countries --where "ST_Contains(countries.geometry, ST_Point(lon, lat))"',
        'asc query add reefs --bboxdb-plan plan.json --stream ships --position "ST_Point(lon, lat)"',
    ),
)
@click.argument("query_id", metavar="ID")
@where_or_plan_options
@stream_option("The stream of the query; needed where the daemon has several.")
@standing_options
@server_options
@json_option
def add(
    *,
    client: Client,
    query_id: str,
    asked: Json,
    stream: str | None,
    fields: Json,
    replaces: bool,
    as_json: bool,
) -> None:
    """Register a predicate, or replace the one of that ID."""
    body = {"id": query_id, **asked}
    register(client, body, stream=stream, fields=fields, replaces=replaces, as_json=as_json)


@query.command(
    epilog=examples(
        "asc query pause late",
        "asc query pause late hauls",
    )
)
@query_ids_argument()
@server_options
@json_option
def pause(client: Client, query_ids: Sequence[str], as_json: bool) -> None:
    """Keep predicates registered without running them.

    Records that pass meanwhile are not delivered later.
    """
    _for_each(query_ids, client.pause, "paused", "is paused", as_json)


@query.command(
    epilog=examples(
        "asc query resume late",
        "asc query resume late hauls",
    )
)
@query_ids_argument()
@server_options
@json_option
def resume(client: Client, query_ids: Sequence[str], as_json: bool) -> None:
    """Run paused predicates again."""
    _for_each(query_ids, client.resume, "resumed", "runs", as_json)


def _for_each(query_ids: Sequence[str], action: Callable[[str], Json], done: str, was_so: str, as_json: bool) -> None:
    """Call ``action`` for each query, and print the outcome. If the daemon refuses a query, print the refusal and
    continue with the next query. Exit with 1 at the end if a query was refused.
    """
    answers: dict[str, Json] = {}
    failed = False
    for query_id in query_ids:
        try:
            answers[query_id] = action(query_id)
        except RefusedError as error:
            click.echo(f"error: {error}", err=True)
            failed = True
        else:
            answer = answers[query_id]
            if not as_json and answer.get("change") == "unchanged":
                click.echo(f"{query_id} {was_so} already, version {answer.get('version')}")
            elif not as_json:
                click.echo(f"{done} {query_id}, {from_where(answer)}")
    if as_json:
        print_json(answers)
    if failed:
        click.get_current_context().exit(1)
