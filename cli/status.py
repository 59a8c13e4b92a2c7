"""``asc status``."""

from __future__ import annotations

import time
from typing import Any

import click

from cli.client import Client, NoAnswerError, ServerError, server_options
from cli.command import Command, examples
from cli.output import counted, json_option, print_json, print_table

_EVENTS_SHOWN = 3
_SHOWN = 4
_REASONS_SHOWN = 5
_PAUSE_S = 0.5


@click.command(
    cls=Command,
    epilog=examples(
        "asc status",
        "asc status --wait 120",
        "asc status --server http://broker:8750 --json",
    ),
)
@click.option(
    "--wait",
    "wait_s",
    type=click.FloatRange(min=0),
    default=0,
    metavar="SECONDS",
    help="Wait so long for the daemon to be ready, as after its start.",
)
@server_options
@json_option
def status(client: Client, as_json: bool, wait_s: float) -> None:
    """Say whether the daemon is ready, and what it runs.

    Prints a line for each stream, then what became of records that could not be
    decoded, where the time of a batch goes, and the last rearrangements of its
    sequences. Records and dead letters are counted since the daemon began. "cost" is
    the number of constructs evaluated for a record, as the executor visits them. Ends
    with 1 when the daemon is not ready.
    """
    ready = _awaited(client, wait_s)
    found = {"server": client.server, **ready}
    try:
        answer = client.streams()
        plans = client.plan()["streams"]
        found["kafka"] = answer["kafka"]
        found["streams"] = [{**stream, "plan": plans.get(stream["name"], {})} for stream in answer["streams"]]
    except ServerError:
        # One that starts, or stands by, has no streams yet; one whose stream failed has them all.
        if ready.get("ready"):
            raise
    if as_json:
        print_json(found)
    else:
        if ready.get("ready"):
            click.echo(f"ready at {client.server}, Kafka at {found['kafka']['bootstrap_servers']}")
        else:
            click.echo(f"not ready at {client.server}: {ready.get('reason') or 'no reason given'}")
        if "streams" in found:
            _print_streams(found["streams"])
    if not ready.get("ready"):
        click.get_current_context().exit(1)


def _awaited(client: Client, wait_s: float) -> dict[str, Any]:
    """Whether the daemon is ready, once it is or the time is over; NoAnswerError where none answers till then."""
    deadline = time.monotonic() + wait_s
    while True:
        try:
            ready = client.ready()
        except NoAnswerError:
            if time.monotonic() >= deadline:
                raise
        else:
            if ready.get("ready") or time.monotonic() >= deadline:
                return ready
        time.sleep(_PAUSE_S)


def _print_streams(streams: list[dict[str, Any]]) -> None:
    headings = ["stream", "topic", "format", "queries", "not served", "conjuncts", "p-attributes", "version"]
    rows = [
        [
            *(stream["name"], stream["topic"], stream["format"], stream["queries"], stream.get("not_served", 0)),
            stream["plan"].get("conjuncts"),
            len(stream["plan"].get("p_attributes", ())),
            stream["plan"].get("version"),
            *_monitored(stream["plan"].get("monitor") or {}, _dead_letters(stream).get("total", 0)),
        ]
        for stream in streams
    ]
    print_table([*headings, "records since start", "dead letters", "cost", "rearranged"], rows)
    for stream in streams:
        reasons = _dead_letters(stream).get("reasons", ())
        for reason in reasons[:_REASONS_SHOWN]:
            column = "" if reason["column"] is None else f", column {reason['column']!r}"
            click.echo(f"{stream['name']}: {_counted(reason['count'])}: {reason['reason']}{column}")
        if others := reasons[_REASONS_SHOWN:]:
            count = sum(reason["count"] for reason in others)
            click.echo(f"{stream['name']}: {_counted(count)} of {len(others)} other reasons: --json has them")
        if errors := stream["plan"].get("evaluation_errors"):
            told = f"{counted(errors, 'evaluation error')}, each NULL to its query: 'asc query show ID' has the query's"
            click.echo(f"{stream['name']}: {told}")
        if phases := stream["plan"].get("phases"):
            told = ", ".join(f"{phase} {seconds * 1e3:.0f}" for phase, seconds in phases.items())
            click.echo(f"{stream['name']}: ms of a batch by phase: {told}")
        for event in ((stream["plan"].get("monitor") or {}).get("events") or [])[-_EVENTS_SHOWN:]:
            click.echo(_told(event))


def _counted(dead_letters: int) -> str:
    return f"{dead_letters:,} dead letter{'' if dead_letters == 1 else 's'}"


def _dead_letters(stream: dict[str, Any]) -> dict[str, Any]:
    return stream["plan"].get("dead_letters") or {}


def _monitored(monitor: dict[str, Any], dead_letters: int) -> list[Any]:
    """Records, those that were not decoded, mean cost, rearrangements; an off monitor counts but rearranges nothing."""
    tuples = monitor.get("tuples", 0)
    cost = f"{monitor['evaluated'] / tuples:.2f}" if tuples else "-"
    rearranged = sum(monitor.get("rearrangements", {}).values()) if monitor.get("enabled", True) else "off"
    return [tuples, dead_letters, cost, rearranged]


def _told(event: dict[str, Any]) -> str:
    before = event["dropping_ratio_before"]
    dropping = f"{'-' if before is None else f'{before:.3f}'} -> {event['dropping_ratio_now']:.3f}"
    return (
        f"{event['at']}  {event['stream']} block {event['block']}: {event['trigger']}, dropping ratio {dropping}, "
        f"cost {event['cost_before']:.2f} -> {event['cost_after']:.2f}, {_sequence(event['old_sequence'])} -> "
        f"{event['kind']} {_sequence(event['new_sequence'])} ({event['new_micro_arrows']} micro-arrows), "
        f"{event['spent_s']:.2f} s"
    )


def _sequence(attributes: list[str]) -> str:
    return ", ".join(attributes[:_SHOWN]) + (", ..." if len(attributes) > _SHOWN else "")
