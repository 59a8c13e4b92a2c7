"""``broker.consume``: deliveries one by one, without loss, and without repeats as far as a consumer can detect them."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from broker.errors import KafkaError
from broker.kafka.client import SHARED_OPTIONS, KafkaClient
from broker.kafka.reading import polled
from broker.operators.headers import last_hop, source_timestamp_ms

WINDOW = 100_000
"""The number of last deliveries that are remembered to detect repeats. These deliveries take some ten megabytes of
memory.
"""

_COMMITTED_EACH_S = 1.0


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivered record.

    ``queries``: the sorted ids of the queries that accepted the source record. ``source``: the source record as
    ``<topic>-<partition>-<offset>``. ``timestamp_ms``: time of the delivery. ``source_timestamp_ms``: time of the
    source record. ``shapes``: for joins among the queries, the shapes for which they accepted it, as
    ``<query>/<shape>``. ``identity``: equal for repeats of the delivery, and different for all other outputs of its
    queries. It is the header ``asc-window``, else ``asc-event``, else ``asc-source``; None if the record was not
    delivered by the broker.
    """

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]]
    queries: Sequence[str]
    source: str | None
    source_timestamp_ms: int | None = None
    shapes: Sequence[str] = ()
    identity: str | None = None


def consume(
    topics: str | Iterable[str],
    *,
    bootstrap_servers: str,
    group: str,
    options: Mapping[str, str] | None = None,
    window: int = WINDOW,
    timeout_s: float = 15,
) -> Iterator[Delivery]:
    """Yield the deliveries in topics, as they arrive, without an end. A delivery counts as processed when the next one
    is requested.

    The group's offsets are committed up to the processed deliveries. This happens about once a second while the
    iterator is used, before partitions move to another member, and when the iterator is closed. So a program that is
    killed gets the current delivery again, and the deliveries since the last commit. Members of one group share the
    partitions. A member that takes longer than five minutes for a single delivery counts as dead, and another member
    gets that delivery as well. A new group begins with the oldest record.

    After a fault, the broker may deliver a record twice. A record is skipped if one of the last ``window`` deliveries
    of its topic to this consumer has the same identity, queries, shapes, key and value. Records without an identity are
    never skipped. ``options`` are the options of Kafka's clients, under the names of ``[kafka.options]``: TLS and SASL.
    Raises KafkaError if Kafka does not answer within ``timeout_s`` at the start, refuses, or has no such topic. Later
    the iterator waits for Kafka.

    ::

        for delivery in broker.consume("late-flights", bootstrap_servers="kafka:9092", group="alerts"):
            page_somebody(delivery.queries, delivery.value)
    """
    _check(group, {} if options is None else options, window)
    names = [topics] if isinstance(topics, str) else list(topics)
    client = KafkaClient(bootstrap_servers, options or {}, timeout_s, named_by="bootstrap_servers")
    # From the oldest record on: a group without a committed offset would otherwise skip the records before it starts.
    yield from receive(client, names, group=group, from_beginning=True, window=window)


def receive(
    client: KafkaClient,
    topics: Iterable[str],
    *,
    group: str | None,
    from_beginning: bool,
    to_end: bool = False,
    most: int | None = None,
    window: int = WINDOW,
    idle: Callable[[], object] | None = None,
) -> Generator[Delivery, None, None]:
    """Yield deliveries as :func:`consume` does, with a given client. Without a group, read all partitions, without
    commits.

    ``from_beginning``: start at the oldest record if no offset is committed. ``to_end``: stop at the present end of the
    topics. ``most``: the largest number of deliveries. ``idle`` is called whenever the client polls Kafka, some times a
    second while nothing arrives; it is not called with ``to_end``.
    """
    seen = _Seen(window)
    delivered = 0
    topics = list(topics)
    with client.reading(topics, from_beginning=from_beginning, group=group, to_end=to_end) as messages:
        done = None if group is None else _Places(client, messages.consumer if to_end else messages, topics)
        try:
            for message in messages if to_end else polled(messages):
                if message is None:
                    if done is not None:
                        done.commit_sometimes()
                    if idle is not None:
                        idle()
                    continue
                delivery = delivery_of(message)
                if delivery.identity is None or seen.is_new(delivery):
                    yield delivery
                    delivered += 1
                if done is not None:
                    done.add(message)
                if delivered == most:
                    return
        finally:
            if done is not None:
                done.commit()


