"""What the job of a stream tells its feed beside observations: which queries stand, and how far time has come."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from asc.errors import AscError
from asc.operators.feed import EventQuery, NearQuery, Settings, Watermarks
from broker.config.config import Config
from broker.errors import TopicError
from broker.kafka.cluster import KafkaCluster
from broker.matching.tally import Tally
from broker.operators.fed_destination import FedDestination, Track
from broker.operators.feeding import BUCKETS
from broker.stream.event_time import EventTime, Marks

_SETTINGS = {"retention.ms": str(86_400_000)}
"""Of a feed that is made: a day, in which the second query reads it."""


class FeedWriter:
    """Writes settings and watermarks into every partition of a feed, before the observations that they hold for.

    Invariant: they are acknowledged before a batch writes, so that in each partition they stand before its
    observations, in whatever pieces that is read. The job's batches come one at a time. Cost: sixteen small records a
    batch that moves the time, and the queries sixteen times where they change.
    """

    def __init__(self, stream: str, config: Config, cluster: KafkaCluster, folder: Path) -> None:
        self.topic = config.feed_topic(stream)
        own = config.streams[stream]
        self._settings = Settings(own.topic, own.crs == "planar", max(1, config.limits.stream_objects // BUCKETS), ())
        self._objects_max = config.limits.stream_objects
        self._lateness_us = round(own.lateness_s * 1_000_000)
        self._cluster = cluster
        self._time = EventTime(folder)
        self._producer: Any = None
        self._told: tuple[Settings, Marks] | None = None

    @property
    def is_used(self) -> bool:
        """Whether the feed may hold that queries stand: the last batch had some, of this daemon or of one before."""
        return self._time.has_tracks or bool(self._told and (self._told[0].queries or self._told[0].near))

    def begin(self, batch_id: int, found: Sequence[FedDestination]) -> None:
        """Say what holds for the observations of a batch. Raises KafkaError."""
        own = {one.track.name for one in found}
        marks = {track: mark for track, mark in self._time.before(batch_id).items() if track in own}
        told, now = self._told, (self._settings_of(found), marks)
        texts = []
        if told is None or told[0] != now[0]:
            texts.append(now[0].text())
        if marks and (told is None or told[1] != marks):
            texts.append(Watermarks({track: mark - self._lateness_us for track, mark in marks.items()}).text())
        if texts:
            if not found:
                # Of a stream that has had its last query with an operator nothing else looks after the topic.
                make_feed(self._cluster, self.topic)
            # What fails half way is said once more.
            self._told = None
            self._send(texts)
            self._told = now

    def _settings_of(self, found: Sequence[FedDestination]) -> Settings:
        queries = sorted((one.query for one in found), key=lambda query: query.id)
        events = tuple(query for query in queries if isinstance(query, EventQuery))
        near = tuple(query for query in queries if isinstance(query, NearQuery))
        # All of one query are in one part of the feed.
        room = max(1, self._objects_max // 2 // max(1, len(near)))
        return replace(self._settings, queries=events, near=near, near_objects_max=room)

    def passed(self, batch_id: int, tally: Tally | None, tracks: Sequence[Track]) -> None:
        """A batch of the queries of some tracks is written. Raises OSError."""
        newest = {} if tally is None else tally.newest
        self._time.passed(batch_id, newest, {track.name for track in tracks})

    def forget(self) -> None:
        """After a failure: what was said may not be there any more."""
        self._told = None
        self.close()

    def close(self) -> None:
        """Let the connection go."""
        producer, self._producer = self._producer, None
        if producer is not None:
            with suppress(Exception):
                producer.close(timeout=2)

    def _send(self, texts: Sequence[str]) -> None:
        client = self._cluster.client
        with client.clear_errors():
            self._producer = self._producer or client.producer(max_request_size=self._cluster.request_bytes)
            sent = [
                self._producer.send(self.topic, text.encode(), partition=bucket)
                for text in texts
                for bucket in range(BUCKETS)
            ]
            self._producer.flush()
            for future in sent:
                future.get(timeout=client.timeout_s)


def make_feed(cluster: KafkaCluster, topic: str) -> None:
    """Make a feed where it is missing; KafkaError where it cannot be, or has too few partitions."""
    cluster.ensure_topics([topic], _SETTINGS, partitions=BUCKETS)
    _check_partitions(cluster, topic)


def refused_feed(cluster: KafkaCluster, topic: str) -> AscError | None:
    """Why a feed cannot be made, or cannot be one; None where it can. KafkaError where Kafka does not answer."""
    refused, missing = cluster.destinations([topic], "feed")
    if refused or missing:
        return refused.get(topic)
    try:
        _check_partitions(cluster, topic)
    except TopicError as error:
        return error
    return None


def _check_partitions(cluster: KafkaCluster, topic: str) -> None:
    there = len(cluster.partitions(topic))
    if there < BUCKETS:
        raise TopicError("feed", topic, f"has {there} partitions, and {BUCKETS} are needed: give it so many")
