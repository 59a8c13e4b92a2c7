"""``asc query list``, ``show``, ``explain`` and ``check``: show registered queries, or a predicate before
registration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from broker.answers.query import ExcludedShape
from broker.client.client import Client
from broker.files.queries_file import FORMATS, queries_text
from broker.visible_text import visible
from cli.arguments import query_id_argument, stream_option, where_option
from cli.checking import Check, check_options
from cli.client import server_options
from cli.command import Command, examples
from cli.operator_state import kept_rows
from cli.output import json_option, print_json, print_table, terminal_width
from cli.query.list_text import labels_text, list_text
from cli.query.page import write_query_page
from cli.trace import parse_tuple, record_options, show_trace

_EXCLUDED_SHOWN = 20
"""The most excluded shapes of a join that are printed."""


@click.command(
    "list",
    cls=Command,
    epilog=examples(
        "asc query list",
        "asc query list --prefix late --label team=ops --json",
        "asc query list --operator near",
        "asc query list --layer countries",
        "asc query list --format toml > queries.toml",
    ),
)
@click.option("--prefix", help="Only ids that begin so.")
@click.option("--label", metavar="K=V", help="Only queries that bear this label.")
@stream_option("Only queries of this stream.")
@click.option("--operator", metavar="NAME", help="Only queries with this operator, as near; route for none.")
@click.option("--layer", metavar="NAME", help="Only joins over this layer.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Print a file of what can be set, as for 'apply'.")
@server_options
@json_option
def list_queries(
    *,
    client: Client,
    prefix: str | None,
    label: str | None,
    stream: str | None,
    operator: str | None,
    layer: str | None,
    form: str | None,
    as_json: bool,
) -> None:
    """List the registered predicates.

    On a terminal long ones are cut to its width; 'asc query show' and --json have them whole, with all that the daemon
    knows of them. Evaluation errors have a column where there are any and it fits. 'asc query apply' reads what
    --json and --format print.
    """
    if form is not None and as_json:
        raise click.UsageError("--json and --format exclude each other")
    queries = list(client.list(prefix=prefix, label=label, stream=stream, operator=operator, layer=layer))
    if form is not None:
        text = queries_text(queries, form)
        click.echo(text, nl=bool(text))
    elif as_json:
        print_json(queries)
    elif not queries:
        is_filtered = any((prefix, label, stream, operator, layer))
        remedy = "leave an option out" if is_filtered else "'asc query add' registers one"
        click.echo(f"no query {'fits the options' if is_filtered else 'is registered'}: {remedy}", err=True)
    else:
        click.echo(list_text(queries, terminal_width(), operators=operator is not None, joins=layer is not None))
        for listed in queries:
            if not listed.get("served", True):
                click.echo(visible(f"warning: {listed['id']} is not served: {listed.get('reason')}"), err=True)


@click.command(
    cls=Command,
    epilog=examples(
        "asc query show late",
        "asc query show late --json",
    ),
)
@query_id_argument
@server_options
@json_option
def show(client: Client, query_id: str, as_json: bool) -> None:
    """Show one registered predicate."""
    answer = client.show(query_id)
    if as_json:
        print_json(answer)
    else:
        shown = {**answer, "labels": labels_text(answer.get("labels") or {})}
        shown["pending_shapes"] = ", ".join(answer.get("pending_shapes") or [])
        join = answer.get("join")
        if join is None:
            shown = {name: value for name, value in shown.items() if name not in ("join", "shapes", "excluded_shapes")}
        else:
            shown["join"] = f"over {join['layer']}" + (", a record a shape" if join["per_shape"] else "")
        rows: list[list[object]] = []
        for name, value in shown.items():
            if name == "kept":
                rows += kept_rows(answer["kept"])
            else:
                rows += operator_rows(answer["operator"]) if name == "operator" else [[name, value]]
        print_table(["key", "value"], rows)
        if answer["excluded_shapes"]:
            _warn_of_excluded(client.excluded_shapes(query_id), answer["excluded_shapes"])


def operator_rows(operator: Mapping[str, object] | None) -> list[list[object]]:
    """Return the rows of a query's operator: its name and summary, then each of its fields.

    >>> operator_rows({"name": "events", "events": ["enter", "exit"], "key": "k", "summary": "enter,exit of k"})
    [['operator', 'events: enter,exit of k'], ['operator.events', 'enter, exit'], ['operator.key', 'k']]
    >>> operator_rows(None)
    [['operator', '']]
    """
    if operator is None:
        return [["operator", ""]]
    fields = {name: value for name, value in operator.items() if name not in ("name", "summary")}
    return [
        ["operator", f"{operator['name']}: {operator.get('summary')}"],
        *([f"operator.{name}", _field_text(value)] for name, value in fields.items()),
    ]


def _field_text(value: object) -> object:
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def _warn_of_excluded(found: Sequence[ExcludedShape], total: int) -> None:
    for one in found[:_EXCLUDED_SHOWN]:
        click.echo(f"excluded: {visible(one['id'])} {visible(one['reason'])}", err=True)
    if total > _EXCLUDED_SHOWN:
        click.echo(f"excluded: ... and {total - _EXCLUDED_SHOWN:,} more", err=True)


@click.command(
    cls=Command,
    epilog=examples(
        "asc query explain late",
        "asc query explain late --html late.html",
        "asc query explain late --tuple '{\"arr_delay\": 75}'",
        "asc query explain late --tuple '{\"arr_delay\": 75}' --all",
        "asc query explain late --source flights-0-1742 --html why.html",
    ),
)
@query_id_argument
@record_options
@click.option("--all", "whole", is_flag=True, help="Also the record's way through the sequence.")
@server_options
@json_option
def explain(
    *,
    client: Client,
    query_id: str,
    tuple_text: str | None,
    source: str | None,
    page: Path | None,
    whole: bool,
    as_json: bool,
) -> None:
    """Show how a registered predicate is evaluated, or why it accepts a record.

    Without a record, the command shows the constructs and their sequence; --html draws the whole block of the
    predicate. Give a record with --tuple, or name a record of the source topic with --source. The command then shows
    whether the predicate accepts the record, and which terms of the predicate hold. With --all it adds the record's
    path through the constructs of all predicates, which --html draws. Use 'asc trace' to ask all queries of a stream.
    """
    if tuple_text is not None and source is not None:
        raise click.UsageError("give --tuple or --source, not both")
    is_of_record = tuple_text is not None or source is not None
    if whole and not is_of_record:
        raise click.UsageError("--all needs --tuple or --source")
    values = None if tuple_text is None else parse_tuple(tuple_text)
    if source is not None or (page is not None and is_of_record):
        traced = client.trace(values=values, source=source, query=query_id)
        show_trace(traced, page=page, as_json=as_json, with_path=whole)
        return
    answer = (
        client.explain(query_id, values, with_sequence=whole)
        if page is None
        else write_query_page(client, query_id, page)
    )
    for warning in answer["warnings"]:
        click.echo(f"warning: {visible(warning)}", err=True)
    if as_json:
        print_json(answer)
    else:
        # Escape control characters, because the sequence contains constants of other users' queries.
        click.echo(visible(answer["text"], kept="\n"))
        if page is not None:
            click.echo(f"the constructs are drawn in {page}")


@click.command(
    cls=Command,
    epilog=examples(
        'asc query check --where "arr_delay > 60 OR dep_time IS NULL" --schema flights.ddl',
        'asc query check --where "distance / air_time > 8" --schema flights.json --json',
        'asc query check --where "arr_delay > 60" --stream flights',
    ),
)
@where_option
@check_options
def check(*, check: Check, where: str) -> None:
    """Show the normal form of a predicate, its p-attributes and warnings, or why it would be refused.

    With --stream the daemon is asked: it has the stream's schema, limits and time zone, and Spark checks the
    expressions that only Spark can compute. With --schema no daemon is needed, no Kafka and no Java; the output names
    the expressions that only Spark can compute.
    """
    check.show(where)