def _check(group: str, options: Mapping[str, str], window: int) -> None:
    from kafka import KafkaConsumer

    if not group:
        raise KafkaError("group", group, "name the consumer group whose place is noted")
    if not isinstance(window, int) or window < 0:
        raise KafkaError("window", window, "give a number of deliveries, 0 or more")
    if not isinstance(options, Mapping):
        raise KafkaError("options of type", type(options).__name__, "give a mapping of Kafka's options to texts")
    known = sorted(name.replace("_", ".") for name in KafkaConsumer.DEFAULT_CONFIG if name.startswith(SHARED_OPTIONS))
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            raise KafkaError(
                "option", name, f"did you mean '{near[0]}'?" if near else f"known here: {', '.join(known)}"
            )


def delivery_of(message: Any) -> Delivery:
    """Return the delivery in a message of kafka-python's consumer."""
    headers = tuple(message.headers or ())
    hop = last_hop(headers)
    return Delivery(
        message.topic,
        message.partition,
        message.offset,
        message.timestamp,
        message.key,
        message.value,
        headers,
        hop.queries,
        hop.source,
        source_timestamp_ms(headers),
        hop.shapes,
        hop.identity,
    )


class _Seen:
    """The last deliveries, at most ``window`` of them, each as a 16-byte digest of its topic, identity and content.

    Cost: one digest and one look-up per delivery. The memory does not depend on the length of identities.

    A delivery with other content is not a repeat, because streams may share a source topic, and a topic that is created
    anew restarts its offsets. A delivery that is read again from the same offset is a repeat: it was processed,
    although its offset could not be committed.
    """

    def __init__(self, window: int) -> None:
        self._window = window
        self._digests: OrderedDict[bytes, None] = OrderedDict()

    def is_new(self, delivery: Delivery) -> bool:
        """Remember a delivery, and return whether it differs from all remembered deliveries, so that it is not a
        repeat.
        """
        digest = hashlib.blake2b(digest_size=16)
        names = (delivery.topic, delivery.identity or "", *delivery.queries, "", *delivery.shapes)
        for part in (delivery.key, delivery.value, *(name.encode() for name in names)):
            digest.update(b"-" if part is None else b"%d:" % len(part) + part)
        known = digest.digest()
        if known in self._digests:
            return False
        self._digests[known] = None
        if len(self._digests) > self._window:
            self._digests.popitem(last=False)
        return True


class _Places:
    """Progress in each partition, committed to Kafka at intervals and before partitions move to another member.

    Invariant: uncommitted progress concerns only partitions that this member has held without interruption. So no
    commit sets an offset back behind the commit of another member.
    """

    def __init__(self, client: KafkaClient, consumer: Any, topics: Sequence[str]) -> None:
        self._client = client
        self._consumer = consumer
        self._next: dict[Any, Any] = {}
        self._noted_s = time.monotonic()
        consumer.subscribe(topics, listener=self._listener())

    def add(self, message: Any) -> None:
        from kafka import OffsetAndMetadata, TopicPartition

        self._next[TopicPartition(message.topic, message.partition)] = OffsetAndMetadata(message.offset + 1, "", -1)
        self.commit_sometimes()

    def commit_sometimes(self) -> None:
        if time.monotonic() - self._noted_s > _COMMITTED_EACH_S:
            self.commit()

    def commit(self) -> None:
        """Commit the deliveries that were processed since the last commit."""
        from kafka.errors import CommitFailedError, KafkaTimeoutError, RetriableError

        places = self._taken()
        if not places:
            return
        with self._client.clear_errors():
            try:
                self._consumer.commit(places)
            except CommitFailedError:
                # Another member now has the partitions, and receives the records that were not committed again.
                return
            except (KafkaTimeoutError, RetriableError):
                # Kafka does not answer, or is about to rebalance: commit later.
                self._next = {**places, **self._next}

    def _taken(self) -> dict[Any, Any]:
        places = dict(self._next)
        self._next.clear()
        self._noted_s = time.monotonic()
        return places

    def _listener(self) -> Any:
        """Return a listener that commits, during a poll, before partitions move to another member."""
        from kafka import AsyncConsumerRebalanceListener
        from kafka.errors import KafkaError as ClientError

        places = self

        class Listener(AsyncConsumerRebalanceListener):  # type: ignore[misc]
            async def on_partitions_revoked(self, _revoked: Any) -> None:
                # Failures are ignored as above. Do not wait: this runs in the thread that talks to Kafka, so a wait
                # would deadlock.
                with contextlib.suppress(ClientError):
                    if taken := places._taken():
                        await places._consumer.commit_async(taken)

            async def on_partitions_lost(self, _lost: Any) -> None:
                places._taken()

            async def on_partitions_assigned(self, _assigned: Any) -> None:
                return

        return Listener()
