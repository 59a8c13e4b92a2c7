"""Records of a consumer one by one: polled again and again while they are worked on, up to an end, in a group."""

from __future__ import annotations

import threading
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from broker.config.sections import KafkaConfig
from broker.kafka import reading
from broker.kafka.batch_sender import BatchSender
from broker.kafka.client import KafkaClient
from broker.kafka.cluster import KafkaCluster
from broker.kafka.reading import polled

if TYPE_CHECKING:
    from broker.kafka.embedded import EmbeddedKafka

pytestmark = pytest.mark.kafka

VALUES = [b"%d" % number for number in range(60)]


@pytest.fixture(scope="module")
def client(kafka: EmbeddedKafka) -> KafkaClient:
    """Of a Kafka with sixty records in three partitions of the topic ``read``."""
    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig(partitions=3))
    cluster.ensure_topics(["read"])
    cluster.close()
    client = KafkaClient(kafka.bootstrap_servers, {}, 15)
    with BatchSender(client, "read") as sender:
        sender.send(VALUES, VALUES)
        sender.flush()
    return client


def test_what_takes_long_is_given_back_and_comes_again_once(
    client: KafkaClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_POLLED_EACH_S", 0.0)
    found: list[bytes] = []
    with client.reading(["read"], from_beginning=True) as consumer:
        is_polled = False
        for record in polled(consumer):
            assert record is None or is_polled, "two records of one poll"
            is_polled = record is None
            if record is not None:
                found.append(record.value)
            if len(found) == len(VALUES):
                break
    assert sorted(found) == sorted(VALUES)


@pytest.mark.parametrize("polled_each_s", [0.0, 1e9])
def test_the_end_is_reached_once_every_record_is_given(
    client: KafkaClient, monkeypatch: pytest.MonkeyPatch, polled_each_s: float
) -> None:
    monkeypatch.setattr(reading, "_POLLED_EACH_S", polled_each_s)
    with client.reading(["read"], from_beginning=True, to_end=True) as records:
        assert sorted(record.value for record in islice(records, 61)) == sorted(VALUES)


def test_records_are_read_by_their_places(kafka: EmbeddedKafka, client: KafkaClient) -> None:
    with client.reading(["read"], from_beginning=True, to_end=True) as records:
        all_of = {(record.partition, record.offset): record.value for record in records}
    wanted = sorted(all_of)[::7]
    nowhere = [(0, 1_000_000), (9, 0)]
    found = list(client.records_at("read", [*reversed(wanted), *nowhere, wanted[0]]))
    assert [((each.partition, each.offset), each.value) for each in found] == [(at, all_of[at]) for at in wanted]
    assert list(client.records_at("read", [])) == []


def test_marks_of_transactions_are_no_records(kafka: EmbeddedKafka, client: KafkaClient) -> None:
    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig())
    cluster.ensure_topics(["read-committed"])
    cluster.close()
    producer = client.producer(transactional_id="read-committed")
    producer.init_transactions()
    for value in (b"a", b"b"):
        producer.begin_transaction()
        producer.send("read-committed", value, partition=0)
        producer.commit_transaction()
    producer.close()
    found = client.records_at("read-committed", [(0, offset) for offset in range(5)])
    assert [(each.offset, each.value) for each in found] == [(0, b"a"), (2, b"b")]


def test_a_member_without_partitions_is_at_the_end(kafka: EmbeddedKafka, client: KafkaClient) -> None:
    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig(partitions=1))
    cluster.ensure_topics(["read-by-one"])
    cluster.close()
    has_all, is_over = threading.Event(), threading.Event()

    def stay() -> None:
        with client.reading(["read-by-one"], from_beginning=True, group="one") as consumer:
            for _ in polled(consumer):
                if consumer.assignment():
                    has_all.set()
                if is_over.is_set():
                    return

    other = threading.Thread(target=stay)
    other.start()
    try:
        assert has_all.wait(120)
        with client.reading(["read-by-one"], from_beginning=True, group="one", to_end=True) as records:
            assert list(records) == []
    finally:
        is_over.set()
        other.join()
