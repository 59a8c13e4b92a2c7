"""The check of a DBSCAN query, or of all queries that its lists of values produce."""

from __future__ import annotations

from datetime import datetime, timezone

import click

from cli.checking import Check
from cli.client import Json
from cli.output import counted

_ENDS_SHOWN = 10


def show_check(check: Check, query_id: str, where: str, operator: Json, now: datetime) -> None:
    """Check the query ``query_id``, or all queries that lists of values in ``operator`` define. Print the normal form
    of the predicate, the types of expressions, warnings, and the next ends of windows.

    Raise AscError if a query is refused.
    """
    from broker.operators.dbscan.body import DbscanBody
    from broker.operators.dbscan.definition import StandingDbscan

    several = DbscanBody.combinations(query_id, operator)
    definitions = [StandingDbscan.parse(own) for _, own in several]
    # A daemon validates all queries. With only a schema, just the expressions are checked, which all queries share.
    found = check.found(where, operator if check.schema_file is None else several[0][1])
    names = [own for own, _ in several]
    ends = next_ends(definitions[0], now)
    check.show_found({**found, "queries": names, "window_ends": ends})
    if check.as_json:
        return
    if len(names) > 1:
        click.echo(f"{counted(len(names), 'query')}: {names[0]} to {names[-1]}")
    click.echo(f"next ends of windows: {', '.join(map(str, ends))}")


def next_ends(definition: object, now: datetime) -> list[str | int]:
    """Return the ends of the next ten windows. If a number of points defines the windows, return the ends of the first
    ten, each as the number of the window's last point.
    """
    from asc.operators.times import time_text
    from broker.operators.dbscan.definition import StandingDbscan

    assert isinstance(definition, StandingDbscan)
    schedule = definition.own.schedule
    if not definition.own.is_timed:
        return [schedule.bounds(number)[1] for number in range(_ENDS_SHOWN)]
    first = schedule.last_final(round(now.astimezone(timezone.utc).timestamp() * 1_000_000)) + 1
    return [time_text(schedule.bounds(number)[1]) for number in range(first, first + _ENDS_SHOWN)]
