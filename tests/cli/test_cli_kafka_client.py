"""A Kafka that goes away under a command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import cli.kafka_client
from broker.config.sections import KafkaConfig
from broker.kafka.cluster import KafkaCluster
from broker.kafka.embedded import EmbeddedKafka
from cli.failure import CommandError
from cli.kafka_client import produce

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


def test_publishing_to_a_kafka_that_dies_ends_with_what_was_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli.kafka_client, "_ACKNOWLEDGED_WITHIN_S", 3)
    monkeypatch.setattr(cli.kafka_client, "IN_FLIGHT_MAX", 100)
    node = EmbeddedKafka(tmp_path / "node")
    node.start()
    cluster = KafkaCluster(node.bootstrap_servers, KafkaConfig())
    cluster.ensure_topics(["gone"])
    cluster.close()

    def records() -> Iterator[tuple[bytes | None, bytes]]:
        for number in range(1_000):
            if number == 500:
                node.stop()
            yield None, b"%d" % number

    done = 0

    def publish() -> None:
        nonlocal done
        for _ in produce(node.bootstrap_servers, "gone", records()):
            done += 1

    with pytest.raises(CommandError) as raised:
        publish()
    assert 0 < done < 1_000
    assert str(raised.value).startswith("Kafka refuses or does not answer at '127.0.0.1:")
    assert str(raised.value).endswith(f"{done} records were acknowledged, later ones may have arrived")
