"""``asc status``."""

from __future__ import annotations

import click

from cli.client import Client, server_options
from cli.command import Command, examples
from cli.output import json_option, print_json, print_table


@click.command(
    cls=Command,
    epilog=examples(
        "asc status",
        "asc status --server http://broker:8750 --json",
    ),
)
@server_options
@json_option
def status(client: Client, as_json: bool) -> None:
    """Say whether the daemon is ready, and what it runs.

    Prints a line for each stream. Ends with 1 when the daemon is not ready.
    """
    ready = client.ready()
    found = {"server": client.server, **ready}
    if ready.get("ready"):
        answer = client.streams()
        plans = client.plan()["streams"]
        found["kafka"] = answer["kafka"]
        found["streams"] = [{**stream, "plan": plans.get(stream["name"], {})} for stream in answer["streams"]]
    if as_json:
        print_json(found)
    elif ready.get("ready"):
        click.echo(f"ready at {client.server}, Kafka at {found['kafka']['bootstrap_servers']}")
        print_table(
            ["stream", "topic", "format", "queries", "conjuncts", "p-attributes", "version"],
            [
                [
                    stream["name"],
                    stream["topic"],
                    stream["format"],
                    stream["queries"],
                    stream["plan"].get("conjuncts"),
                    len(stream["plan"].get("p_attributes", ())),
                    stream["plan"].get("version"),
                ]
                for stream in found["streams"]
            ],
        )
    else:
        click.echo(f"not ready at {client.server}: {ready.get('reason') or 'no reason given'}")
    if not ready.get("ready"):
        click.get_current_context().exit(1)
