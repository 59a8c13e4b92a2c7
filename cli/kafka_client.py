"""Producing to and consuming from Kafka, as the commands do it."""

from __future__ import annotations

import base64
import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import dropwhile, takewhile
from typing import Any

from cli.failure import CommandError
from cli.records import Record

QUERY_HEADER = "asc-query"
SOURCE_HEADER = "asc-source"
ERROR_HEADER = "asc-error"
IN_FLIGHT_MAX = 20_000


ANSWERS_WITHIN_MS = 10_000
"""How long Kafka is waited for at the start."""

_ACKNOWLEDGED_WITHIN_S = 45
"""How long the oldest record under way may take: longer than a broker needs to be started again."""


@contextlib.contextmanager
def _kafka_errors(bootstrap_servers: str, so_far: Callable[[], str] = str) -> Iterator[None]:
    """Errors of the Kafka client as one line, with what was done ``so_far``."""
    import logging

    from kafka.errors import KafkaError

    logging.getLogger("kafka").setLevel(logging.CRITICAL)  # its own words beside ours would only repeat them
    try:
        yield
    except KafkaError as error:
        reason = f"{type(error).__name__}: {error}".rstrip(": ")
        raise CommandError(
            "Kafka refuses or does not answer at", bootstrap_servers, f"is it running? {reason}{so_far()}"
        ) from error


def produce(bootstrap_servers: str, topic: str, records: Iterable[Record]) -> Iterator[tuple[int, int]]:
    """Send records to a topic, in order; yields partition and offset of each, in order, as all replicas have it.

    At most `IN_FLIGHT_MAX` records are under way at a time, so that memory does not grow with the number of records.
    Errors: CommandError, which says how many were acknowledged: none of those is lost, a later one may have arrived.
    """
    from kafka import KafkaProducer

    acknowledged = 0

    def so_far() -> str:
        return f"; {acknowledged:,} records were acknowledged, later ones may have arrived" if acknowledged else ""

    def place(future: Any) -> tuple[int, int]:
        nonlocal acknowledged
        found = future.get(timeout=_ACKNOWLEDGED_WITHIN_S)
        acknowledged += 1
        return found.partition, found.offset

    with _kafka_errors(bootstrap_servers, so_far):
        producer: Any = KafkaProducer(
            bootstrap_servers=bootstrap_servers,
            acks="all",
            linger_ms=20,
            batch_size=1 << 18,
            bootstrap_timeout_ms=ANSWERS_WITHIN_MS,
        )
        under_way: deque[Any] = deque()
        try:
            for key, value in records:
                under_way.append(producer.send(topic, key=key, value=value))
                if len(under_way) > IN_FLIGHT_MAX:
                    yield place(under_way.popleft())
            # One after the other: to flush would wait for all of them, however long Kafka is away.
            while under_way:
                yield place(under_way.popleft())
        finally:
            _close(producer)


def _close(producer: Any) -> None:
    from kafka.errors import KafkaTimeoutError

    try:
        producer.close(timeout=5)
    except KafkaTimeoutError:
        # It gave up waiting for what cannot be sent, with its thread still trying: end that, and what waits with it.
        producer._sender.force_close()
        with contextlib.suppress(KafkaTimeoutError):
            producer.close(timeout=5)


@contextlib.contextmanager
def consumer(
    bootstrap_servers: str, topics: Iterable[str], *, from_beginning: bool, group: str | None = None
) -> Iterator[Any]:
    """A Kafka consumer of those topics; without a group it reads all their partitions on its own.

    A group goes on from where it left off; ``from_beginning`` says where to begin where there is no such place.
    """
    from kafka import KafkaConsumer, TopicPartition

    topics = list(topics)
    with _kafka_errors(bootstrap_servers):
        client: Any = KafkaConsumer(
            bootstrap_servers=bootstrap_servers,
            group_id=group,
            auto_offset_reset="earliest" if from_beginning else "latest",
            allow_auto_create_topics=False,
            isolation_level="read_committed",
            bootstrap_timeout_ms=ANSWERS_WITHIN_MS,
        )
        try:
            partitions = [TopicPartition(t, p) for t in topics for p in client.partitions_for_topic(t) or ()]
            missing = set(topics) - {partition.topic for partition in partitions}
            if missing:
                remedy = "no such topic in Kafka: 'asc query list' shows the topics of the queries"
                raise CommandError("unknown topic", ", ".join(sorted(missing)), remedy)
            if group is None:
                client.assign(partitions)
            else:
                client.subscribe(topics)
            yield client
        finally:
            client.close()


def record_json(message: Any) -> dict[str, Any]:
    """A consumed record as a JSON object, with the queries that accepted it and the source it came from."""
    headers = message.headers or ()
    queries, source = delivered_by(headers)
    error = dead_letter_error(headers)
    return {
        "topic": message.topic,
        "partition": message.partition,
        "offset": message.offset,
        "timestamp_ms": message.timestamp,
        **_text_member("key", message.key),
        **_text_member("value", message.value),
        "queries": queries,
        "source": source,
        **({} if error is None else {"error": error}),
    }


def delivered_by(headers: Iterable[tuple[str, bytes | None]]) -> tuple[list[str], str | None]:
    """The queries of a delivery and the identity of its source: the last ``asc-source``, the ``asc-query`` before it.

    A record that went through several streams bears the headers of each, those of the last one last. No ``asc-source``:
    no delivery, so no queries. What is not UTF-8 was not written by a broker; it is shown with replacement characters.

    >>> hops = [("asc-query", b"a"), ("asc-source", b"s-0-7"), ("asc-query", b"b"), ("asc-source", b"asc.a-0-3")]
    >>> delivered_by(hops), delivered_by(hops[:1])
    ((['b'], 'asc.a-0-3'), ([], None))
    """
    from_the_end = dropwhile(lambda header: header[0] != SOURCE_HEADER, reversed(list(headers)))
    source = next(from_the_end, None)
    if source is None:
        return [], None
    queries = [_text(value) for _, value in takewhile(lambda header: header[0] == QUERY_HEADER, from_the_end)]
    return queries[::-1], _text(source[1])


def dead_letter_error(headers: Iterable[tuple[str, bytes | None]]) -> str | None:
    """Why a record is a dead letter: the ``asc-error`` before its last ``asc-source``; None where it is none.

    >>> dead_letter_error([("asc-error", b"value is empty"), ("asc-source", b"flights-0-7")])
    'value is empty'
    """
    from_the_end = dropwhile(lambda header: header[0] != SOURCE_HEADER, reversed(list(headers)))
    next(from_the_end, None)
    name, value = next(from_the_end, ("", None))
    return _text(value) if name == ERROR_HEADER else None


def record_line(message: Any) -> str:
    """A consumed record in one line: the queries or, of a dead letter, the error, then the key, the value."""
    shown = record_json(message)
    key = shown.get("key") or shown.get("key_base64")
    value = shown.get("value") or shown.get("value_base64") or ""
    why = f"error: {shown['error']}" if "error" in shown else ", ".join(shown["queries"])
    return f"[{why}] {f'{key} ' if key else ''}{value}"


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")


def _text_member(name: str, value: bytes | None) -> dict[str, str | None]:
    """Bytes as text, or in base64 under another name where they are not UTF-8."""
    if value is None:
        return {name: None}
    try:
        return {name: value.decode("utf-8")}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(value).decode("ascii")}
