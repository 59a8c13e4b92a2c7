"""``asc near``: pairs of objects within a distance of each other."""

from __future__ import annotations

import math

import click

from broker.client.client import Client
from cli.arguments import stream_option
from cli.client import Json, server_options
from cli.command import Command, Group, examples
from cli.duration import Duration
from cli.output import json_option
from cli.registered import print_registered, standing_options

_ADD = "asc near add close --key icao24 --time ts --distance 9260 --window 30s --every 10s"


def _metres(_ctx: click.Context, _param: click.Parameter, value: float) -> float:
    # JSON has no other.
    if not math.isfinite(value):
        raise click.BadParameter("give a number of metres")
    return value


@click.group(
    cls=Group,
    epilog=examples(
        _ADD,
        "asc query list --operator near",
        "asc query show close",
        "asc query pause close",
        "asc query remove close",
    ),
)
def near() -> None:
    """Pairs of objects within a distance of each other.

    A near query compares, at every tick of event time, the last positions of the objects that it accepts. It is a
    query: 'asc query' lists, shows, pauses, resumes and removes it.
    """


@near.command(
    cls=Command,
    epilog=examples(
        _ADD,
        f'{_ADD} --on "abs(a.altitude - b.altitude) < 300" --events near,apart',
        'asc near add ships --key mmsi --position "ST_Point(lon, lat)" --where "speed > 1" --distance 500 '
        "--window 5min --every 1min",
    ),
)
@click.argument("query_id", metavar="ID")
@stream_option("The stream it stands on; may be left out where there is one.")
@click.option("--key", required=True, metavar="SQL", help="What tells objects apart, as a column or expression.")
@click.option("--time", metavar="SQL", help="Their time, a TIMESTAMP; by default the record's own.")
@click.option("--position", metavar="SQL", help="Where they are; by default ST_Point(longitude, latitude).")
@click.option(
    "--distance",
    required=True,
    type=float,
    callback=_metres,
    metavar="METRES",
    help="How far apart they are at most.",
)
@click.option(
    "--window", required=True, type=Duration(), metavar="TIME", help="How long an object is where it was seen, as 30s."
)
@click.option("--every", required=True, type=Duration(), metavar="TIME", help="From tick to tick, as 10s.")
@click.option("--on", metavar="SQL", help="A predicate over both, a and b, as a.altitude < b.altitude.")
@click.option(
    "--events", metavar="KINDS", help="near, apart or both with a comma: what changed since the tick before it."
)
@click.option("--where", metavar="SQL", help="Which records it looks at; by default all.")
@standing_options
@server_options
@json_option
def add(
    *,
    client: Client,
    query_id: str,
    stream: str | None,
    key: str,
    time: str | None,
    position: str | None,
    distance: float,
    window: float,
    every: float,
    on: str | None,
    events: str | None,
    where: str | None,
    fields: Json,
    replaces: bool,
    as_json: bool,
) -> None:
    """Register a near query, or replace the query of that ID.

    Its topic is told, at every multiple of --every, which two objects are at most --distance metres apart by the last
    position of each within --window; with --events which have come so near, and which have gone. A tick is told once
    the records are past it, by the stream's lateness.
    """
    operator: dict[str, object] = {"name": "near", "key": key}
    operator.update({"distance_m": distance, "window_s": window, "every_s": every})
    given = {"time": time, "position": position, "on": on}
    operator.update({name: value for name, value in given.items() if value is not None})
    if events is not None:
        operator["events"] = [kind.strip() for kind in events.split(",")]
    body = {"id": query_id, "where": where or "true", "operator": operator, **fields}
    body.update({"stream": stream} if stream else {})
    print_registered(client.register(body, replaces=replaces), as_json)
