"""The look-ups of a daemon, each in a compacted topic ``asc.lookup.NAME``. The daemon reads these topics when it
starts, follows them afterwards, and writes to them when a user stores or removes a look-up.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from asc.errors import CubeError
from asc.operators.cube.looked_up import Lookups
from asc.operators.cube.lookup import Lookup, check_lookup_name
from broker.config.config import Config
from broker.errors import BrokerError, KafkaError, NotThereError, TopicError
from broker.failure import one_line
from broker.kafka.cluster import KafkaCluster
from broker.kafka.retention import COMPACTED
from broker.operators.cube.lookup_log import COMMIT_KEY, LookupLog, StoredLookup, messages_of

LOG = logging.getLogger("asc.cubes")

LOOKUP_TOPIC = Config.lookup_topic("")
"""The prefix of the topics of look-ups."""
LOOKUPS_MAX = 100
"""The most look-ups of a daemon."""
LOOKUPS_BYTES_MAX = 512 << 20
"""The most bytes of the tables of all look-ups together, in memory."""

_CHUNK_BYTES = 1 << 19
_FLUSHED_CHUNKS = 16
_POLL_MS = 200
_LOOK_MS = 20
_SILENT_S = 30.0
_LEADER_S, _LEADER_POLL_S = 10.0, 0.05
"""The seconds to wait until a topic has a leader, and the seconds between two requests for it."""
_LISTED_EACH_S = 30.0
"""The seconds after which the topics of Kafka are listed again, to find look-ups that another daemon has created."""


class LookupStore:
    """The store of look-ups in the topics of a Kafka cluster. Thread-safe: questions read the mapping ``now``, which is
    immutable and is replaced as a whole.

    Invariant: after :meth:`put` or :meth:`remove` returns, ``now`` contains the change, because it was read back from
    the topic. ``now`` has at most LOOKUPS_MAX tables, with together at most LOOKUPS_BYTES_MAX bytes; further look-ups
    are not used.
    """

    def __init__(self, cluster: KafkaCluster) -> None:
        self._cluster = cluster
        self._lock = threading.RLock()
        self._logs: dict[str, LookupLog] = {}
        self._skipped: dict[str, int] = {}
        self._consumer: Any = None
        self._listed_s = 0.0
        self._is_behind = False
        self.stored: Mapping[str, StoredLookup] = MappingProxyType({})
        self.now: Lookups = MappingProxyType({})

    def load(self) -> None:
        """Read the topics of all look-ups. Raise KafkaError if Kafka does not answer."""
        with self._lock:
            start_s = time.monotonic()
            self._list()
            self._read(self._ends())
            if self.stored:
                rows = sum(own.rows for own in self.now.values())
                LOG.info("%d look-ups, %d rows, read in %.1f s", len(self.now), rows, time.monotonic() - start_s)

    def follow(self) -> None:
        """Read what other daemons have written since the last call. Call this often. Raise KafkaError."""
        with self._lock:
            if time.monotonic() - self._listed_s > _LISTED_EACH_S:
                self._list()
            self._read(self._ends())

    def keep_up(self) -> None:
        """Follow the topics, as :meth:`follow` does, without raising errors. While Kafka does not answer, log one
        warning.
        """
        try:
            self.follow()
            self._is_behind = False
        except BrokerError as error:
            if not self._is_behind:
                LOG.warning("look-ups of cubes are not followed: %s", error)
            self._is_behind = True

    def put(self, lookup: Lookup) -> StoredLookup:
        """Store a look-up, which replaces the look-up with the same name, and return it.

        Raise CubeError if the look-ups would exceed their limits. Raise KafkaError or TopicError if Kafka refuses.
        """
        with self._lock:
            self._list()
            self._read(self._ends())
            self._check_limits(lookup)
            topic = LOOKUP_TOPIC + lookup.name
            settings = {**COMPACTED, "max.message.bytes": str(self._cluster.request_bytes)}
            self._cluster.ensure_topics([topic], settings)
            policy = self._cluster.topic_settings(topic)["cleanup.policy"]
            if policy != COMPACTED["cleanup.policy"]:
                remedy = f"loses what is old, by cleanup.policy {policy}: set it to compact alone"
                raise TopicError("topic of look-up", topic, remedy)
            stale = self._logs[lookup.name].stale_keys if lookup.name in self._logs else ()
            self._logs.setdefault(lookup.name, LookupLog(lookup.name))
            chunk_bytes = min(_CHUNK_BYTES, self._cluster.record_limits([topic])[topic] // 2)
            table_id = uuid.uuid4().hex
            written = self._written(topic, messages_of(lookup, table_id, chunk_bytes), stale)
            self._read({lookup.name: written})
            found = self.stored.get(lookup.name)
            if found is None or found.lookup.stamp != table_id:
                raise TopicError("topic of look-up", topic, "has another table now: does a second daemon write to it?")
            return found

    def remove(self, name: str) -> None:
        """Remove a look-up. Raise NotThereError if there is none, and KafkaError or TopicError if Kafka refuses."""
        check_lookup_name(name)
        with self._lock:
            self._list()
            self._read(self._ends())
            log = self._logs.get(name)
            if log is None or (log.stored is None and not log.stale_keys):
                raise no_lookup(name, self.now)
            written = self._written(LOOKUP_TOPIC + name, [], (COMMIT_KEY, *sorted(log.stale_keys)))
            self._read({name: written})

    def close(self) -> None:
        """Close the Kafka consumer with which the topics of look-ups are followed."""
        with self._lock:
            self._close_consumer()

    def _check_limits(self, lookup: Lookup) -> None:
        others = [own for name, own in self.now.items() if name != lookup.name]
        if len(others) >= LOOKUPS_MAX:
            raise CubeError("look-up", lookup.name, f"is one more than {LOOKUPS_MAX}, the limit: remove another one")
        size_bytes = lookup.size_bytes + sum(own.size_bytes for own in others)
        if size_bytes > LOOKUPS_BYTES_MAX:
            remedy = f"and the others have over {LOOKUPS_BYTES_MAX >> 20} MiB, the limit: remove one"
            raise CubeError("look-up", lookup.name, remedy)

    def _written(self, topic: str, messages: Iterable[tuple[bytes, bytes]], stale: Iterable[bytes]) -> int:
        """Write messages, and tombstones for stale keys after them. Return the offset after the last message."""
        producer: Any = self._cluster.client.producer(max_request_size=self._cluster.request_bytes, linger_ms=5)
        sent: list[Any] = []
        try:
            for count, (key, value) in enumerate(messages, 1):
                # The commit is sent after all chunks are acknowledged.
                if key == COMMIT_KEY or count % _FLUSHED_CHUNKS == 0:
                    _acknowledged(producer, sent)
                sent.append(producer.send(topic, value, key, partition=0))
            _acknowledged(producer, sent)
            sent += [producer.send(topic, None, key, partition=0) for key in stale]
            _acknowledged(producer, sent)
            return int(sent[-1].get().offset) + 1
        except Exception as error:
            raise TopicError("topic of look-up", topic, f"cannot be written: {one_line(error)}") from error
        finally:
            producer.close(timeout=5)

    # -- reading

    def _list(self) -> None:
        """Find the topics of look-ups. Forget look-ups whose topics were deleted."""
        topics = self._cluster.topics()
        self._listed_s = time.monotonic()
        names = set(filter(_is_name, (topic.removeprefix(LOOKUP_TOPIC) for topic in topics if _is_topic(topic))))
        for name in names - self._logs.keys():
            self._logs[name] = LookupLog(name)
        gone = self._logs.keys() - names
        for name in gone:
            del self._logs[name]
        if gone:
            self._publish()

    def _ends(self) -> dict[str, int]:
        """Return the present end offset of each look-up's topic, by the name of the look-up. Raise KafkaError if a
        topic has no leader.
        """
        from kafka import TopicPartition

        partitions = {TopicPartition(LOOKUP_TOPIC + name, 0): name for name in self._logs}
        if not partitions:
            return {}
        until_s = time.monotonic() + _LEADER_S
        with self._cluster.client.clear_errors():
            while True:
                try:
                    ends = self._following().end_offsets(list(partitions))
                    return {partitions[each]: end for each, end in ends.items()}
                except KeyError as error:
                    # Kafka's client omits a partition without a leader, such as one that was just created.
                    if time.monotonic() > until_s:
                        remedy = "has no leader: look at Kafka's nodes"
                        raise KafkaError("topic of a look-up", str(error.args[0].topic), remedy) from None
                    time.sleep(_LEADER_POLL_S)

    def _read(self, ends: Mapping[str, int]) -> None:
        """Read the topics at least up to the offsets ``ends``, by name of look-up. Then use the newest tables."""
        if not self._logs:
            return
        try:
            with self._cluster.client.clear_errors():
                self._take(ends)
        except BaseException:
            # The consumer may have read messages that the logs have not taken. A new consumer begins at the logs'
            # offsets.
            self._close_consumer()
            raise
        changed = [log.name for log in self._logs.values() if log.settle()]
        if changed or self._is_removed():
            self._publish()

    def _take(self, ends: Mapping[str, int]) -> None:
        from kafka import TopicPartition

        consumer = self._following()
        places = {TopicPartition(LOOKUP_TOPIC + name, 0): log for name, log in self._logs.items()}
        if consumer.assignment() != places.keys():
            consumer.assign(list(places))
            for each, log in places.items():
                if log.next_offset:
                    consumer.seek(each, log.next_offset)
                else:
                    consumer.seek_to_beginning(each)
        awaited = {each: ends[log.name] for each, log in places.items() if log.name in ends}
        until_s = time.monotonic() + _SILENT_S
        while True:
            awaited = {each: end for each, end in awaited.items() if (consumer.position(each) or 0) < end}
            found = consumer.poll(timeout_ms=_POLL_MS if awaited else _LOOK_MS)
            if not found and not awaited:
                return
            for each, records in found.items():
                until_s = time.monotonic() + _SILENT_S
                for record in records:
                    places[each].take(record.key, record.value, record.offset, 1_000 * max(0, record.timestamp))
            if time.monotonic() > until_s:
                topic = next(iter(awaited)).topic if awaited else LOOKUP_TOPIC
                raise KafkaError("topic of look-up", topic, "does not answer: check that Kafka runs")

    def _following(self) -> Any:
        if self._consumer is None:
            self._consumer = self._cluster.client.consumer(
                isolation_level="read_committed", auto_offset_reset="earliest", enable_auto_commit=False
            )
        return self._consumer

    def _close_consumer(self) -> None:
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            consumer.close()

    def _is_removed(self) -> bool:
        return any(name not in self._logs or self._logs[name].stored is None for name in self.stored)

    def _publish(self) -> None:
        """Replace ``now``. Look-ups that are already in use have priority, so that a new look-up beyond the limits is
        not used.
        """
        order = sorted(self._logs, key=lambda name: (name not in self.stored, name))
        used: dict[str, StoredLookup] = {}
        size_bytes = 0
        skipped: dict[str, int] = {}
        for name in order:
            stored = self._logs[name].stored
            if stored is None:
                continue
            own_bytes = stored.lookup.size_bytes
            if len(used) >= LOOKUPS_MAX or size_bytes + own_bytes > LOOKUPS_BYTES_MAX:
                skipped[name] = stored.offset
                if self._skipped.get(name) != stored.offset:
                    most = f"{LOOKUPS_MAX} look-ups and {LOOKUPS_BYTES_MAX >> 20} MiB"
                    LOG.warning("look-up '%s' is not used: the others reach the limit of %s", name, most)
                continue
            used[name] = stored
            size_bytes += own_bytes
        self._skipped = skipped
        self.stored = MappingProxyType(dict(sorted(used.items())))
        self.now = MappingProxyType({name: own.lookup for name, own in self.stored.items()})


def no_lookup(name: str, lookups: Lookups) -> NotThereError:
    """Return the error for a look-up that does not exist. The error names the look-ups ``lookups`` that do exist."""
    shown = ", ".join(list(lookups)[:20]) or "none"
    return NotThereError("look-up", name[:100], f"is not there: there are {shown}")


def _acknowledged(producer: Any, sent: list[Any]) -> None:
    producer.flush()
    for future in sent:
        future.get(timeout=_SILENT_S)


def _is_topic(topic: str) -> bool:
    return topic.startswith(LOOKUP_TOPIC)


def _is_name(name: str) -> bool:
    try:
        check_lookup_name(name)
    except CubeError:
        return False
    return True
