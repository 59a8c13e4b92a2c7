"""``asc subscribe``."""

from __future__ import annotations

import contextlib
import json

import click

from cli.client import Client, server_options
from cli.command import Command, examples


@click.command(
    cls=Command,
    epilog=examples(
        "asc subscribe asc.late",
        "asc subscribe asc.late --from-beginning --max 10 --json",
    ),
)
@click.argument("topic")
@click.option("--from-beginning", is_flag=True, help="Begin with the oldest record that is there, not with new ones.")
@click.option("--max", "limit", type=click.IntRange(min=1), help="Stop after so many records.")
@click.option("--group", help="Consume in this group, which goes on where it left off.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object a line.")
@server_options
def subscribe(
    *, client: Client, topic: str, from_beginning: bool, limit: int | None, group: str | None, as_json: bool
) -> None:
    """Print the records that arrive in a topic, until Ctrl-C.

    A line is: the queries that accepted it in brackets (of a dead letter, what is wrong with it), the key if there is
    one, the value.

    Kafka's address comes from the daemon; the connection to it is without TLS and SASL.
    """
    from cli.received import record_json, record_line

    kafka = client.kafka()
    with (
        contextlib.suppress(KeyboardInterrupt),
        kafka.reading([topic], from_beginning=from_beginning, group=group) as messages,
    ):
        for count, message in enumerate(messages, 1):
            if as_json:
                click.echo(json.dumps(record_json(message), ensure_ascii=False))
            else:
                click.echo(record_line(message))
            if count == limit:
                break
