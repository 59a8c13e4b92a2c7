"""Settings and watermarks of a feed: written once, to the parts that need them, before the observations."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kafka.errors import KafkaError as ClientError

from asc.errors import AscError
from asc.operators.events.event_query import EventQuery
from asc.operators.exclusions import FeedCounts
from asc.operators.feed import QuerySettings, Settings, Watermarks
from asc.operators.feed_claim import ClaimedFeed
from asc.operators.near.near_query import NearQuery
from broker.config.config import Config, parse_config
from broker.errors import BrokerError
from broker.kafka.cluster import KafkaCluster
from broker.operators.feed_destination import FeedDestination, Track
from broker.operators.feed_part import PARTS, part_of
from broker.operators.feed_topic import make_feed
from broker.operators.kinds import feed_kinds
from broker.plans.binding import BatchBindings
from broker.plans.stream_folder import stream_folder, take_folder
from broker.stream.feed_writer import FeedWriter

if TYPE_CHECKING:
    from broker.kafka.embedded import EmbeddedKafka

pytestmark = pytest.mark.kafka

EVENTS = Track("7f", "events", "k", "t", (), None, observes_all=True, by_key=True)
NEAR = Track("n3", "near", "k", "t", ("x", "y"), (), observes_all=False, by_key=False)
TIME = EVENTS.time_name
LOW = EventQuery("low", "lows", EVENTS.name, TIME, ("a41c",), ("enter",), 0, 5_000_000).settings()
CLOSE = NearQuery("close", "closes", NEAR.name, TIME, ("a41c",), ("pair",), 5.0, 3, 1).settings()


@pytest.fixture
def config(kafka: EmbeddedKafka) -> Config:
    own = {"topic": "source", "format": "json", "schema": "n INT", "crs": "planar", "lateness_s": 2.5}
    return parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers},
            "limits": {"stream_objects": 1_600},
            "streams": {f"s-{uuid.uuid4().hex[:8]}": own},
        }
    )


@pytest.fixture
def cluster(config: Config, kafka: EmbeddedKafka) -> Iterator[KafkaCluster]:
    cluster = KafkaCluster(kafka.bootstrap_servers, config.kafka)
    yield cluster
    cluster.close()


def writer_of(config: Config, cluster: KafkaCluster, check_folder: Callable[[], None] = lambda: None) -> FeedWriter:
    (stream,) = config.streams
    return FeedWriter(stream, config, cluster, check_folder)


def raw_messages(kafka: EmbeddedKafka, topic: str) -> list[list[tuple[str, bytes]]]:
    """Return the keys and the values of the messages of each part that are committed."""
    from kafka import KafkaConsumer, TopicPartition

    consumer = KafkaConsumer(
        bootstrap_servers=kafka.bootstrap_servers, auto_offset_reset="earliest", isolation_level="read_committed"
    )
    try:
        partitions = [TopicPartition(topic, partition) for partition in range(PARTS)]
        consumer.assign(partitions)
        ends = consumer.end_offsets(partitions)
        found: dict[TopicPartition, list[tuple[str, bytes]]] = {partition: [] for partition in partitions}
        while any(consumer.position(partition) < end for partition, end in ends.items()):
            for partition, records in consumer.poll(timeout_ms=300).items():
                found[partition] += [(record.key.decode(), record.value) for record in records]
        return list(found.values())
    finally:
        consumer.close()


def messages(kafka: EmbeddedKafka, topic: str) -> list[list[tuple[str, Any]]]:
    """Return the keys and the contents of the messages of each part."""
    return [[(key, content(text)) for key, text in part] for part in raw_messages(kafka, topic)]


def content(text: bytes) -> Any:
    plain = json.loads(text)
    assert plain["v"] == 2
    settings = plain.get("settings")
    if settings is None:
        return plain["time"]
    return settings["limit"], [query["id"] for query in settings["queries"]]


def test_settings_and_watermarks_go_to_the_parts_that_need_them(
    config: Config, cluster: KafkaCluster, kafka: EmbeddedKafka
) -> None:
    (stream,) = config.streams
    topic = config.feed_topic(stream)
    make_feed(cluster, topic)
    low, close = FeedDestination(EVENTS, LOW), FeedDestination(NEAR, CLOSE)
    none = {op: (op, (kind.held_limit(config.limits, 0), [])) for op, kind in feed_kinds().items()}
    assert (none["events"], none["near"]) == (("events", (100, [])), ("near", (800, [])))
    expected = [[] for _ in range(PARTS)]
    writer = writer_of(config, cluster)
    own = part_of(NEAR.name)

    def begins(destinations: list[FeedDestination], mark: int | None, **by_part: list[tuple[str, Any]]) -> None:
        writer.begin(destinations, {} if mark is None else {TIME: mark})
        for part in range(PARTS):
            is_own = part == own and "near_part" in by_part
            expected[part].extend(by_part["near_part" if is_own else "others"])
        assert messages(kafka, topic) == expected

    try:
        assert not writer.has_queries
        # After a start every part gets all of it, and the claim before.
        ones = {**none, "near": ("near", (800, ["close"]))}
        begins([close], 9_000_000, others=[("time", {}), *ones.values(), ("time", {TIME: 6_500_000})])
        assert writer.has_queries
        begins([close], 9_000_000, others=[])
        begins([close], 9_500_000, near_part=[("time", {TIME: 7_000_000})], others=[])
        # Parts that had no query get the watermark with their first one.
        first = ("events", (100, ["low"]))
        begins([close, low], 9_500_000, near_part=[first], others=[first, ("time", {TIME: 7_000_000})])
        begins([close, low], 9_600_000, others=[("time", {TIME: 7_100_000})])
        farther = replace(close, query=replace(CLOSE, id="far"))
        begins([close, farther, low], 9_600_000, near_part=[("near", (400, ["close", "far"]))], others=[])
        # Parts that had queries forget them.
        begins([low], 9_600_000, near_part=[none["near"]], others=[])
        writer.forget()
        begins([], None, others=[*none.values()])
        assert not writer.has_queries
    finally:
        writer.close()


@pytest.mark.parametrize("op", feed_kinds())
def test_the_settings_of_every_kind_have_its_tag_for_their_key(
    config: Config, cluster: KafkaCluster, kafka: EmbeddedKafka, op: str
) -> None:
    (stream,) = config.streams
    topic = config.feed_topic(stream)
    make_feed(cluster, topic)
    track = replace(EVENTS, op=op)
    query = QuerySettings("q", "out", track.name, TIME, ("a41c",), {})
    writer = writer_of(config, cluster)
    try:
        writer.begin([FeedDestination(track, query)], {})
    finally:
        writer.close()
    ((_, *first), *_) = messages(kafka, topic)
    assert [key for key, (_, queries) in first if queries] == [op]


def test_what_a_replaced_daemon_writes_later_does_not_count(
    config: Config, cluster: KafkaCluster, kafka: EmbeddedKafka
) -> None:
    (stream,) = config.streams
    topic = config.feed_topic(stream)
    make_feed(cluster, topic)
    stopped, leader = writer_of(config, cluster), writer_of(config, cluster)
    low = FeedDestination(EVENTS, LOW)
    try:
        stopped.begin([low], {TIME: 3_000_000})
        leader.begin([], {TIME: 4_000_000})
        stopped.begin([low], {TIME: 5_000_000})
        stopped.forget()
        stopped.begin([low], {TIME: 6_000_000})
        leader.begin([], {TIME: 7_000_000})
    finally:
        stopped.close()
        leader.close()
    for part in raw_messages(kafka, topic):
        feed = ClaimedFeed("events", EventQuery.of)
        found = [*feed.messages([text for _, text in part], FeedCounts())]
        assert feed.writer == leader.name
        # None of what it wrote behind the claim, and all that is there of the leader.
        assert [each.by_time[TIME] for each in found if isinstance(each, Watermarks)] == [500_000, 1_500_000]
        queries = [[query.id for query in each.queries] for each in found if isinstance(each, Settings)]
        assert queries == [["low"], []]


def test_the_claim_of_a_replaced_daemon_is_fenced(
    config: Config, cluster: KafkaCluster, kafka: EmbeddedKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stands still in the middle of its claim, and goes on when the leader has claimed the feed."""
    from kafka import KafkaProducer

    (stream,) = config.streams
    topic = config.feed_topic(stream)
    make_feed(cluster, topic)
    stopped, leader = writer_of(config, cluster), writer_of(config, cluster)
    go_on = KafkaProducer.begin_transaction

    def raise_once(producer: KafkaProducer) -> None:
        monkeypatch.undo()
        leader.begin([], {})
        go_on(producer)

    monkeypatch.setattr(KafkaProducer, "begin_transaction", raise_once)
    try:
        with pytest.raises((AscError, ClientError)) as raised:
            stopped.begin([FeedDestination(EVENTS, LOW)], {})
    finally:
        stopped.close()
        leader.close()
    assert str(raised.value)
    for part in raw_messages(kafka, topic):
        feed = ClaimedFeed("events", EventQuery.of)
        list(feed.messages([text for _, text in part], FeedCounts()))
        assert feed.writer == leader.name


