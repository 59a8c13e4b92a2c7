"""Clients of one Kafka, made alike for the daemon and the command line."""

from __future__ import annotations

import contextlib
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from broker.errors import KafkaError
from broker.failure import one_line
from broker.kafka.silence import Silence

if TYPE_CHECKING:
    from kafka import KafkaConsumer, KafkaProducer
    from kafka.admin import KafkaAdminClient

Record = tuple["bytes | None", bytes]
"""Key and value of a record."""

_SHARED_OPTIONS = ("security_", "sasl_", "ssl_")
_OBJECTS = ("ssl_context", "sasl_oauth_token_provider")
"""Options of kafka-python that no text can give."""

IN_FLIGHT_MAX = 20_000
"""Records under way at a time, so that memory does not grow with their number."""

_PAUSE_MS = 300

ACKNOWLEDGED_WITHIN_S = 45
"""How long the oldest record under way may take: longer than a broker needs to be started again."""


class KafkaClient:
    """Producers, consumers and administration of the Kafka at ``bootstrap_servers``, each made when it is asked for.

    ``options`` are those of Kafka's own clients, dots and all; how to reach and be admitted is taken from them, the
    rest is for Spark's clients. ``timeout_s``: how long Kafka is waited for at the start. Whatever fails raises
    KafkaError in one line; ``named_by`` says there what to check where Kafka does not answer.
    """

    def __init__(
        self, bootstrap_servers: str, options: Mapping[str, str], timeout_s: float, *, named_by: str = "the address"
    ) -> None:
        self.bootstrap_servers = bootstrap_servers
        self._named_by = named_by
        self._options = options
        self._timeout_s = timeout_s

    def producer(self, **settings: Any) -> KafkaProducer:
        """A new producer with acks=all and idempotence (the defaults of kafka-python 3)."""
        from kafka import KafkaProducer

        with self.clear_errors():
            return KafkaProducer(
                **self._settings(KafkaProducer.DEFAULT_CONFIG), allow_auto_create_topics=False, **settings
            )

    def consumer(self, **settings: Any) -> KafkaConsumer:
        """A new consumer, that joins no group unless the settings name one."""
        from kafka import KafkaConsumer

        with self.clear_errors():
            return KafkaConsumer(
                **self._settings(KafkaConsumer.DEFAULT_CONFIG), allow_auto_create_topics=False, **settings
            )

    def admin(self) -> KafkaAdminClient:
        """A new client for topics and their settings."""
        from kafka.admin import KafkaAdminClient

        with self.clear_errors():
            return KafkaAdminClient(**self._settings(KafkaAdminClient.DEFAULT_CONFIG))

    def spark_options(self) -> dict[str, str]:
        """Options of Spark's Kafka source and sink."""
        options = {f"kafka.{key}": value for key, value in self._options.items()}
        return {**options, "kafka.bootstrap.servers": self.bootstrap_servers}

    def send(
        self, topic: str, records: Iterable[Record], *, on_silence: Callable[[], object] = lambda: None
    ) -> Iterator[tuple[int, int]]:
        """Send records to a topic, in order; yields partition and offset of each, in order, as all replicas have it.

        At most ``IN_FLIGHT_MAX`` are under way at a time. ``on_silence`` is called where Kafka does not answer for some
        seconds, from another thread. KafkaError says how many were acknowledged: none of those is lost, a later one may
        have arrived.
        """
        acknowledged = 0

        def so_far() -> str:
            return f"; {acknowledged:,} records were acknowledged, later ones may have arrived" if acknowledged else ""

        def place(future: Any) -> tuple[int, int]:
            nonlocal acknowledged
            with silence.waiting():
                found = future.get(timeout=ACKNOWLEDGED_WITHIN_S)
            acknowledged += 1
            return found.partition, found.offset

        with Silence(on_silence) as silence:
            with silence.waiting():
                producer: Any = self.producer(acks="all", linger_ms=20, batch_size=1 << 18)
            with self._client_errors(so_far):
                under_way: deque[Any] = deque()
                try:
                    for key, value in records:
                        with silence.waiting():
                            under_way.append(producer.send(topic, key=key, value=value))
                        # Also those that are there already: records may come slowly, and a failure is told at once.
                        while under_way and (under_way[0].is_done or len(under_way) > IN_FLIGHT_MAX):
                            yield place(under_way.popleft())
                    # One after the other: to flush would wait for all of them, however long Kafka is away.
                    while under_way:
                        yield place(under_way.popleft())
                finally:
                    _close(producer)

    @contextlib.contextmanager
    def reading(
        self, topics: Iterable[str], *, from_beginning: bool, group: str | None = None, to_end: bool = False
    ) -> Iterator[Any]:
        """The records of topics; without a group it reads all their partitions on its own.

        A group goes on from where it left off; ``from_beginning`` says where to begin where there is no such place.
        There is no end to them, or with ``to_end`` that which the topics have by now. KafkaError where a topic is not
        there.
        """
        from kafka import TopicPartition

        topics = list(topics)
        client: Any = self.consumer(
            group_id=group,
            auto_offset_reset="earliest" if from_beginning else "latest",
            isolation_level="read_committed",
            # How long it waits before it looks whether it is at the end, beside looking at the last record.
            consumer_timeout_ms=_PAUSE_MS if to_end else -1,
        )
        try:
            with self._client_errors():
                partitions = [TopicPartition(t, p) for t in topics for p in client.partitions_for_topic(t) or ()]
                missing = set(topics) - {partition.topic for partition in partitions}
                if missing:
                    remedy = "no such topic in Kafka: 'asc query list' shows the topics of the queries"
                    raise KafkaError("unknown topic", ", ".join(sorted(missing)), remedy)
                if group is None:
                    client.assign(partitions)
                else:
                    client.subscribe(topics)
                yield _until(client, client.end_offsets(partitions)) if to_end else client
        finally:
            client.close()

    def topics(self) -> set[str]:
        """The topics that there are."""
        client: Any = self.consumer()
        try:
            with self._client_errors():
                return set(client.topics())
        finally:
            client.close()

    @contextlib.contextmanager
    def clear_errors(self) -> Iterator[None]:
        """Whatever fails in calls of the Kafka client as one KafkaError."""
        try:
            with self._client_errors():
                yield
        except (ValueError, OSError) as error:
            raise KafkaError("Kafka", self.bootstrap_servers, f"refuses: {one_line(error)}") from error

    @contextlib.contextmanager
    def _client_errors(self, so_far: Callable[[], str] = str) -> Iterator[None]:
        """Kafka's own errors alone, for the caller's code runs here as well; with what was done ``so_far``."""
        from kafka.errors import KafkaConnectionError, KafkaTimeoutError
        from kafka.errors import KafkaError as ClientError

        try:
            yield
        except (KafkaConnectionError, KafkaTimeoutError) as error:
            remedy = f"does not answer: check {self._named_by} and that it runs ({one_line(error)})"
            raise KafkaError("Kafka", self.bootstrap_servers, f"{remedy}{so_far()}") from error
        except ClientError as error:
            raise KafkaError("Kafka", self.bootstrap_servers, f"refuses: {one_line(error)}{so_far()}") from error

    def _settings(self, known: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **dict(self._shared_options(known)),
            "bootstrap_servers": self.bootstrap_servers.replace(" ", "").split(","),
            "bootstrap_timeout_ms": round(self._timeout_s * 1000),
        }

    def _shared_options(self, known: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        for key, text in self._options.items():
            name = key.replace(".", "_")
            if name not in known or not name.startswith(_SHARED_OPTIONS) or name in _OBJECTS:
                continue
            if not isinstance(known[name], bool):
                yield name, text
            elif text.lower() in ("true", "false"):
                yield name, text.lower() == "true"
            else:
                raise KafkaError(f"kafka.options '{key}'", text[:50], "is true or false")


def _until(client: Any, ends: Mapping[Any, int]) -> Iterator[Any]:
    """The records of a consumer before the offsets ``ends`` of its partitions."""
    from kafka import TopicPartition

    def is_read() -> bool:
        # Positions, for after the last record there may be marks of transactions.
        own = client.assignment()
        return bool(own) and all((client.position(partition) or 0) >= ends[partition] for partition in own)

    while not is_read():
        for record in client:
            partition = TopicPartition(record.topic, record.partition)
            if record.offset < ends[partition]:
                yield record
            if record.offset + 1 >= ends[partition]:
                # A group is to find later what comes after.
                client.pause(partition)
                if is_read():
                    return


def _close(producer: Any) -> None:
    from kafka.errors import KafkaTimeoutError

    try:
        producer.close(timeout=5)
    except KafkaTimeoutError:
        # It gave up waiting for what cannot be sent, with its thread still trying: end that, and what waits with it.
        producer._sender.force_close()
        with contextlib.suppress(KafkaTimeoutError):
            producer.close(timeout=5)


def quiet_client_log() -> None:
    """Let kafka-python log what breaks, not every reconnection: its own words beside ours would only repeat them."""
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
