"""``asc subscribe``: print the records that arrive in a topic."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

import click

from broker.client.errors import RefusedError
from broker.visible_text import spelled_json
from cli.client import Json, kafka_of, kafka_options
from cli.command import Command, examples
from cli.idle_notice import IdleNotice
from cli.suggestions import suggested_query_ids

if TYPE_CHECKING:
    from pathlib import Path

    from broker.client.client import Client
    from broker.kafka.client import KafkaClient

_NOT_ONE_S_OWN = (403, 404)
"""The HTTP statuses with which the daemon answers if it has no query with an id, or if the token may not read the
query. A token that is limited to a prefix may not request ids without this prefix, and most names of topics lack the
prefix.
"""


@click.command(
    cls=Command,
    epilog=examples(
        "asc subscribe late",
        "asc subscribe asc.late --from-beginning --max 10 --json",
        "asc subscribe late --exit > late.txt",
    ),
)
@click.argument("name", metavar="TOPIC|ID", shell_complete=suggested_query_ids)
@click.option("--from-beginning", is_flag=True, help="Begin with the oldest record that is there, not with new ones.")
@click.option("--max", "limit", type=click.IntRange(min=1), help="Stop after so many records.")
@click.option("--exit", "to_end", is_flag=True, help="Begin with the oldest record, stop at what is the end by now.")
@click.option("--group", help="Consume in this group, which goes on where it left off.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object a line.")
@kafka_options
def subscribe(
    *,
    client: Client,
    config_file: Path | None,
    name: str,
    from_beginning: bool,
    limit: int | None,
    to_end: bool,
    group: str | None,
    as_json: bool,
) -> None:
    """Print the records that arrive in a topic, until Ctrl-C.

    Given the ID of a query, it reads the topic that the query delivers to, with the records that others deliver there.
    Of a topic and a query of one name, it reads the topic.

    A line is: the queries that accepted it in brackets (of a dead letter, what is wrong with it), the key if there is
    one, the value. A dot stands for each control character, which --json has as it is. A key or value that is no UTF-8
    is 'base64 ...', with --json key_base64 or value_base64. A record that a fault had the broker deliver twice is
    printed once, and a group's place is noted after a record is printed. With --exit, a member of a group reads the
    partitions that it is given, and stops at once where the other members have all of them.

    Kafka's address comes from the daemon; where it asks for TLS or SASL, --config names the file that has them.
    """
    from broker.consuming.consume import receive
    from cli.record_output import record_json, record_line

    kafka = kafka_of(client, config_file)
    topic = _topic_of(name, _query_of(client, name), kafka)
    patience = IdleNotice(limit, from_beginning=from_beginning)
    deliveries = receive(
        kafka,
        [topic],
        group=group,
        from_beginning=from_beginning or to_end,
        to_end=to_end,
        most=limit,
        idle=patience.idle,
    )
    with contextlib.suppress(KeyboardInterrupt), contextlib.closing(deliveries):
        for delivery in deliveries:
            patience.came()
            if as_json:
                click.echo(spelled_json(json.dumps(record_json(delivery), ensure_ascii=False)))
            else:
                click.echo(record_line(delivery))


def _query_of(client: Client, name: str) -> Json | None:
    """Return the query with the id ``name``. Return None if there is no such query, or the token may not read it."""
    try:
        return client.show(name)
    except RefusedError as error:
        if error.status not in _NOT_ONE_S_OWN:
            raise
        return None


def _topic_of(name: str, query: Json | None, kafka: KafkaClient) -> str:
    """Return the topic that a name denotes. Print notes about the topic to stderr."""
    if query is None or query["topic"] == name:
        return name
    topic = str(query["topic"])
    if name in kafka.topics():
        click.echo(f"'{name}' is a topic; the query of that id delivers to '{topic}'", err=True)
        return name
    why = " (it is paused)" if query["paused"] else "" if query.get("served", True) else " (it is not served)"
    click.echo(f"reading '{topic}', to which query '{name}' delivers{why}", err=True)
    return topic
