"""Clients of one Kafka cluster, with the same configuration for the daemon and the command line."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from broker.config.security import java_options, librdkafka_options, python_options, security_faults
from broker.errors import KafkaError
from broker.failure import one_line
from broker.kafka.reading import Until
from broker.kafka.refusal import login_refusal, refusal

if TYPE_CHECKING:
    from kafka import KafkaConsumer, KafkaProducer
    from kafka.admin import KafkaAdminClient


class WholeRecord(NamedTuple):
    """A record with its headers, and the partition to which it is sent."""

    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]]
    partition: int | None


SHARED_OPTIONS = ("security_", "sasl_", "ssl_")
_OBJECTS = ("ssl_context", "sasl_oauth_token_provider")
"""Options of kafka-python whose values cannot be written as text."""

_PAUSE_MS = 300

ACKNOWLEDGED_WITHIN_S = 45
"""The longest wait for the oldest unacknowledged record: longer than a restart of a broker takes."""


class KafkaClient:
    """Factory of producers, consumers and administration clients for the Kafka cluster at ``bootstrap_servers``.

    ``options`` have the names of Kafka's Java clients, with dots. Address and login options are translated for every
    client; the others apply to Spark's clients only. ``timeout_s``: the longest wait for Kafka at the start. Every
    failure raises KafkaError in one line. ``named_by``: the setting to check if Kafka does not answer; the error names
    it.
    """

    def __init__(
        self, bootstrap_servers: str, options: Mapping[str, str], timeout_s: float, *, named_by: str = "the address"
    ) -> None:
        self.bootstrap_servers = bootstrap_servers
        self.named_by = named_by
        self._options = options
        self.timeout_s = timeout_s
        self._looks_for_fault = True

    def hurried(self, within_s: float) -> KafkaClient:
        """Return a client that differs only in a shorter timeout, for a caller who waits.

        If Kafka does not answer, that client does not search for the faulty option.
        """
        found = KafkaClient(self.bootstrap_servers, self._options, within_s, named_by=self.named_by)
        found._looks_for_fault = False
        return found

    def producer(self, **settings: Any) -> KafkaProducer:
        """Return a new producer with acks=all and idempotence (the defaults of kafka-python 3)."""
        from kafka import KafkaProducer

        self._check()
        with self.clear_errors():
            return KafkaProducer(
                **self._settings(KafkaProducer.DEFAULT_CONFIG), allow_auto_create_topics=False, **settings
            )

    def consumer(self, **settings: Any) -> KafkaConsumer:
        """Return a new consumer. It joins no group unless the settings name a group."""
        from kafka import KafkaConsumer

        self._check()
        with self.clear_errors():
            return KafkaConsumer(
                **self._settings(KafkaConsumer.DEFAULT_CONFIG), allow_auto_create_topics=False, **settings
            )

    def admin(self, **settings: Any) -> KafkaAdminClient:
        """Return a new client for the administration of topics and of their settings."""
        from kafka.admin import KafkaAdminClient

        self._check()
        with self.clear_errors():
            return KafkaAdminClient(**{**self._settings(KafkaAdminClient.DEFAULT_CONFIG), **settings})

    def spark_options(self) -> dict[str, str]:
        """Return the options of Spark's Kafka source and sink."""
        options = {f"kafka.{key}": value for key, value in java_options(self._options).items()}
        return {**options, "kafka.bootstrap.servers": self.bootstrap_servers}

    def librdkafka_options(self) -> dict[str, Any]:
        """Return the options of librdkafka's producer."""
        self._check()
        return {**librdkafka_options(self._options), "bootstrap.servers": self.bootstrap_servers.replace(" ", "")}

    @contextlib.contextmanager
    def reading(
        self,
        topics: Iterable[str],
        *,
        from_beginning: bool,
        group: str | None = None,
        to_end: bool = False,
    ) -> Iterator[Any]:
        """Yield the records of topics. Without a group, read all their partitions.

        A group continues at its committed offsets. If there are none, ``from_beginning`` decides where it starts. The
        iterator never ends, or with ``to_end`` it ends at the present end of the topics. The caller has to commit
        offsets. Raise KafkaError if a topic does not exist.
        """
        from kafka import TopicPartition

        topics = list(topics)
        client: Any = self.consumer(
            group_id=group,
            auto_offset_reset="earliest" if from_beginning else "latest",
            isolation_level="read_committed",
            enable_auto_commit=False,
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
                yield Until(client, client.end_offsets(partitions)) if to_end else client
        finally:
            client.close()

    def records_at(self, topic: str, places: Iterable[tuple[int, int]]) -> Generator[Any, None, None]:
        """Yield the records of a topic at the given (partition, offset) pairs, in ascending order of the pairs.

        A pair without a record is skipped. Only the batches that Kafka sends for these offsets are read. Raise
        KafkaError.
        """
        from kafka import TopicPartition

        client: Any = self.consumer(isolation_level="read_committed", max_poll_records=1)
        try:
            with self._client_errors():
                there = client.partitions_for_topic(topic) or ()
                wanted = sorted({(TopicPartition(topic, p), offset) for p, offset in places if p in there})
                partitions = list(dict.fromkeys(partition for partition, _ in wanted))
                first, end = client.beginning_offsets(partitions), client.end_offsets(partitions)
                for partition, offset in wanted:
                    if not first[partition] <= offset < end[partition]:
                        continue
                    if client.assignment() != {partition}:
                        client.assign([partition])
                    if client.position(partition) != offset:
                        client.seek(partition, offset)
                    # A transaction marker has an offset, but no record.
                    while client.position(partition) == offset:
                        for record in client.poll(timeout_ms=_PAUSE_MS).get(partition, ()):
                            if record.offset == offset:
                                yield record
        finally:
            client.close()

    def topics(self) -> set[str]:
        """Return the names of the topics that exist."""
        client: Any = self.consumer()
        try:
            with self._client_errors():
                return set(client.topics())
        finally:
            client.close()

    def partition_count(self, topic: str) -> int:
        """Return the number of partitions of a topic, or 0 if the topic does not exist."""
        client: Any = self.consumer()
        try:
            with self._client_errors():
                return len(client.partitions_for_topic(topic) or ())
        finally:
            client.close()

    @contextlib.contextmanager
    def clear_errors(self) -> Iterator[None]:
        """Convert each error of a call to a Kafka client into KafkaError: errors of the client's own classes,
        ValueError and OSError.
        """
        try:
            with self._client_errors():
                yield
        except (ValueError, OSError) as error:
            raise KafkaError("Kafka", self.bootstrap_servers, f"refuses: {one_line(error)}") from error

    @contextlib.contextmanager
    def _client_errors(self) -> Iterator[None]:
        """Convert only the client's own errors into KafkaError, because the caller's code runs in this context as
        well.
        """
        from kafka.errors import KafkaConnectionError, KafkaTimeoutError, RequestTimedOutError
        from kafka.errors import KafkaError as ClientError

        try:
            yield
        except (KafkaConnectionError, KafkaTimeoutError, RequestTimedOutError) as error:
            raise self.silent(error) from error
        except ClientError as error:
            raise KafkaError("Kafka", self.bootstrap_servers, f"refuses: {one_line(error)}") from error

    def not_admitted(self, why: object, so_far: str = "") -> KafkaError:
        """Return the error for a Kafka that refuses the login in the options."""
        found = login_refusal(self.bootstrap_servers, self._options, one_line(why))
        return KafkaError(found.subject, found.value, f"{found.remedy}{so_far}")

    def silent(self, why: object, so_far: str = "") -> KafkaError:
        """Return the error for a Kafka that does not answer. It names the faulty option if an option is the cause."""
        found = refusal(self.bootstrap_servers, self._options) if self._looks_for_fault else None
        if found is not None:
            return KafkaError(found.subject, found.value, f"{found.remedy}{so_far}")
        remedy = f"does not answer: check {self.named_by} and that it runs ({one_line(why)}){so_far}"
        return KafkaError("Kafka", self.bootstrap_servers, remedy)

    def _check(self) -> None:
        for fault in security_faults(self._options):
            raise KafkaError(fault.subject, fault.value, fault.remedy)

    def _settings(self, known: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **dict(self._shared_options(known)),
            "bootstrap_servers": self.bootstrap_servers.replace(" ", "").split(","),
            "bootstrap_timeout_ms": round(self.timeout_s * 1000),
        }

    def _shared_options(self, known: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        for key, text in python_options(self._options).items():
            name = key.replace(".", "_")
            if name not in known or not name.startswith(SHARED_OPTIONS) or name in _OBJECTS:
                continue
            yield name, text.lower() == "true" if isinstance(known[name], bool) else text


def quiet_client_log() -> None:
    """Make kafka-python log only failures, not every reconnection, which would repeat the broker's own messages."""
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
