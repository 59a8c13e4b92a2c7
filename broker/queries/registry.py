"""The registry: the standing queries in one compacted Kafka topic, which only the daemon writes."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from broker.errors import RegistryError, RegistryTakenError
from broker.failure import one_line
from broker.kafka.cluster import KafkaCluster
from broker.kafka.retention import KEPT, RETENTION_MS, RETENTION_SETTINGS
from broker.layers.mark import KEY_PREFIX, LayerMark
from broker.queries.query import RegisteredQuery

LOG = logging.getLogger("asc.registry")

_POLL_MS = 200

_TRANSACTION_MS = 10 * 60 * 1000
"""The timeout of a transaction in milliseconds. A bulk load is one transaction, and a million queries take a minute.

Brokers allow at most 15 minutes by default.
"""

_BATCH_BYTES = 512 * 1024
"""The batch size of the producer in bytes. Brokers accept 1 MiB by default."""


class Held(NamedTuple):
    """The content of the registry at a version: the queries by id, and the marks of layers by name."""

    queries: Mapping[str, RegisteredQuery]
    marks: Mapping[str, LayerMark]
    version: int


class Registry:
    """The reader and only writer of the registry topic.

    The key of a record is a query's id. The value is the query (``RegisteredQuery.record``), or null for a removal. The
    topic also has the marks of layers (:class:`LayerMark`), under keys that no query can have. The offset of a record
    is a version: the state at version v has the last record of each key up to offset v.

    Every write is one Kafka transaction, so a bulk load is read as a whole or not at all. The transactional id fences
    an older daemon with the same registry. History younger than ``RETENTION_MS`` is kept, so that ``state_at`` answers
    for every version with which a batch can be replayed.

    Not thread-safe: the caller holds one lock over ``write``.
    """

    def __init__(self, cluster: KafkaCluster, topic: str) -> None:
        self._cluster = cluster
        self.topic = topic
        self._producer: Any = None
        self._odd_keys: dict[str, bytes] = {}
        """The keys of records that are not valid UTF-8, by the id under which such a record is listed. The daemon never
        writes such keys.
        """

    def open(self) -> None:
        """Create or check the topic, and open a producer for it."""
        self.make()
        self._producer = self._cluster.client.producer(
            transactional_id=f"asc-registry-{self.topic}",
            transaction_timeout_ms=_TRANSACTION_MS,
            max_request_size=16 * 1024 * 1024,
            batch_size=_BATCH_BYTES,
            linger_ms=5,
        )
        try:
            self._producer.init_transactions()
        except Exception as error:
            remedy = f"cannot be written: {one_line(error)}"
            if "Timeout" in type(error).__name__:
                remedy += f"; do the brokers allow transactions of {_TRANSACTION_MS} ms (transaction.max.timeout.ms)?"
            raise RegistryError("registry topic", self.topic, remedy) from error

    def make(self) -> None:
        """Create the topic if it is missing, and check its settings."""
        self._cluster.ensure_topics([self.topic], KEPT)
        if len(self._cluster.partitions(self.topic)) != 1:
            raise RegistryError("registry topic", self.topic, "has several partitions: name a topic of one partition")
        self._check_settings()

    def _check_settings(self) -> None:
        """Raise RegistryError if the topic's settings would lose queries or their history."""
        settings = self._cluster.topic_settings(self.topic)
        policy = settings["cleanup.policy"]
        if policy != "compact":
            what = "loses what is old" if "compact" in policy else "is not compacted"
            raise RegistryError("registry topic", self.topic, f"{what}: set its cleanup.policy to compact alone")
        for name in RETENTION_SETTINGS:
            if int(settings[name]) < RETENTION_MS:
                remedy = f"forgets too soon what a batch may be run again with: set its {name} to {RETENTION_MS}"
                raise RegistryError("registry topic", self.topic, remedy)

    def close(self) -> None:
        if self._producer is not None:
            self._producer.close(timeout=5)
            self._producer = None

    def load(self) -> Held:
        """Return the current queries and marks.

        The version is the offset of the last record, or -1 if there is none.
        """
        return self._fold(None)

    def records_after(self, version: int) -> list[tuple[int, str, RegisteredQuery | LayerMark | None]] | None:
        """Return the records after a version in order: offset, id, and the query, or None for a removal.

        The mark of a layer has its own key as the id. Return None if the topic does not contain the version, because
        its records expired, or because the topic was created anew.
        """
        found = [
            (offset, query_id, None if value is None else _read(query_id, value, offset))
            for offset, query_id, value in self._records(version + 1)
        ]
        return found if self._reaches(version) else None

    def state_at(self, version: int) -> Held:
        """Return the state at a version that is younger than ``RETENTION_MS``. The topic is read from its start."""
        return self._fold(version)

    def write(
        self,
        puts: Iterable[RegisteredQuery],
        removes: Iterable[str] = (),
        marks: Mapping[str, LayerMark] | None = None,
    ) -> dict[str, int]:
        """Write queries, removals and marks of layers in one transaction, and return the offset of each record by id.

        Raise RegistryError if the write fails. Then nothing is written, unless Kafka failed during the commit. In this
        case, call ``open`` and ``load`` to find out.
        """
        from kafka.errors import InvalidProducerEpochError, ProducerFencedError

        producer = self._producer
        try:
            producer.begin_transaction()
            sent = {
                query.id: producer.send(self.topic, query.record(), self._key(query.id), partition=0) for query in puts
            }
            for query_id in removes:
                sent[query_id] = producer.send(self.topic, None, self._key(query_id), partition=0)
            for name, mark in (marks or {}).items():
                key = KEY_PREFIX + name
                sent[key] = producer.send(self.topic, mark.record(), key.encode(), partition=0)
            producer.flush()
            offsets = {query_id: int(future.get(timeout=30).offset) for query_id, future in sent.items()}
            producer.commit_transaction()
        except (ProducerFencedError, InvalidProducerEpochError) as error:
            raise RegistryTakenError(
                "registry topic", self.topic, "another daemon has taken it over: stop one of the two"
            ) from error
        except Exception as error:
            self._abort()
            raise RegistryError("registry topic", self.topic, f"cannot be written: {one_line(error)}") from error
        return offsets

    def _key(self, query_id: str) -> bytes:
        return self._odd_keys.get(query_id) or query_id.encode()

    def _id(self, key: bytes) -> str:
        try:
            return key.decode()
        except UnicodeDecodeError:
            shown = key.decode("utf-8", "backslashreplace")
            self._odd_keys[shown] = key
            return shown

    def _abort(self) -> None:
        try:
            self._producer.abort_transaction()
        except Exception as error:
            LOG.warning("registry topic '%s': a transaction could not be aborted: %s", self.topic, one_line(error))

    def _fold(self, version: int | None) -> Held:
        values: dict[str, tuple[bytes, int]] = {}
        last = -1
        for offset, query_id, value in self._records():
            if version is not None and offset > version:
                break
            last = offset
            if value is None:
                values.pop(query_id, None)
            else:
                values[query_id] = (value, offset)
        read = {key: _read(key, value, at) for key, (value, at) in values.items()}
        queries = {key: found for key, found in read.items() if isinstance(found, RegisteredQuery)}
        marks = {key.removeprefix(KEY_PREFIX): found for key, found in read.items() if isinstance(found, LayerMark)}
        return Held(queries, marks, last if version is None else version)

    def _reaches(self, version: int) -> bool:
        (first,), (end,) = (self._cluster.offsets(self.topic, end=end).values() for end in (False, True))
        return first <= version < end

    def _records(self, first: int = 0) -> Iterator[tuple[int, str, bytes | None]]:
        """Yield the committed records from an offset on."""
        from kafka import TopicPartition

        partition = TopicPartition(self.topic, 0)
        consumer = self._cluster.client.consumer(
            isolation_level="read_committed", auto_offset_reset="earliest", enable_auto_commit=False
        )
        try:
            consumer.assign([partition])
            end = consumer.end_offsets([partition])[partition]
            if first:
                consumer.seek(partition, min(first, end))
            else:
                consumer.seek_to_beginning(partition)
            deadline = time.monotonic() + 60
            while consumer.position(partition) < end:
                batches = consumer.poll(timeout_ms=_POLL_MS, max_records=10_000)
                for record in batches.get(partition, ()):
                    deadline = time.monotonic() + 60
                    if record.offset < end and record.key is not None:
                        yield record.offset, self._id(record.key), record.value
                if time.monotonic() > deadline:
                    raise RegistryError("registry topic", self.topic, "does not answer: check that Kafka runs")
        finally:
            consumer.close()


def _read(key: str, value: bytes, offset: int) -> RegisteredQuery | LayerMark:
    return LayerMark.of(value) if key.startswith(KEY_PREFIX) else RegisteredQuery.from_record(key, value, offset)
