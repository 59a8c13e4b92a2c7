"""Common parts of commands that register queries: their options, and the output of the daemon's answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

import click

from broker.client.client import Client
from broker.visible_text import visible
from cli.arguments import with_options
from cli.client import Json
from cli.output import print_json
from cli.query.apply import no_replace_option

Command = TypeVar("Command", bound=Callable[..., Any])


def standing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--topic``, ``--label``, ``--paused``, ``--expires-at`` and ``--no-replace``.

    The command receives the given values as ``fields``, in the form of the API, and ``replaces``.
    """

    @wraps(command)
    def with_fields(
        *, topic: str | None, labels: dict[str, str], paused: bool, expires_at: str | None, **others: Any
    ) -> Any:
        given = {"topic": topic, "labels": labels, "paused": paused, "expires_at": expires_at}
        return command(fields={name: value for name, value in given.items() if value}, **others)

    options = (
        click.option("--topic", help="The topic for what it accepts; asc.ID by default."),
        label_option,
        click.option("--paused", is_flag=True, help="Register it without running it yet."),
        click.option(
            "--expires-at", metavar="TIME", help="When to remove it: an ISO 8601 time to come, with its offset."
        ),
        no_replace_option,
    )
    return with_options(with_fields, options)


def label_option(command: Command) -> Command:
    """Add ``--label``, which may be repeated. The command receives ``labels``."""
    return click.option(
        "--label", "labels", multiple=True, metavar="K=V", callback=_labels, help="A label; repeatable."
    )(command)


def _labels(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """Parse ``KEY=VALUE`` options into a mapping."""
    labels: dict[str, str] = {}
    for value in values:
        name, sign, text = value.partition("=")
        if not sign or not name:
            raise click.BadParameter(f"{value!r} is not of the form KEY=VALUE")
        labels[name] = text
    return labels


def register(client: Client, body: Json, *, stream: str | None, fields: Json, replaces: bool, as_json: bool) -> Json:
    """Register the query that a body and options define. Print the answer, with warnings on standard error, and return
    it.
    """
    sent = {**body, **fields, **({"stream": stream} if stream else {})}
    answer = client.register(sent, replaces=replaces)
    print_registered(answer, as_json)
    return dict(answer)


def print_registered(answer: Json, as_json: bool) -> None:
    """Print the outcome of a registration. Warnings go to standard error."""
    if as_json:
        print_json(answer)
        return
    registered = answer["query"]
    change = answer.get("change", "registered")
    click.echo(f"{change} {registered['id']} -> {registered['topic']}, {from_where(answer)}")
    previous = answer.get("previous") or {}
    if previous and (previous["where"], previous["topic"]) != (registered["where"], registered["topic"]):
        click.echo(f"in place of: {visible(' '.join(previous['where'].split()))} -> {previous['topic']}")
    for warning in answer.get("warnings") or []:
        click.echo(f"warning: {warning}", err=True)


def from_where(answer: Json) -> str:
    """Return the version and the effective offsets of a change in words.

    >>> from_where({"version": 7, "effective_offsets": {"0": 121, "1": 5}})
    'version 7, from offset 121 of partition 0, 5 of partition 1'
    """
    offsets = answer.get("effective_offsets") or {}
    return f"version {answer.get('version')}" + (f", {from_offsets(offsets)}" if offsets else "")


def from_offsets(offsets: Json) -> str:
    """Return the first offsets of a change, by partition, in words.

    >>> from_offsets({"0": 121, "1": 5})
    'from offset 121 of partition 0, 5 of partition 1'
    """
    places = ", ".join(f"{offset} of partition {partition}" for partition, offset in offsets.items())
    return f"from offset {places}"
