"""``asc subscribe``."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

import click

from cli.client import Client, Json, ServerError, server_options
from cli.command import Command, examples

if TYPE_CHECKING:
    from broker.kafka.client import KafkaClient

_NOT_FOUND = 404


@click.command(
    cls=Command,
    epilog=examples(
        "asc subscribe late",
        "asc subscribe asc.late --from-beginning --max 10 --json",
        "asc subscribe late --exit > late.txt",
    ),
)
@click.argument("name", metavar="TOPIC|ID")
@click.option("--from-beginning", is_flag=True, help="Begin with the oldest record that is there, not with new ones.")
@click.option("--max", "limit", type=click.IntRange(min=1), help="Stop after so many records.")
@click.option("--exit", "to_end", is_flag=True, help="Begin with the oldest record, stop at what is the end by now.")
@click.option("--group", help="Consume in this group, which goes on where it left off.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object a line.")
@server_options
def subscribe(
    *,
    client: Client,
    name: str,
    from_beginning: bool,
    limit: int | None,
    to_end: bool,
    group: str | None,
    as_json: bool,
) -> None:
    """Print the records that arrive in a topic, until Ctrl-C.

    Given the ID of a query, it reads the topic that the query delivers to, with what others deliver there; of a topic
    and a query of one name, the topic.

    A line is: the queries that accepted it in brackets (of a dead letter, what is wrong with it), the key if there is
    one, the value.

    Kafka's address comes from the daemon; the connection to it is without TLS and SASL.
    """
    from cli.received import record_json, record_line

    kafka = client.kafka()
    topic = _topic_of(name, _query_of(client, name), kafka)
    with (
        contextlib.suppress(KeyboardInterrupt),
        kafka.reading([topic], from_beginning=from_beginning or to_end, group=group, to_end=to_end) as messages,
    ):
        for count, message in enumerate(messages, 1):
            if as_json:
                click.echo(json.dumps(record_json(message), ensure_ascii=False))
            else:
                click.echo(record_line(message))
            if count == limit:
                break


def _query_of(client: Client, name: str) -> Json | None:
    try:
        return client.query(name)
    except ServerError as error:
        if error.status != _NOT_FOUND:
            raise
        return None


def _topic_of(name: str, query: Json | None, kafka: KafkaClient) -> str:
    """The topic that is meant; what has to be known of it goes to stderr."""
    if query is None or query["topic"] == name:
        return name
    topic = str(query["topic"])
    if name in kafka.topics():
        click.echo(f"'{name}' is a topic; the query of that id delivers to '{topic}'", err=True)
        return name
    why = " (it is paused)" if query["paused"] else "" if query.get("served", True) else " (it is not served)"
    click.echo(f"reading '{topic}', to which query '{name}' delivers{why}", err=True)
    return topic
