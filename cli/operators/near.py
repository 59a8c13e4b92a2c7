"""``asc near``: pairs of objects within a distance of each other."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from broker.client.bodies import given
from broker.client.client import Client
from cli.arguments import stream_option, with_options
from cli.checking import Check, check_options
from cli.client import Json, server_options
from cli.command import Command, Group, examples
from cli.duration import Duration
from cli.operators.object_options import events_option, key_option, time_option
from cli.output import json_option
from cli.registration_options import register, standing_options

_OPTIONS = "--key icao24 --time ts --distance 9260 --window 30s --every 10s"
_ADD = f"asc near add close {_OPTIONS}"
_CHECK = f"asc near check close {_OPTIONS}"


def _metres(_ctx: click.Context, _param: click.Parameter, value: str) -> float:
    try:
        metres = float(value)
    except ValueError:
        metres = math.nan
    # Refuse infinity and NaN, because JSON cannot express them.
    if not math.isfinite(metres):
        raise click.BadParameter(f"{value!r} is no distance: write a number of metres without a unit, as 5000")
    return metres


def _window_bounds_s() -> tuple[float, float]:
    # Import the kind only when a time is given, because it loads Arrow.
    from broker.operators.near.definition import LONGEST_S, WINDOW_LEAST_S

    return WINDOW_LEAST_S, LONGEST_S


def _every_bounds_s() -> tuple[float, float]:
    from broker.operators.near.definition import EVERY_LEAST_S, LONGEST_S

    return EVERY_LEAST_S, LONGEST_S


def _definition_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--where`` and the options of the query's definition. The command receives ``where`` and ``operator``."""

    @wraps(command)
    def with_operator(
        *,
        where: str | None,
        key: str,
        time: str | None,
        position: str | None,
        distance: float,
        window: float,
        every: float,
        on: str | None,
        events: list[str] | None,
        **others: Any,
    ) -> Any:
        required = {"name": "near", "key": key, "distance_m": distance, "window_s": window, "every_s": every}
        operator = {**required, **given(time=time, position=position, on=on, events=events)}
        return command(where=where or "true", operator=operator, **others)

    options = (
        key_option,
        time_option,
        click.option(
            "--position", metavar="SQL", help="The position of an object; by default ST_Point(longitude, latitude)."
        ),
        click.option(
            "--distance",
            required=True,
            callback=_metres,
            metavar="METRES",
            help="The largest distance of a pair.",
        ),
        click.option(
            "--window",
            required=True,
            type=Duration(_window_bounds_s),
            metavar="TIME",
            help="The time for which the last position of an object is valid, as 30s.",
        ),
        click.option(
            "--every",
            required=True,
            type=Duration(_every_bounds_s),
            metavar="TIME",
            help="The time between ticks, as 10s.",
        ),
        click.option("--on", metavar="SQL", help="A predicate over both objects, a and b, as a.altitude < b.altitude."),
        events_option(
            "near, apart or both, separated by a comma: changes since the tick before. By default every pair."
        ),
        click.option("--where", metavar="SQL", help="A predicate over the records; by default all of them."),
    )
    return with_options(with_operator, options)


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
    """Register and check near queries: pairs of objects within a distance of each other.

    At every tick of event time, a near query compares the last positions of the objects that it accepts. It is a query:
    'asc query' lists, shows, pauses, resumes and removes it.
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
@_definition_options
@stream_option("The stream of the query; needed where the daemon has several.")
@standing_options
@server_options
@json_option
def add(
    *,
    client: Client,
    query_id: str,
    where: str,
    operator: Json,
    stream: str | None,
    fields: Json,
    replaces: bool,
    as_json: bool,
) -> None:
    """Register a near query, or replace the query of that ID.

    At every multiple of --every, its topic gets the pairs of objects that are at most --distance metres apart, by the
    last position of each within --window. With --events it gets the pairs that became near, or parted. The pairs of a
    tick are written once the watermark of the stream has passed it.
    """
    body = {"id": query_id, "where": where, "operator": operator}
    register(client, body, stream=stream, fields=fields, replaces=replaces, as_json=as_json)


@near.command(
    cls=Command,
    epilog=examples(f"{_CHECK} --schema aircraft.ddl", f"{_CHECK} --stream aircraft"),
)
@click.argument("query_id", metavar="ID")
@_definition_options
@check_options
def check(*, check: Check, query_id: str, where: str, operator: Json) -> None:
    """Check the options of 'add' without registering the query ID.

    With --stream the daemon checks them as at a registration; with --schema no daemon is needed, no Kafka and no Java.
    """
    from broker.queries.query import check_id

    check_id(query_id)
    check.show(where, operator)
