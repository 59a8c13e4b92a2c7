"""``asc status``: print whether the daemon is ready, and what it runs."""

from __future__ import annotations

import json
import textwrap
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import click

from broker.answers.stream import Ready
from broker.client.client import Client
from broker.client.errors import NoAnswerError, RefusedError, TooManyRequestsError, UnauthorizedError
from cli.client import address_options, connected
from cli.command import Command, examples
from cli.live_view import watch
from cli.output import json_option, print_json, terminal_width
from cli.status_text import status_lines

_WATCH_S = 2.0
_WATCHER_WAITS_S = 5.0
"""The longest wait in seconds for an answer with ``--watch``. It is short, because the next request follows in any
case.
"""


@click.command(
    cls=Command,
    epilog=examples(
        "asc status",
        "asc status --wait 120",
        "asc status --watch",
        "asc status --watch 10 --json >> status.ndjson",
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
@click.option(
    "--watch",
    "watch_s",
    type=click.FloatRange(min=0.5, max=86_400),
    is_flag=False,
    flag_value=_WATCH_S,
    metavar="[SECONDS]",
    help="Show it again every so many seconds, 2 if none are given, until Ctrl-C.",
)
@address_options
@json_option
def status(
    *,
    server: str,
    token_file: Path | None,
    ca_file: Path | None,
    as_json: bool,
    wait_s: float,
    watch_s: float | None,
) -> None:
    """Say whether the daemon is ready, and what it runs.

    Prints a line for each stream: rates of the last minute, and the lag, which is the records that are not done ("-"
    while Kafka does not say). Then come its latency, the queries that were given most, those that are not served, and
    dead letters. The phases of a batch follow, and the last rearrangements of its sequences. Records and dead letters
    are counted since the daemon started. "cost" is the number of constructs
    evaluated for a record, as the executor visits them. On a terminal, what is wider goes on below. Ends with 1 when
    the daemon is not ready.

    With --watch it goes on while no daemon answers, as while one is started again: a screen on a terminal, line by
    line elsewhere, with --json an object a line. Ctrl-C ends it with 0.
    """
    if watch_s is not None:
        if wait_s:
            raise click.UsageError("--watch waits for a daemon as long as it runs: leave out --wait")
        with connected(server, token_file, ca_file, _WATCHER_WAITS_S) as client:
            watch(lambda width: _watched(client, width, as_json), watch_s, in_place=not as_json)
        return
    with connected(server, token_file, ca_file) as client:
        known = _looked(client, _awaited(client, wait_s))
    if as_json:
        print_json(known)
    else:
        width = terminal_width()
        click.echo("\n".join(status_lines(known, width)))
    if not known.get("ready"):
        click.get_current_context().exit(1)


def _looked(client: Client, ready: Ready) -> dict[str, Any]:
    """Return the status of a daemon that answered: its readiness, its Kafka, and its streams with their plans. A daemon
    that is not ready may have no streams yet.
    """
    known: dict[str, Any] = {"server": client.url, **ready}
    try:
        answer = client.streams()
        plans = client.plans()
        known["kafka"] = answer["kafka"]
        known["streams"] = [{**stream, "plan": plans.get(stream["name"], {})} for stream in answer["streams"]]
    except RefusedError as error:
        # A daemon that starts, or a standby, has no streams yet. A daemon with a failed stream reports all streams.
        if ready["ready"] or isinstance(error, UnauthorizedError):
            raise
    return known


def _watched(client: Client, width: int | None, as_json: bool) -> list[str]:
    """Return the present status with its time, as lines or as one line of JSON. A failure that may be temporary is
    reported as a daemon that is not ready. If ``width`` is None, an empty line follows the lines.
    """
    at = datetime.now(timezone.utc)
    try:
        known = _looked(client, client.ready())
    except NoAnswerError as error:
        known = {"server": client.url, "ready": False, "reason": str(error)}
    except RefusedError as error:
        if error.status < 500 and not isinstance(error, TooManyRequestsError):
            raise
        known = {"server": client.url, "ready": False, "reason": str(error)}
    if as_json:
        return [json.dumps({"at": at.isoformat(timespec="seconds").replace("+00:00", "Z"), **known})]
    first, *others = status_lines(known, width)
    first = f"{at:%H:%M:%S} UTC  {first}"
    return [first, *others, ""] if width is None else [*textwrap.wrap(first, width), *others]


def _awaited(client: Client, wait_s: float) -> Ready:
    """Wait until the daemon is ready, or until ``wait_s`` seconds have passed, and return the readiness of the daemon.
    If the daemon refuses the token, end the wait with an error.
    """
    # The readiness needs no token, so read the streams as well, to find a refused token early.
    unready: Ready = {"ready": False, "reason": None}
    return client.wait_until_ready(wait_s, on_unready=lambda: _looked(client, unready))
