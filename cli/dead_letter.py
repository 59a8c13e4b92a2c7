"""``asc dead-letter``: show the records that could not be decoded, and send them again."""

from __future__ import annotations

import contextlib
import heapq
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from broker.time_text import time_text
from broker.visible_text import visible
from cli.arguments import stream_option
from cli.client import Json, kafka_of, kafka_options, stream_of
from cli.command import Command, Group, examples
from cli.failure import CommandError
from cli.output import json_option, print_json, print_table

if TYPE_CHECKING:
    from pathlib import Path

    from broker.client.client import Client
    from broker.kafka.client import KafkaClient, WholeRecord

_SHOWN_CHARS = 60
_PLACE = re.compile(r"([0-9]{1,9})-([0-9]{1,18})")

Place = tuple[int, int]
"""The partition and the offset of a dead letter."""

_stream_option = stream_option("The stream; needed where the daemon has several.")
_reason_option = click.option("--reason", metavar="TEXT", help="Only those whose reason has this text in it.")


@click.group(
    "dead-letter",
    cls=Group,
    epilog=examples("asc dead-letter list", "asc dead-letter show 0-17", "asc dead-letter replay --reason delay"),
)
def dead_letter() -> None:
    """List, show and replay records that could not be decoded.

    They are in the topic STREAM.dead-letter. Each is named by its position in this topic, PARTITION-OFFSET.
    """


