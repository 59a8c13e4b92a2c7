"""``asc events``: the objects that a query begins to accept, and those that it no longer accepts."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from broker.client.bodies import given
from broker.client.client import Client
from cli.arguments import layer_option, stream_option, where_option, with_options
from cli.checking import Check, check_options
from cli.client import Json, server_options
from cli.command import Command, Group, examples
from cli.duration import Duration
from cli.join_options import join_of
from cli.operators.object_options import events_option, key_option, time_option
from cli.output import json_option
from cli.registration_options import register, standing_options

_OPTIONS = '--where "altitude < 1000" --key icao24 --time ts --events enter,exit --dwell 30s'
_ADD = f"asc events add low {_OPTIONS}"
_CHECK = f"asc events check low {_OPTIONS}"


def _dwell_bounds_s() -> tuple[float, float]:
    # Import the kind only when a time is given, because it loads Arrow.
    from broker.operators.events.definition import LONGEST_S

    return 0, LONGEST_S


def _lost_after_bounds_s() -> tuple[float, float]:
    from broker.operators.events.definition import LONGEST_S, LOST_AFTER_LEAST_S

    return LOST_AFTER_LEAST_S, LONGEST_S


def _definition_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--where`` and the options of the query's definition. The command receives ``where`` and ``operator``."""

    @wraps(command)
    def with_operator(
        *,
        key: str,
        time: str | None,
        events: list[str] | None,
        dwell: float | None,
        lost_after: float | None,
        **others: Any,
    ) -> Any:
        fields = given(key=key, time=time, events=events, dwell_s=dwell, lost_after_s=lost_after)
        return command(operator={"name": "events", **fields}, **others)

    options = (
        where_option,
        key_option,
        time_option,
        events_option("Some of enter, exit and lost, separated by commas; by default all."),
        click.option(
            "--dwell",
            type=Duration(_dwell_bounds_s),
            metavar="TIME",
            help="The time that an object has to be inside, or outside, before an event, as 30s; by default 0s.",
        ),
        click.option(
            "--lost-after",
            type=Duration(_lost_after_bounds_s),
            metavar="TIME",
            help="The time after its last record when an object is lost and forgotten; by default 1h.",
        ),
    )
    return with_options(with_operator, options)


@click.group(
    cls=Group,
    epilog=examples(
        _ADD,
        "asc query list --operator events",
        "asc query show low",
        "asc query pause low",
        "asc query remove low",
    ),
)
def events() -> None:
    """Register and check event queries, which write when an object enters or exits.

    An object enters when the query begins to accept it, and exits when the query ceases to accept it. An event
    query writes the events enter, exit and lost of each object, instead of the records that it accepts. It is a query:
    'asc query' lists, shows, pauses, resumes and removes it.
    """


@events.command(
    cls=Command,
    epilog=examples(
        _ADD,
        'asc events add over --layer zones --where "ST_Contains(zones.geometry, ST_Point(longitude, latitude))" '
        "--key icao24 --time ts --events enter,exit",
    ),
)
@click.argument("query_id", metavar="ID")
@_definition_options
@stream_option("The stream of the query; needed where the daemon has several.")
@layer_option("Make it a join: events of each shape of this layer.")
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
    layer: str | None,
    fields: Json,
    replaces: bool,
    as_json: bool,
) -> None:
    """Register an event query, or replace the query of that ID.

    Its topic gets an event when the query begins to accept an object (enter), and when it no longer accepts it (exit).
    An event is also written when an object inside was not seen for --lost-after (lost). With --layer these are events
    of each shape.
    """
    body = {"id": query_id, "where": where, "operator": operator, **given(join=join_of(layer))}
    register(client, body, stream=stream, fields=fields, replaces=replaces, as_json=as_json)


@events.command(
    cls=Command,
    epilog=examples(f"{_CHECK} --schema aircraft.ddl", f"{_CHECK} --stream aircraft"),
)
@click.argument("query_id", metavar="ID")
@_definition_options
@layer_option("With --stream: the layer of a join.")
@check_options
def check(*, check: Check, query_id: str, where: str, operator: Json, layer: str | None) -> None:
    """Check the options of 'add' without registering the query ID.

    With --stream the daemon checks them as at a registration; with --schema no daemon is needed, no Kafka and no Java.
    """
    if layer and check.schema_file is not None:
        raise click.UsageError("--layer goes with --stream: the daemon has the layers")
    from broker.queries.query import check_id

    check_id(query_id)
    check.show(where, operator, join_of(layer))
