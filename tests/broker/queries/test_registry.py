"""The registry against a real Kafka broker."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pytest

from broker.config.sections import KafkaConfig
from broker.kafka.cluster import KafkaCluster
from broker.layers.mark import LayerMark
from broker.queries.query import RegisteredQuery
from broker.queries.registry import Held, Registry, RegistryError

if TYPE_CHECKING:
    from broker.kafka.embedded import EmbeddedKafka

pytestmark = pytest.mark.kafka


@pytest.fixture
def cluster(kafka: EmbeddedKafka) -> Iterator[KafkaCluster]:
    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig())
    yield cluster
    cluster.close()


@pytest.fixture
def registry(cluster: KafkaCluster) -> Iterator[Registry]:
    registry = Registry(cluster, f"registry-{uuid.uuid4().hex}")
    registry.open()
    yield registry
    registry.close()


def query(query_id: str, where: str = "a > 1") -> RegisteredQuery:
    return RegisteredQuery(
        query_id, "s", where, f"asc.{query_id}", {"team": "blå"}, False, datetime(2030, 1, 1, tzinfo=timezone.utc)
    )


def test_an_empty_registry_has_no_queries(registry: Registry) -> None:
    assert registry.load() == Held({}, {}, -1)


def test_what_is_written_is_loaded(registry: Registry) -> None:
    offsets = registry.write([query("a"), query("b")])
    queries, _, version = registry.load()
    assert queries == {"a": query("a").at(offsets["a"]), "b": query("b").at(offsets["b"])}
    assert version == max(offsets.values())


def test_the_last_record_of_an_id_wins_and_a_null_removes(registry: Registry) -> None:
    registry.write([query("a"), query("b"), query("c")])
    registry.write([query("a", "a > 2")])
    last = registry.write([], ["b"])["b"]
    queries, _, version = registry.load()
    assert {key: found.where for key, found in queries.items()} == {"a": "a > 2", "c": "a > 1"}
    assert version == last


@pytest.mark.parametrize(("key", "shown"), [(b"late\xff", r"late\xff"), (b"ghost-a\x1fghost-b", "ghost-a\x1fghost-b")])
def test_a_sound_record_under_a_key_that_is_no_id_is_not_read_and_can_be_removed(
    key: bytes, shown: str, registry: Registry, cluster: KafkaCluster
) -> None:
    producer = cluster.client.producer()
    producer.send(registry.topic, query("a").record(), key, partition=0).get(timeout=10)
    producer.close()
    queries = registry.load().queries
    (query_id,) = queries
    assert query_id == shown
    assert "cannot be read (query id" in str(queries[query_id].unreadable)
    registry.write([], [query_id])
    assert registry.load().queries == {}


def test_the_state_at_every_version_is_kept(registry: Registry) -> None:
    first = registry.write([query("a")])["a"]
    second = registry.write([query("b")])["b"]
    third = registry.write([query("a", "a > 2")], ["b"])
    assert {key: found.where for key, found in registry.state_at(first).queries.items()} == {"a": "a > 1"}
    assert {key: found.where for key, found in registry.state_at(second).queries.items()} == {
        "a": "a > 1",
        "b": "a > 1",
    }
    assert {key: found.where for key, found in registry.state_at(max(third.values())).queries.items()} == {"a": "a > 2"}


def test_marks_of_layers_stand_beside_the_queries(registry: Registry) -> None:
    early, late = LayerMark({0: 3}, "t"), LayerMark({0: 5, 1: 2}, "t")
    first = max(registry.write([query("a")], (), {"zones": early}).values())
    offsets = registry.write((), (), {"zones": late, "towns": early})
    assert offsets.keys() == {"layer/zones", "layer/towns"}
    held = registry.load()
    assert (set(held.queries), held.marks) == ({"a"}, {"zones": late, "towns": early})
    assert held.version == max(offsets.values())
    assert registry.state_at(first).marks == {"zones": early}
    assert [found for _, _, found in registry.records_after(first) or ()] == [late, early]


def test_history_is_kept_long_enough_for_a_replay(registry: Registry, cluster: KafkaCluster) -> None:
    settings = cluster.topic_settings(registry.topic)
    assert settings["cleanup.policy"] == "compact"
    assert int(settings["min.compaction.lag.ms"]) == 7 * 24 * 3600 * 1000


def test_a_load_that_breaks_off_leaves_nothing(registry: Registry) -> None:
    registry.write([query("a")])
    too_large = query("huge", "x" * 20_000_000)
    with pytest.raises(RegistryError, match="cannot be written"):
        registry.write([query("b"), too_large])
    assert set(registry.load().queries) == {"a"}
    registry.write([query("c")])
    assert set(registry.load().queries) == {"a", "c"}


def test_a_reader_never_sees_half_of_a_bulk_load(registry: Registry, cluster: KafkaCluster) -> None:
    reader = Registry(cluster, registry.topic)
    sizes: set[int] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            sizes.add(len(reader.load().queries))

    thread = threading.Thread(target=read)
    thread.start()
    try:
        registry.write([query(f"q{i}") for i in range(3_000)])
    finally:
        done.set()
        thread.join()
    sizes.add(len(reader.load().queries))
    assert sizes <= {0, 3_000}
    assert 3_000 in sizes


def test_a_second_daemon_takes_the_registry_over(registry: Registry, cluster: KafkaCluster) -> None:
    registry.write([query("a")])
    second = Registry(cluster, registry.topic)
    second.open()
    try:
        second.write([query("b")])
        with pytest.raises(RegistryError, match="another daemon has taken it over"):
            registry.write([query("c")])
        assert set(second.load().queries) == {"a", "b"}
    finally:
        second.close()


WEEK_MS = 7 * 24 * 3600 * 1000
KEPT = {"min.compaction.lag.ms": str(WEEK_MS), "delete.retention.ms": str(WEEK_MS)}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"cleanup.policy": "delete", **KEPT}, "is not compacted: set its cleanup.policy to compact alone"),
        ({"cleanup.policy": "compact,delete", **KEPT}, "loses what is old: set its cleanup.policy to compact alone"),
        ({"cleanup.policy": "compact"}, f"set its min.compaction.lag.ms to {WEEK_MS}"),
        (
            {"cleanup.policy": "compact", **KEPT, "delete.retention.ms": "86400000"},
            f"set its delete.retention.ms to {WEEK_MS}",
        ),
    ],
)
def test_a_topic_that_is_no_registry_is_refused(cluster: KafkaCluster, settings: dict[str, str], said: str) -> None:
    name = f"other-{uuid.uuid4().hex}"
    cluster.ensure_topics([name], settings)
    with pytest.raises(RegistryError, match=said):
        Registry(cluster, name).open()
