"""Topics of a real Kafka: made all or none, with the settings that are asked for, and looked at as they are."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import pytest

from broker.config.sections import REQUEST_BYTES, KafkaConfig
from broker.errors import KafkaError, MissingTopicError, QueryError
from broker.kafka import cluster as cluster_module
from broker.kafka.client import KafkaClient
from broker.kafka.cluster import KafkaCluster

if TYPE_CHECKING:
    from broker.kafka.embedded import EmbeddedKafka

pytestmark = pytest.mark.kafka

ClusterOf = Callable[..., KafkaCluster]


@pytest.fixture
def cluster_of(kafka: EmbeddedKafka) -> Iterator[ClusterOf]:
    """Makes clusters of other settings on the shared Kafka."""
    made: list[KafkaCluster] = []

    def make(**settings: object) -> KafkaCluster:
        made.append(KafkaCluster(kafka.bootstrap_servers, KafkaConfig.model_validate(settings)))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def cluster(cluster_of: ClusterOf) -> KafkaCluster:
    return cluster_of()


@pytest.fixture
def name() -> str:
    """Of a topic that nobody has."""
    return f"topic-{uuid.uuid4().hex}"


def test_topics_that_are_missing_are_made_and_the_others_left_alone(cluster_of: ClusterOf, name: str) -> None:
    cluster_of(partitions=3).ensure_topics([name, f"{name}-a"])
    other = cluster_of(partitions=2)
    other.ensure_topics([name, f"{name}-b"])
    assert {name, f"{name}-a", f"{name}-b"} <= other.topics()
    assert [other.partitions(topic) for topic in (name, f"{name}-b")] == [[0, 1, 2], [0, 1]]
    assert other.topic_settings(name)["max.message.bytes"] == str(REQUEST_BYTES)
    other.ensure_topics([])


def test_a_compacted_topic_has_one_partition_and_its_own_settings(cluster_of: ClusterOf, name: str) -> None:
    cluster = cluster_of(partitions=3)
    cluster.ensure_topics([name], {"cleanup.policy": "compact", "min.compaction.lag.ms": "77"})
    settings = cluster.topic_settings(name)
    assert (settings["cleanup.policy"], settings["min.compaction.lag.ms"]) == ("compact", "77")
    assert cluster.partitions(name) == [0]


@pytest.mark.parametrize("topics", [2, 3, 4, 5])
def test_more_topics_than_a_request_has_are_made_and_looked_at_whole(
    cluster: KafkaCluster, name: str, topics: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "_CREATE_CHUNK", 2)
    names = {f"{name}-{number}" for number in range(topics)}
    cluster.ensure_destinations(names, "destination topic")
    assert cluster.record_limits(names) == dict.fromkeys(names, REQUEST_BYTES)


def test_of_topics_one_of_which_is_refused_none_is_made(cluster: KafkaCluster, name: str) -> None:
    cluster.ensure_topics([f"{name}.x"])
    with pytest.raises(QueryError, match=f"topic '{name}_x': cannot be created: ") as caught:
        cluster.ensure_destinations([f"a-{name}", f"{name}_x", f"z-{name}"], "destination topic")
    assert "\n" not in str(caught.value)
    assert cluster.topics() & {f"a-{name}", f"z-{name}", f"{name}_x"} == set()
    with pytest.raises(KafkaError, match=f"topic '{name}': cannot be created: "):
        cluster.ensure_topics([name], {"cleanup.policy": "sometimes"})
    assert name not in cluster.topics()


def test_a_topic_that_takes_no_record_without_a_key_is_no_destination(cluster: KafkaCluster, name: str) -> None:
    cluster.ensure_topics([name], {"cleanup.policy": "compact,delete"})
    with pytest.raises(QueryError, match=f"dead-letter topic '{name}': is compacted"):
        cluster.ensure_destinations([name, f"a-{name}"], "dead-letter topic")
    assert f"a-{name}" not in cluster.topics()
    cluster.ensure_topics([name])


def test_destinations_are_told_apart_and_none_is_made(cluster: KafkaCluster, name: str) -> None:
    cluster.ensure_topics([f"{name}.x"])
    cluster.ensure_topics([f"{name}-compacted"], {"cleanup.policy": "compact"})
    wanted = [f"{name}.x", f"{name}_x", f"{name}-compacted", f"{name}-new"]
    refused, missing = cluster.destinations(wanted)
    assert (set(refused), missing) == ({f"{name}_x", f"{name}-compacted"}, {f"{name}-new"})
    assert {topic: error.value for topic, error in refused.items()} == {topic: topic for topic in refused}
    assert f"{name}-new" not in cluster.topics()
    assert set(cluster.destinations(wanted, keyed=[f"{name}-compacted"])[0]) == {f"{name}_x"}
    assert cluster.destinations([]) == ({}, set())


def test_where_topics_may_not_be_made_the_first_missing_one_is_named(cluster_of: ClusterOf, name: str) -> None:
    cluster = cluster_of(allow_topic_creation=False)
    cluster_of().ensure_topics([name])
    cluster.ensure_topics([name])
    cluster.ensure_destinations([name], "destination topic")
    for ensure in (cluster.ensure_topics, partial(cluster.ensure_destinations, kind="destination topic")):
        with pytest.raises(MissingTopicError, match=f"missing topic '{name}-a': create it"):
            ensure([f"{name}-b", name, f"{name}-a"])
    assert cluster.topics() & {f"{name}-a", f"{name}-b"} == set()


def test_a_record_is_bounded_by_the_topic_and_by_what_is_sent(cluster_of: ClusterOf, name: str) -> None:
    cluster = cluster_of(options={"max.request.size": 50_000})
    cluster.ensure_topics([name])
    cluster.ensure_topics([f"{name}-small"], {"max.message.bytes": "20000"})
    assert cluster.record_limits([name, f"{name}-small"]) == {name: 50_000, f"{name}-small": 20_000}
    assert cluster_of().record_limits([name]) == {name: 50_000}
    assert cluster.record_limits([]) == {}


def test_offsets_are_those_of_every_partition(cluster_of: ClusterOf, kafka: EmbeddedKafka, name: str) -> None:
    cluster = cluster_of(partitions=2)
    cluster.ensure_topics([name])
    assert cluster.offsets(name, end=True) == {0: 0, 1: 0}
    producer = KafkaClient(kafka.bootstrap_servers, {}, 15).producer()
    (partition,) = {producer.send(name, value, b"k").get(30).partition for value in (b"1", b"2", b"3")}
    producer.close()
    assert cluster.offsets(name, end=True) == {partition: 3, 1 - partition: 0}
    assert cluster.offsets(name, end=False) == {0: 0, 1: 0}


def test_a_topic_that_is_not_there_is_one_line(cluster: KafkaCluster, name: str) -> None:
    for ask in (
        lambda: cluster.topic_settings(name),
        lambda: cluster.record_limits([name]),
        lambda: cluster.partitions(name),
        lambda: cluster.offsets(name, end=True),
    ):
        with pytest.raises(KafkaError) as caught:
            ask()
        assert "\n" not in str(caught.value)
    # None of them was made by being asked for.
    assert name not in cluster.topics()


def test_closed_it_connects_anew_when_it_is_asked_again(cluster: KafkaCluster, name: str) -> None:
    cluster.close()
    cluster.ensure_topics([name])
    cluster.close()
    cluster.close()
    assert name in cluster.topics()


def test_threads_may_ask_at_a_time(cluster: KafkaCluster, name: str) -> None:
    cluster.ensure_topics([name])
    with ThreadPoolExecutor(4) as pool:
        made = [pool.submit(cluster.ensure_topics, [f"{name}-{number % 2}"]) for number in range(4)]
        seen = [pool.submit(cluster.topic_settings, name) for _ in range(4)]
        assert [future.result() for future in made] == [None] * 4
        assert len({future.result()["cleanup.policy"] for future in seen}) == 1
    assert {f"{name}-0", f"{name}-1"} <= cluster.topics()
