"""The layers of a daemon. Their topics are read completely at the start, and then followed; the daemon may also write
to them.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from broker.config.config import Config
from broker.config.layer_config import LayerConfig
from broker.errors import KafkaError, QueryError, TopicError
from broker.failure import one_line
from broker.kafka.cluster import KafkaCluster
from broker.kafka.retention import KEPT, RETENTION_MS, RETENTION_SETTINGS
from broker.layers.mark import LayerMark
from broker.layers.stored_layer import StoredLayer
from broker.plans.offsets import Offsets

LOG = logging.getLogger("asc.layers")

_READ_ROWS = 5_000
"""The rows that are read and validated together."""

_SILENT_S = 60.0
_POLL_MS = 200
_LOOK_MS = 50
"""The time in milliseconds for which a look at the topics waits for new records. Records that are already in the topics
arrive within this time.
"""

_WRITTEN_S = 30.0


class _Record(NamedTuple):
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class News:
    """The state of a layer before and after new records, and the ids of the changed rows.

    ``has_more``: whether further records may exist, because the limit of records read together was reached.
    """

    before: StoredLayer
    after: StoredLayer
    changed: frozenset[str]
    has_more: bool


class Layers:
    """Reader of the layers' topics, and one of their writers; others may write to the topics as well.

    A record's key is a row's id. Its value is a GeoJSON Feature, or null if the row was removed. The records before a
    mark (:class:`LayerMark`, the offsets of a layer's topic) determine the content of the layer at that mark, whenever
    they are read. The registry stores the mark of every version. Not thread-safe except for :meth:`write`: the caller
    holds one lock over all other calls.
    """

    def __init__(self, config: Config, cluster: KafkaCluster) -> None:
        self._config = config
        self._cluster = cluster
        self._consumer: Any = None
        self._writing = threading.Lock()
        self._producer: Any = None

    @property
    def configured(self) -> Mapping[str, LayerConfig]:
        """The configured layers, by name."""
        return self._config.layers

    def make(self) -> None:
        """Create the missing topics, and check the existing ones. Raise TopicError if a topic would lose shapes."""
        settings = {**KEPT, "max.message.bytes": str(self._config.kafka.request_bytes)}
        for name, layer in self._config.layers.items():
            self._cluster.ensure_topics([layer.topic], settings)
            found = self._cluster.topic_settings(layer.topic)
            if found["cleanup.policy"] != "compact":
                remedy = "loses what is old: set its cleanup.policy to compact alone"
                raise TopicError("topic of layer", layer.topic, remedy)
            short = [key for key in RETENTION_SETTINGS if int(found[key]) < RETENTION_MS]
            if short:
                LOG.warning(
                    "layer '%s': its topic forgets within a week what a batch may be run again with: set %s to %d",
                    name,
                    " and ".join(short),
                    RETENTION_MS,
                )

    def empty(self, name: str) -> StoredLayer:
        """Return a layer without any records of its topic."""
        limits = self._config.limits
        return StoredLayer(self._config.layers[name].rules(limits), limits.layer_shapes)

    def at(
        self, marks: Mapping[str, LayerMark], since: Mapping[str, LayerMark] | None = None
    ) -> tuple[dict[str, StoredLayer], dict[str, set[str] | None]]:
        """Return the layers at the given marks, and the ids of the rows that changed since the marks ``since``.

        Without ``since``, return all ids. The ids are None if the topic was replaced, because any row may have changed
        then.
        """
        layers: dict[str, StoredLayer] = {}
        changed: dict[str, set[str] | None] = {}
        for name, layer in self._config.layers.items():
            mark, before = marks.get(name, LayerMark()), (since or {}).get(name, LayerMark())
            topic_id = self._cluster.topic_id(layer.topic)
            if mark.offsets and mark.topic_id != topic_id:
                LOG.warning("layer '%s': its topic is another one now: it is read from its start", name)
                layers[name], changed[name] = self.empty(name), None
                continue
            start_s = time.monotonic()
            layers[name], ids = self._read(name, mark, before)
            changed[name] = ids if before.topic_id == mark.topic_id or not before.offsets else None
            if mark.offsets:
                rows, took_s = len(layers[name].rows), time.monotonic() - start_s
                LOG.info("layer '%s': %d rows read in %.1f s", name, rows, took_s)
        return layers, changed

    def news(self, current: Mapping[str, StoredLayer], until: Mapping[str, Offsets] | None = None) -> dict[str, News]:
        """Return the changes by layer, for layers whose topics have new records. ``until``: by layer, the offsets up to
        which to wait for records.
        """
        from kafka import TopicPartition

        if not self._config.layers:
            return {}
        topics = {layer.topic: name for name, layer in self._config.layers.items()}
        consumer = self._following(current)
        taken: dict[str, list[_Record]] = {}
        deadline = time.monotonic() + _WRITTEN_S
        awaited = [
            (TopicPartition(self._config.layers[name].topic, partition), offset)
            for name, offsets in (until or {}).items()
            for partition, offset in offsets.items()
        ]
        while True:
            given = consumer.poll(timeout_ms=_POLL_MS if awaited else _LOOK_MS, max_records=_READ_ROWS)
            for each, records in given.items():
                found = (_Record(each.partition, one.offset, one.key, one.value) for one in records)
                taken.setdefault(topics[each.topic], []).extend(found)
            awaited = [(each, offset) for each, offset in awaited if (consumer.position(each) or 0) < offset]
            if (not given and not awaited) or sum(map(len, taken.values())) >= _READ_ROWS:
                break
            if awaited and time.monotonic() > deadline:
                raise KafkaError("layer topic", awaited[0][0].topic, "does not give what was written to it: try again")
        has_more = sum(map(len, taken.values())) >= _READ_ROWS
        return {name: self._after(name, current[name], records, has_more) for name, records in taken.items()}

    def write(self, name: str, puts: Mapping[str, bytes], removes: Collection[str] = ()) -> Offsets:
        """Write Features and removals to a layer's topic in one transaction. Return the offsets after them, by
        partition.
        """
        topic = self._config.layers[name].topic
        with self._writing:
            try:
                return self._written(topic, puts, removes)
            except Exception as error:
                # The next write uses a new producer, which aborts the open transaction of this one.
                self._close_producer()
                raise TopicError("topic of layer", topic, f"cannot be written: {one_line(error)}") from error

    def _written(self, topic: str, puts: Mapping[str, bytes], removes: Collection[str]) -> Offsets:
        if self._producer is None:
            self._producer = self._cluster.client.producer(
                transactional_id=f"asc-layers-{self._config.kafka.registry_topic}",
                max_request_size=self._config.kafka.request_bytes,
                linger_ms=5,
            )
            self._producer.init_transactions()
        self._producer.begin_transaction()
        sent = [self._producer.send(topic, value, key.encode()) for key, value in puts.items()]
        sent += [self._producer.send(topic, None, key.encode()) for key in removes]
        self._producer.flush()
        offsets: Offsets = {}
        for future in sent:
            written = future.get(timeout=_WRITTEN_S)
            offsets[written.partition] = max(written.offset + 1, offsets.get(written.partition, 0))
        self._producer.commit_transaction()
        return offsets

    def close(self) -> None:
        """Stop following the topics and writing to them."""
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None
        with self._writing:
            self._close_producer()

    def _close_producer(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            producer.close(timeout=5)

    # -- reading

    def _following(self, current: Mapping[str, StoredLayer]) -> Any:
        """Return the consumer of all partitions, positioned at the next record of each layer."""
        from kafka import TopicPartition

        if self._consumer is None:
            self._consumer = self._new_consumer()
        wanted = {
            TopicPartition(layer.topic, partition): current[name].mark.offsets.get(partition, 0)
            for name, layer in self._config.layers.items()
            # A topic may be given more partitions.
            for partition in {*current[name].mark.offsets, *(self._consumer.partitions_for_topic(layer.topic) or ())}
        }
        if self._consumer.assignment() != wanted.keys():
            self._consumer.assign(list(wanted))
        for each, offset in wanted.items():
            if self._consumer.position(each) != offset:
                self._consumer.seek(each, offset)
        return self._consumer

    def _new_consumer(self) -> Any:
        return self._cluster.client.consumer(
            isolation_level="read_committed", auto_offset_reset="earliest", enable_auto_commit=False
        )

    def _after(self, name: str, before: StoredLayer, records: Sequence[_Record], has_more: bool) -> News:
        mark = self._mark(name, before.mark, records)
        after, changed = before.after([(one.key, one.value) for one in records], mark)
        return News(before, after, frozenset(changed), has_more)

    def _mark(self, name: str, before: LayerMark, records: Sequence[_Record]) -> LayerMark:
        topic = self._config.layers[name].topic
        offsets = dict(before.offsets) or dict.fromkeys(self._cluster.partitions(topic), 0)
        for one in records:
            offsets[one.partition] = max(one.offset + 1, offsets.get(one.partition, 0))
        return LayerMark(offsets, before.topic_id or self._cluster.topic_id(topic))

    def _read(self, name: str, mark: LayerMark, before: LayerMark) -> tuple[StoredLayer, set[str]]:
        """Return a layer at a mark, read from the start of its topic, and the ids of the rows that changed after the
        mark ``before``.
        """
        found, changed = replace(self.empty(name), mark=mark), set[str]()
        for records in self._pieces(self._config.layers[name].topic, mark.offsets):
            found, _ = found.after([(one.key, one.value) for one in records], mark)
            later = (one for one in records if one.offset >= before.offsets.get(one.partition, 0))
            changed.update(one.key.decode("utf-8", "replace") for one in later if one.key)
        return found, changed

    def _pieces(self, topic: str, ends: Offsets) -> Iterator[list[_Record]]:
        """Yield the committed records of a topic before the given offsets, in pieces of some thousands."""
        from kafka import TopicPartition

        left = {TopicPartition(topic, partition): end for partition, end in ends.items() if end > 0}
        if not left:
            return
        consumer = self._new_consumer()
        try:
            consumer.assign(list(left))
            consumer.seek_to_beginning(*left)
            deadline = time.monotonic() + _SILENT_S
            piece: list[_Record] = []
            while any(consumer.position(each) < end for each, end in left.items()):
                for each, records in consumer.poll(timeout_ms=_POLL_MS, max_records=_READ_ROWS).items():
                    deadline = time.monotonic() + _SILENT_S
                    wanted = (one for one in records if one.offset < left[each])
                    piece += [_Record(each.partition, one.offset, one.key, one.value) for one in wanted]
                    if consumer.position(each) >= left[each]:
                        consumer.pause(each)
                if len(piece) >= _READ_ROWS:
                    yield piece
                    piece = []
                if time.monotonic() > deadline:
                    raise KafkaError("layer topic", topic, "does not answer: check that Kafka runs")
            if piece:
                yield piece
        finally:
            consumer.close()


def check_layer(name: str, layers: Collection[str]) -> None:
    """Raise QueryError for a layer that is not configured."""
    if name not in layers:
        known = ", ".join(sorted(layers)) or "none is configured ([layers.NAME] with topic = ...)"
        raise QueryError("unknown layer", name[:200], f"known: {known}")
