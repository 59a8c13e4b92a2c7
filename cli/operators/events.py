"""The options of ``asc query add`` for events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from cli.duration import Duration

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])


def events_options(command: _Decorated) -> _Decorated:
    """Add ``--events``, ``--key``, ``--time``, ``--dwell`` and ``--lost-after`` to a command."""
    options = (
        click.option(
            "--events",
            metavar="KINDS",
            help="Send events in place of records: some of enter, exit, lost, with commas between.",
        ),
        click.option(
            "--key", metavar="SQL", help="With --events: what tells objects apart, as a column or expression."
        ),
        click.option(
            "--time", metavar="SQL", help="With --events: their time, a TIMESTAMP; by default the record's own."
        ),
        click.option(
            "--dwell",
            type=Duration(),
            metavar="TIME",
            help="With --events: only once an object was inside, or outside, for so long, as 30s.",
        ),
        click.option(
            "--lost-after",
            type=Duration(),
            metavar="TIME",
            help="With --events: how long after its last record an object is lost and forgotten; by default 1h.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def events_operator(
    events: str | None, key: str | None, time: str | None, dwell: float | None, lost_after: float | None
) -> dict[str, Any] | None:
    """Return the operator that the options ask for, as the API has it; None where they ask for none.

    >>> events_operator("enter,exit", "icao24", None, 30, None)
    {'name': 'events', 'events': ['enter', 'exit'], 'key': 'icao24', 'dwell_s': 30}
    """
    others = {"key": key, "time": time, "dwell_s": dwell, "lost_after_s": lost_after}
    given = {name: value for name, value in others.items() if value is not None}
    if events is None:
        if given:
            raise click.UsageError("--key, --time, --dwell and --lost-after go with --events")
        return None
    if key is None:
        raise click.UsageError("--events goes with --key, which tells objects apart")
    return {"name": "events", "events": [kind.strip() for kind in events.split(",")], **given}
