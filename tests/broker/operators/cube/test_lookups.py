"""Look-ups in Kafka: another daemon follows them, a restart reads them again, and the limits hold for all together."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from types import MappingProxyType
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.operators.cube.lookup import Lookup
from broker.config.sections import KafkaConfig
from broker.errors import NotThereError, TopicError
from broker.kafka.cluster import KafkaCluster
from broker.operators.cube import lookups as module
from broker.operators.cube.lookup_log import StoredLookup, messages_of
from broker.operators.cube.lookups import LOOKUP_TOPIC, LOOKUPS_BYTES_MAX, LOOKUPS_MAX, LookupStore

if TYPE_CHECKING:
    from broker.kafka.embedded import EmbeddedKafka

pytestmark = pytest.mark.kafka


def table(name: str, *makers: str, rows: int = 0) -> Lookup:
    values = list(makers) or [f"maker {number}" for number in range(rows)]
    keys = [f"N{number}" for number in range(len(values))]
    return Lookup.of(name, pa.table({"tailnum": keys, "maker": values}), "tailnum")


@pytest.fixture
def cluster(kafka: EmbeddedKafka) -> Iterator[KafkaCluster]:
    own = KafkaCluster(kafka.bootstrap_servers, KafkaConfig(bootstrap_servers=kafka.bootstrap_servers))
    yield own
    own.close()


def test_a_look_up_is_followed_by_another_daemon_and_read_again_after_a_restart(
    cluster: KafkaCluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "asc.cubes")
    monkeypatch.setattr(module, "_LISTED_EACH_S", 0.0)
    monkeypatch.setattr(module, "_CHUNK_BYTES", 1_000)
    name = f"planes_{uuid.uuid4().hex[:8]}"
    topic = LOOKUP_TOPIC + name
    leader, standby = LookupStore(cluster), LookupStore(cluster)
    try:
        leader.load()
        standby.load()
        first = leader.put(table(name, rows=1_000))
        assert leader.now[name].rows == 1_000
        assert cluster.topic_settings(topic)["cleanup.policy"] == "compact"
        standby.follow()
        assert standby.now[name].table() == leader.now[name].table()
        # A writer that is killed leaves chunks without a commit.
        producer = cluster.client.producer()
        for key, value in list(messages_of(table(name, rows=900), "f" * 32, 1_000))[:-1]:
            producer.send(topic, value, key, partition=0)
        producer.send(topic, b"?", b"foreign", partition=0).get(timeout=30)
        producer.close()
        standby.follow()
        assert standby.stored[name].offset == first.offset
        assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == [
            f"look-up '{name}': the message at offset {standby._logs[name].next_offset - 1} of its topic is skipped: "
            "its key b'foreign' is none of a look-up"
        ]
        second = standby.put(table(name, "BOEING", "AIRBUS"))
        assert second.offset > first.offset
        leader.follow()
        restarted = LookupStore(cluster)
        restarted.load()
        for store in (leader, restarted):
            assert store.now[name].attributes["maker"].to_pylist() == ["BOEING", "AIRBUS"]
            assert store.stored[name].written_us > 0
            # The chunks of the other tables have tombstones.
            assert len(store._logs[name].stale_keys) == len(list(messages_of(second.lookup, "0" * 32, 1_000))) - 1
        leader.remove(name)
        standby.follow()
        restarted.follow()
        assert all(name not in store.now for store in (leader, standby, restarted))
        with pytest.raises(NotThereError, match=f"look-up '{name}': is not there"):
            standby.remove(name)
        restarted.close()
    finally:
        leader.close()
        standby.close()


def test_a_topic_that_forgets_is_refused(cluster: KafkaCluster) -> None:
    name = f"planes_{uuid.uuid4().hex[:8]}"
    cluster.ensure_topics([LOOKUP_TOPIC + name], {"max.message.bytes": "100000"})
    store = LookupStore(cluster)
    with pytest.raises(TopicError, match=r"loses what is old, by cleanup.policy delete: set it to compact alone"):
        store.put(table(name, "x"))
    assert name not in store.now
    store.close()


def test_all_look_ups_together_have_as_many_bytes_as_the_limit_and_no_more(cluster: KafkaCluster) -> None:
    store = LookupStore(cluster)
    many = {f"own{number}": StoredLookup(table(f"own{number}", "x"), number, 0) for number in range(LOOKUPS_MAX)}
    store.now = MappingProxyType({name: own.lookup for name, own in many.items()})
    store._check_limits(table("own0", "y"))
    with pytest.raises(CubeError, match=f"look-up 'more': is one more than {LOOKUPS_MAX}, the limit"):
        store._check_limits(table("more", "y"))

    class Large(Lookup):
        size_bytes = LOOKUPS_BYTES_MAX // 2

    large = Large("large", "k", pa.array(["a"]), {"x": pa.array([1])})
    store.now = MappingProxyType({"one": large})
    store._check_limits(large)
    store.now = MappingProxyType({"one": large, "two": large})
    with pytest.raises(CubeError, match="look-up 'large': and the others have over 512 MiB, the limit"):
        store._check_limits(large)
