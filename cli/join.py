"""``asc join``: standing predicates over a stream and a layer, one for each of its shapes."""

from __future__ import annotations

from itertools import islice

import click

from broker.visible_text import visible
from cli.arguments import query_id_argument, stream_option
from cli.client import Client, Json, server_options
from cli.command import Command, Group, examples
from cli.operators.events import operator_text
from cli.output import json_option, print_json, print_table
from cli.query_list import labels_text
from cli.registered import print_registered, registration_options

_TOLD = 20
_ADD = (
    "asc join add over --stream aircraft --layer countries "
    '--where "ST_Contains(countries.geometry, ST_Point(longitude, latitude))"'
)

_layer_option = click.option("--layer", required=True, metavar="NAME", help="The layer whose shapes it is asked for.")
_where_option = click.option(
    "--where",
    required=True,
    help="The predicate, over the stream's attributes and LAYER.geometry, LAYER.property of a shape.",
)


@click.group(
    cls=Group,
    epilog=examples(_ADD, "asc join list", "asc join show over", "asc query pause over", "asc query remove over"),
)
def join() -> None:
    """Predicates over a stream and the shapes of a layer.

    A join stands for one predicate a shape, with the values of its row as constants; shapes that are put, changed and
    removed later are in it from then on. It is a query: 'asc query' lists, pauses, resumes and removes it too.
    """


@join.command(
    cls=Command,
    epilog=examples(
        _ADD,
        'asc join add low --layer zones --where "ST_Contains(zones.geometry, ST_Point(x, y)) AND height < zones.floor"',
        'asc join add in-tier --layer tiers --where "price BETWEEN tiers.low AND tiers.high" --per-shape',
        f"{_ADD} --events enter,exit --key icao24 --time ts",
    ),
)
@click.argument("query_id", metavar="ID")
@_layer_option
@_where_option
@stream_option("The stream it stands on; may be left out where there is one.")
@click.option("--per-shape", is_flag=True, help="Write what is accepted once a record and shape.")
@registration_options
@server_options
@json_option
def add(
    *,
    client: Client,
    query_id: str,
    layer: str,
    where: str,
    stream: str | None,
    per_shape: bool,
    fields: Json,
    replaces: bool,
    as_json: bool,
) -> None:
    """Register a join, or replace the query of that ID.

    What it accepts arrives once a topic, with a header asc-shape: ID/SHAPE for each shape that accepts it; with
    --per-shape a record a shape. With --events its topic gets no records: it is told which objects come into a shape,
    and leave it. Returns once every shape of the layer is in the running plan.
    """
    body = {"id": query_id, "layer": layer, "where": where, "per_shape": per_shape, **fields}
    body.update({"stream": stream} if stream else {})
    print_registered(client.add_join(body, replaces=replaces), as_json)


@join.command(
    cls=Command,
    epilog=examples('asc join check --layer tiers --where "price BETWEEN tiers.low AND tiers.high" --stream trades'),
)
@_layer_option
@_where_option
@stream_option("The stream it would stand on; may be left out where there is one.")
@server_options
@json_option
def check(*, client: Client, layer: str, where: str, stream: str | None, as_json: bool) -> None:
    """Show what the predicate of a join becomes for the first shape of its layer, and whether it would be taken."""
    found = client.check(where, stream, layer)
    if as_json:
        print_json(found)
    else:
        click.echo(visible(found["text"], kept="\n"))


@join.command("list", cls=Command, epilog=examples("asc join list", "asc join list --json"))
@server_options
@json_option
def list_joins(*, client: Client, as_json: bool) -> None:
    """List the joins, each with how many shapes it stands for."""
    found = client.joins()
    if as_json:
        print_json(found)
        return
    rows = [
        [one["id"], one["stream"], one["join"]["layer"], _shapes(one), one["topic"], one["delivered"], one["where"]]
        for one in found
    ]
    print_table(["id", "stream", "layer", "shapes", "topic", "delivered", "where"], rows, fitted=True)
    for one in found:
        if not one["served"]:
            click.echo(visible(f"warning: {one['id']} is not served: {one['reason']}"), err=True)


@join.command(cls=Command, epilog=examples("asc join show over", "asc join show over --json"))
@query_id_argument
@server_options
@json_option
def show(*, client: Client, query_id: str, as_json: bool) -> None:
    """Show one join, and the shapes that it excludes."""
    found, refusals = client.query(query_id), client.excluded_shapes(query_id)
    if as_json:
        print_json({**found, "refusals": refusals})
        return
    own = found.pop("join")
    shown = {**found, "layer": own["layer"], "per_shape": own["per_shape"], "labels": labels_text(found["labels"])}
    shown["operator"] = operator_text(found["operator"])
    shown["pending_shapes"] = ", ".join(found["pending_shapes"])
    print_table(["key", "value"], [[name, value] for name, value in shown.items()])
    for one in islice(refusals, _TOLD):
        click.echo(f"excluded: {visible(one['id'])} {visible(one['reason'])}", err=True)
    if (found["excluded_shapes"] or 0) > _TOLD:
        click.echo(f"excluded: ... and {found['excluded_shapes'] - _TOLD:,} more", err=True)


def _shapes(listed: Json) -> str:
    if listed["paused"]:
        return "paused"
    if listed["shapes"] is None:
        return "not served"
    return f"{listed['shapes']:,}" + (f", {listed['excluded_shapes']:,} excluded" if listed["excluded_shapes"] else "")
