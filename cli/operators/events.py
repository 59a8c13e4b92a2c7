"""The options of ``asc query add`` for events, and a query's operator in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    _Type = click.ParamType[float]
else:
    # Earlier versions of Click have no such types at run time.
    _Type = click.ParamType

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])

_SECONDS = {"ms": 0.001, "s": 1, "min": 60, "h": 3_600, "d": 86_400}


class Duration(_Type):
    """A time as ``30s``, ``5min``, ``1.5h``: in seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds of a text."""
        if isinstance(value, (int, float)):
            return value
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(ms|s|min|h|d)\s*", value)
        if found is None:
            self.fail(f"{value!r} is no duration: write a number and ms, s, min, h or d, as 30s", param, ctx)
        seconds = round(float(found[1]) * _SECONDS[found[2]], 6)
        return int(seconds) if seconds.is_integer() else seconds


def events_options(command: _Decorated) -> _Decorated:
    """``--events``, ``--key``, ``--time``, ``--dwell`` and ``--lost-after``."""
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
    """The operator that the options ask for, as the API has it; None where they ask for none.

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


def operator_text(operator: Mapping[str, Any] | None) -> str:
    """A query's operator in a line; nothing where its records are routed.

    >>> operator_text({"name": "events", "events": ["enter"], "key": "k", "time": "t", "dwell_s": 0, "lost_after_s": 9})
    'events enter of k at t, lost after 9 s'
    """
    if operator is None:
        return ""
    what = f"{operator['name']} {','.join(operator['events'])} of {operator['key']} at {operator['time']}"
    if operator["name"] == "near":
        condition = f" on {operator['on']}" if operator["on"] else ""
        ticks = f"{operator['window_s']} s each {operator['every_s']} s"
        return f"{what}, within {operator['distance_m']} m at {operator['position']}, {ticks}{condition}"
    dwell = f", dwell {operator['dwell_s']} s" if operator["dwell_s"] else ""
    return f"{what}{dwell}, lost after {operator['lost_after_s']} s"