def test_one_that_stood_still_before_its_claim_claims_nothing_and_the_leader_s_messages_count(
    config: Config, cluster: KafkaCluster, kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    """Kafka does not fence it, for it begins its transaction after the leader's; its folder has another name by now."""
    (stream,) = config.streams
    make_feed(cluster, config.feed_topic(stream))

    def starts() -> FeedWriter:
        folder = stream_folder(tmp_path, stream)
        bindings = BatchBindings(folder / "bindings", folder / "spark")
        return writer_of(config, cluster, bindings.check_folder)

    stopped = starts()
    take_folder(tmp_path, stream)
    leader, low = starts(), FeedDestination(EVENTS, LOW)
    try:
        leader.begin([], {TIME: 4_000_000})
        for _ in range(2):
            with pytest.raises(BrokerError, match="another daemon has taken it over"):
                stopped.begin([low], {TIME: 5_000_000})
            stopped.forget()
        leader.begin([], {TIME: 7_000_000})
        leader.forget()
        leader.begin([low], {TIME: 8_000_000})
    finally:
        stopped.close()
        leader.close()
    for part in raw_messages(kafka, config.feed_topic(stream)):
        feed, counts = ClaimedFeed("events", EventQuery.of), FeedCounts()
        found = [*feed.messages([text for _, text in part], counts)]
        assert feed.writer == leader.name
        assert counts.excluded["replaced_writer"] == 0
        assert [each.queries for each in found if isinstance(each, Settings)][-1]
