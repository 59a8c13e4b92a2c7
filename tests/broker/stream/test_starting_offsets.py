"""Where a stream begins: noted at its first start, and the same from then on."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from broker.config.sections import KafkaConfig
from broker.config.streams import StreamConfig
from broker.errors import BrokerError, KafkaError
from broker.kafka.client import KafkaClient
from broker.kafka.cluster import KafkaCluster
from broker.stream.starting_offsets import starting_offsets

if TYPE_CHECKING:
    from broker.kafka.embedded import EmbeddedKafka


def stream(topic: str, begins: str) -> StreamConfig:
    return StreamConfig.model_validate(
        {"topic": topic, "format": "json", "schema": "n INT", "starting_offsets": begins}
    )


@pytest.fixture
def cluster(kafka: EmbeddedKafka) -> Iterator[KafkaCluster]:
    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig(partitions=2))
    yield cluster
    cluster.close()


@pytest.mark.kafka
@pytest.mark.parametrize("begins", ["earliest", "latest"])
def test_what_the_first_start_found_holds_for_every_later_one(
    begins: str, cluster: KafkaCluster, kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    topic = f"source-{uuid.uuid4().hex}"
    cluster.ensure_topics([topic])
    producer = KafkaClient(kafka.bootstrap_servers, {}, 15).producer()
    (partition,) = {producer.send(topic, value, b"k").get(30).partition for value in (b"1", b"2")}
    found = starting_offsets(tmp_path, cluster, stream(topic, begins))
    assert found == ({partition: 2, 1 - partition: 0} if begins == "latest" else {0: 0, 1: 0})
    producer.send(topic, b"3", b"k")
    producer.close()
    for changed in ("earliest", "latest"):
        assert starting_offsets(tmp_path, cluster, stream(topic, changed)) == found


def test_what_is_noted_is_read_without_kafka(tmp_path: Path) -> None:
    (tmp_path / "starting-offsets.json").write_text('{"0": 7, "11": 0}', "utf-8")
    cluster = KafkaCluster("127.0.0.1:9", KafkaConfig(timeout_s=0.1))
    assert starting_offsets(tmp_path, cluster, stream("gone", "latest")) == {0: 7, 11: 0}


@pytest.mark.parametrize("damage", [b"", b"[]", b"\xff", b'{"0": null}'])
def test_a_damaged_file_is_named_with_what_to_do(damage: bytes, tmp_path: Path) -> None:
    (tmp_path / "starting-offsets.json").write_bytes(damage)
    cluster = KafkaCluster("127.0.0.1:9", KafkaConfig(timeout_s=0.1))
    with pytest.raises(BrokerError, match=r"starting-offsets.json': is damaged .*: put it back, or stop the daemon"):
        starting_offsets(tmp_path, cluster, stream("gone", "latest"))


@pytest.mark.kafka
def test_what_kafka_did_not_tell_is_not_noted(cluster: KafkaCluster, tmp_path: Path) -> None:
    with pytest.raises(KafkaError):
        starting_offsets(tmp_path, cluster, stream(f"missing-{uuid.uuid4().hex}", "latest"))
    assert not (tmp_path / "starting-offsets.json").exists()
