"""The writer of the feed's control messages: the settings of each kind of operator, and watermarks."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from asc.operators.feed import TIME_KEY, Settings, Watermarks
from asc.operators.feed_claim import claim_of
from broker.config.config import Config
from broker.kafka.cluster import KafkaCluster
from broker.operators.feed_destination import FeedDestination
from broker.operators.feed_part import PARTS, part_of
from broker.operators.feed_topic import make_feed
from broker.operators.kinds import feed_kinds
from broker.stream.metrics.event_time import Marks

_ALL_PARTS = frozenset(range(PARTS))
_CLOSED_WITHIN_S = 2


class _Message(NamedTuple):
    """A control message for some parts of the feed, under the Kafka key by which readers select their messages."""

    key: str
    text: str
    parts: Collection[int]


class _Written(NamedTuple):
    """The state of the feed as this writer wrote it: the settings and parts of each kind, and the marks of
    event time.
    """

    settings: Mapping[str, tuple[Settings, frozenset[int]]]
    marks: Marks

    @property
    def parts(self) -> frozenset[int]:
        """Return the parts of the feed that have queries."""
        return frozenset[int]().union(*(parts for _, parts in self.settings.values()))


class FeedWriter:
    """The writer of settings and watermarks into the parts of a feed, before the observations of a batch.

    A part gets only messages that concern its queries. Invariant: Kafka acknowledges the messages before the batch
    writes. So in each part they precede the observations of the batch, however the feed is later cut into batches. Only
    one batch of the job runs at a time.

    After a start or a failure, all parts get the settings again. Before its first message, the writer claims the feed
    in a transaction (:mod:`asc.operators.feed_claim`). Invariant: the claim of a replaced daemon never follows the
    claim of its successor. Either Kafka fences the replaced daemon, or it finds that its folder was taken over.

    Cost: up to sixteen small records (one for each part) for each batch that advances a watermark, and the settings of
    a kind whenever they change.
    """

    def __init__(self, stream: str, config: Config, cluster: KafkaCluster, check_folder: Callable[[], None]) -> None:
        """Create the writer.

        ``check_folder`` raises BrokerError if another daemon has taken over the stream's folder.
        """
        self.topic = config.feed_topic(stream)
        self.name = uuid.uuid4().hex[:12]
        """The id of this writer, which its messages and the observations of this daemon carry."""
        self._has_claimed = False
        self._check_folder = check_folder
        own = config.streams[stream]
        self._source_topic, self._is_planar = own.topic, own.crs == "planar"
        self._limits = config.limits
        self._lateness_us = round(own.lateness_s * 1_000_000)
        self._cluster = cluster
        self._producer: Any = None
        self._written: _Written | None = None

    @property
    def has_queries(self) -> bool:
        """Return whether the settings that this writer wrote last contain a query."""
        written = self._written
        return written is not None and any(settings.queries for settings, _ in written.settings.values())

    def begin(self, destinations: Sequence[FeedDestination], marks: Marks) -> None:
        """Write the settings and watermarks of a batch if they differ from the previous batch. Raise KafkaError."""
        now = _Written({op: self._settings_of(op, destinations) for op in feed_kinds()}, dict(marks))
        messages = [*self._changed_settings(now), *self._changed_marks(now)]
        if not messages:
            return
        if not destinations:
            # The stream's last query with an operator is gone, so nothing else ensures that the topic exists.
            make_feed(self._cluster, self.topic)
        # If the batch fails in the middle, the next attempt writes everything again.
        self._written = None
        if not self._has_claimed:
            self._claim()
            self._has_claimed = True
        self._send(messages)
        self._written = now

    def _changed_settings(self, now: _Written) -> Iterable[_Message]:
        for op, (settings, parts) in now.settings.items():
            if self._written is None:
                yield _Message(op, settings.text(self.name), _ALL_PARTS)
                continue
            before, parts_before = self._written.settings[op]
            if settings != before:
                # The parts that had queries before forget them.
                yield _Message(op, settings.text(self.name), parts | parts_before)

    def _changed_marks(self, now: _Written) -> Iterable[_Message]:
        if not now.marks:
            return
        if self._written is None:
            parts = _ALL_PARTS
        elif self._written.marks != now.marks:
            parts = now.parts
        else:
            # A new part with queries has no watermark yet, and needs it to recognise late records.
            parts = now.parts - self._written.parts
        if parts:
            watermarks = Watermarks({name: mark - self._lateness_us for name, mark in now.marks.items()})
            yield _Message(TIME_KEY, watermarks.text(self.name), parts)

    def _settings_of(self, op: str, destinations: Sequence[FeedDestination]) -> tuple[Settings, frozenset[int]]:
        own = [each for each in destinations if each.track.op == op]
        queries = tuple(sorted((each.query for each in own), key=lambda query: query.id))
        limit = feed_kinds()[op].held_limit(self._limits, len(queries))
        parts = frozenset[int]().union(*map(_parts_of, own))
        return Settings(op, self._source_topic, self._is_planar, limit, queries, self._lateness_us), parts

    def forget(self) -> None:
        """Have the next batch write all settings and watermarks, because the feed may have lost them in a failure."""
        self._written = None
        self.close()

    def close(self) -> None:
        """Close the producer."""
        producer, self._producer = self._producer, None
        if producer is not None:
            with suppress(Exception):
                producer.close(timeout=_CLOSED_WITHIN_S)

    def _claim(self) -> None:
        client = self._cluster.client
        with client.clear_errors():
            producer = client.producer(transactional_id=f"asc-claim-{self.topic}")
            try:
                producer.init_transactions()
                # A daemon that was suspended before this line would fence the leader, instead of being fenced itself.
                self._check_folder()
                producer.begin_transaction()
                for part in range(PARTS):
                    producer.send(self.topic, claim_of(self.name).encode(), key=TIME_KEY.encode(), partition=part)
                producer.commit_transaction()
            finally:
                producer.close(timeout=_CLOSED_WITHIN_S)

    def _send(self, messages: Sequence[_Message]) -> None:
        client = self._cluster.client
        with client.clear_errors():
            # The settings of ten thousand queries have two megabytes, and the limit of some feeds is Kafka's default of
            # one.
            self._producer = self._producer or client.producer(
                max_request_size=self._cluster.request_bytes, compression_type="gzip"
            )
            sent = [
                self._producer.send(self.topic, message.text.encode(), key=message.key.encode(), partition=part)
                for message in messages
                for part in sorted(message.parts)
            ]
            self._producer.flush()
            for future in sent:
                future.get(timeout=client.timeout_s)


def _parts_of(destination: FeedDestination) -> frozenset[int]:
    track = destination.track
    return _ALL_PARTS if track.by_key else frozenset({part_of(track.name)})
