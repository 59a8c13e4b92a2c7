"""``asc join``: register and check joins, whose predicate is evaluated for each shape of a layer."""

from __future__ import annotations

import click

from broker.client.client import Client
from broker.visible_text import visible
from cli.arguments import stream_option
from cli.client import Json, server_options
from cli.command import Command, Group, examples
from cli.join_options import join_of, per_shape_option
from cli.output import json_option, print_json
from cli.registration_options import register, standing_options

_ADD = (
    "asc join add over --stream aircraft --layer countries "
    '--where "ST_Contains(countries.geometry, ST_Point(longitude, latitude))"'
)

_layer_option = click.option("--layer", required=True, metavar="NAME", help="The layer of the join.")
_where_option = click.option(
    "--where",
    required=True,
    help="The predicate, over the stream's attributes and LAYER.geometry, LAYER.property of a shape.",
)


@click.group(
    cls=Group,
    epilog=examples(_ADD, "asc query list --layer countries", "asc query show over", "asc query remove over"),
)
def join() -> None:
    """Register and check predicates over a stream and the shapes of a layer.

    A join is one predicate for each shape, with the values of the shape's row as constants. A later change of the
    shapes takes effect at once. A join is a query: 'asc query' lists, shows, pauses, resumes and removes it.
    """


@join.command(
    cls=Command,
    epilog=examples(
        _ADD,
        'asc join add low --layer zones --where "ST_Contains(zones.geometry, ST_Point(x, y)) AND height < zones.floor"',
        'asc join add in-tier --layer tiers --where "price BETWEEN tiers.low AND tiers.high" --per-shape',
    ),
)
@click.argument("query_id", metavar="ID")
@_layer_option
@_where_option
@stream_option("The stream of the query; needed where the daemon has several.")
@per_shape_option
@standing_options
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

    An accepted record arrives once in the topic, with a header asc-shape: ID/SHAPE for each shape that accepts it. With
    --per-shape it arrives once for each shape. 'asc events add --layer' registers a join that writes events of objects
    in place of records. Returns once every shape of the layer is in the running plan. 'asc query add --layer' does the
    same.
    """
    body = {"id": query_id, "where": where, "join": join_of(layer, per_shape=per_shape)}
    register(client, body, stream=stream, fields=fields, replaces=replaces, as_json=as_json)


@join.command(
    cls=Command,
    epilog=examples('asc join check --layer tiers --where "price BETWEEN tiers.low AND tiers.high" --stream trades'),
)
@_layer_option
@_where_option
@stream_option("The stream of the query; needed where the daemon has several.")
@server_options
@json_option
def check(*, client: Client, layer: str, where: str, stream: str | None, as_json: bool) -> None:
    """Show the normal form of a join's predicate for the first shape of its layer, or why it would be refused."""
    found = client.check(where, stream=stream, join=join_of(layer))
    if as_json:
        print_json(found)
    else:
        click.echo(visible(found["text"], kept="\n"))