@dead_letter.command(
    "list",
    cls=Command,
    epilog=examples(
        "asc dead-letter list",
        "asc dead-letter list --stream flights --reason 'no INT' --max 20",
        "asc dead-letter list --json",
    ),
)
@_stream_option
@_reason_option
@click.option(
    "--max", "limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="The newest so many."
)
@kafka_options
@json_option
def list_letters(
    *,
    client: Client,
    config_file: Path | None,
    stream: str | None,
    reason: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """List the newest dead letters of a stream, the oldest of them first, and count all of them by reason."""
    from broker.consuming.consume import delivery_of
    from cli.reason_counts import ReasonCounts
    from cli.record_output import record_json

    # A heap by time, because partitions are read one after the other. It stores only the ``limit`` newest records.
    newest: list[tuple[int, int, int, Json]] = []
    reasons = ReasonCounts()
    with _letters(kafka_of(client, config_file), stream_of(client, stream), reason) as letters:
        for message in letters:
            reasons.add(_why(message))
            place = message.timestamp, message.partition, message.offset
            if len(newest) < limit:
                heapq.heappush(newest, (*place, record_json(delivery_of(message))))
            elif place > newest[0][:3]:
                heapq.heapreplace(newest, (*place, record_json(delivery_of(message))))
    listed = [shown for *_, shown in sorted(newest, key=lambda each: each[:3])]
    if as_json:
        print_json({"dead_letters": listed, "reasons": reasons.by_reason()})
        return
    print_table(["place", "source", "time", "reason", "value"], [_row(each) for each in listed])
    if listed:
        click.echo("")
        print_table(["records", "reason"], [[f"{count:,}", visible(why)] for why, count in reasons.by_reason().items()])


@dead_letter.command(
    cls=Command, epilog=examples("asc dead-letter show 0-17", "asc dead-letter show 0-17 --stream flights --json")
)
@click.argument("place")
@_stream_option
@kafka_options
@json_option
def show(*, client: Client, config_file: Path | None, place: str, stream: str | None, as_json: bool) -> None:
    """Show one dead letter whole: why it is one, where it came from, key, value and headers.

    PLACE is PARTITION-OFFSET, as 'asc dead-letter list' has it.
    """
    from broker.consuming.consume import delivery_of
    from cli.record_output import plain_text, record_json, text_member

    found = stream_of(client, stream)
    with _letters(kafka_of(client, config_file), found, None, _checked([place])) as letters:
        message = next(letters, None)
    if message is None:
        raise CommandError(
            "dead letter", place, f"is not in '{found['dead_letter_topic']}': see 'asc dead-letter list'"
        )
    shown = record_json(delivery_of(message))
    headers = [{"name": name, **text_member("value", value)} for name, value in message.headers or ()]
    if as_json:
        print_json({**shown, "headers": headers})
        return
    at = time_text(shown["timestamp_ms"])
    named = {"place": place, "reason": _why(message), "source": shown["source"], "time": at}
    for name, text in named.items():
        click.echo(f"{name}: {visible(text)}")
    for header in headers:
        click.echo(f"header {visible(header['name'])}: {visible(plain_text(header, 'value'))}")
    click.echo(f"key: {visible(plain_text(shown, 'key'))}")
    click.echo(f"value: {visible(plain_text(shown, 'value'))}")


@dead_letter.command(
    cls=Command,
    epilog=examples(
        "asc dead-letter replay 0-17 0-18",
        "asc dead-letter replay --stream flights --reason 'delay'",
        "asc dead-letter replay --all",
    ),
)
@click.argument("places", nargs=-1)
@_stream_option
@_reason_option
@click.option("--all", "everything", is_flag=True, help="All that there are.")
@kafka_options
@json_option
def replay(
    *,
    client: Client,
    config_file: Path | None,
    places: tuple[str, ...],
    stream: str | None,
    reason: str | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Send dead letters to the source topic again, as they came: after the stream's schema or options were mended.

    Key, value, headers and partition are those of the original. They stay among the dead letters, and what still
    cannot be decoded becomes another one; to send one twice has it evaluated twice. The dead letter of a record that
    was too large for a destination has not all of it: it is excluded, and named.
    """
    chosen = [bool(places), reason is not None, everything]
    if sum(chosen) != 1:
        raise click.UsageError("say which: PLACE ..., --reason TEXT or --all")
    from broker.kafka.batch_sender import BatchSender
    from broker.operators.headers import is_whole
    from broker.stream.replay import original

    entry = stream_of(client, stream)
    topic = str(entry["topic"])
    wanted = _checked(places)
    seen: set[Place] = set()
    incomplete: list[str] = []

    def records(letters: Iterator[Any], partitions: int) -> Iterator[WholeRecord]:
        for message in letters:
            seen.add(_place(message))
            if is_whole(message.headers or ()):
                yield original(message, partitions)
            else:
                incomplete.append(_place_text(_place(message)))

    kafka = kafka_of(client, config_file)
    with _letters(kafka, entry, reason, wanted) as letters, BatchSender(kafka, topic) as sender:
        for record in records(letters, kafka.partition_count(topic)):
            sender.send_whole(record)
        sender.flush()
        sent = sender.acknowledged
    missing = [_place_text(place) for place in sorted(wanted - seen)]
    if as_json:
        print_json({"topic": topic, "sent": sent, "incomplete": incomplete, "missing": missing})
    else:
        click.echo(f"{sent:,} sent to {topic}")
        if incomplete:
            named = f"{', '.join(incomplete[:10])}{', ...' if len(incomplete) > 10 else ''}"
            click.echo(f"{len(incomplete):,} excluded, for they have not all of the record: {named}", err=True)
        if reason is not None and not seen:
            click.echo(f"no dead letter's reason has {reason!r} in it: see 'asc dead-letter list'", err=True)
    if missing:
        raise CommandError("dead letters", ", ".join(missing[:10]), "are not there: see 'asc dead-letter list'")


@contextlib.contextmanager
def _letters(
    kafka: KafkaClient, stream: Json, reason: str | None, places: frozenset[Place] = frozenset()
) -> Iterator[Iterator[Any]]:
    """Yield an iterator over the present dead letters of a stream. With ``places``, yield only the dead letters at
    these positions. Otherwise, yield those whose reason contains ``reason``, or all if ``reason`` is None.
    """
    topic = str(stream["dead_letter_topic"])
    if places:
        with contextlib.closing(kafka.records_at(topic, places)) as letters:
            yield letters
        return
    with kafka.reading([topic], from_beginning=True, to_end=True) as messages:
        yield (message for message in messages if (reason or "").lower() in _why(message).lower())


def _checked(texts: Sequence[str]) -> frozenset[Place]:
    """Parse positions such as ``0-17``: partition and offset. Raise CommandError if a text has another form."""
    places: set[Place] = set()
    for text in texts:
        found = _PLACE.fullmatch(text)
        if found is None:
            raise CommandError("place of a dead letter", text, "write PARTITION-OFFSET, as 0-17")
        places.add((int(found[1]), int(found[2])))
    return frozenset(places)


def _why(message: Any) -> str:
    from broker.operators.headers import dead_letter_error

    return dead_letter_error(message.headers or ()) or "no reason is given"


def _place(message: Any) -> Place:
    return message.partition, message.offset


def _place_text(place: Place) -> str:
    return f"{place[0]}-{place[1]}"


def _row(shown: Json) -> list[str]:
    from cli.record_output import plain_text

    text = plain_text(shown, "value")
    cut = text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 3]}..."
    place = f"{shown['partition']}-{shown['offset']}"
    at = time_text(shown["timestamp_ms"])
    return [place, visible(str(shown["source"])), at, visible(shown.get("error", "")), visible(cut)]
