"""One record by its place: what there is, what is there no more, not yet or never, and what takes too long."""

from __future__ import annotations

import time

import pytest

from broker.config.sections import KafkaConfig
from broker.errors import KafkaError, NotThereError, QueryError
from broker.kafka.client import KafkaClient
from broker.kafka.cluster import KafkaCluster
from broker.kafka.embedded import EmbeddedKafka
from broker.kafka.source_record import Place, SourceRecord, record_at

pytestmark = pytest.mark.kafka

MADE_MS = time.time_ns() // 1_000_000 - 60_000
"""Not long ago: Kafka removes what is a week old, when some minutes have passed."""


@pytest.fixture(scope="module")
def client(kafka: EmbeddedKafka) -> KafkaClient:
    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig(partitions=2))
    cluster.ensure_topics(["by-place", "by-place-deleted", "by-place-aborted"])
    client = cluster.client
    producer = client.producer()
    for number in range(3):
        headers = [("h", b"1"), ("h", b"")] if number == 1 else []
        producer.send(
            "by-place", b"v%d" % number, key=b"k", headers=headers, partition=1, timestamp_ms=MADE_MS + number
        )
        producer.send("by-place-deleted", b"v", partition=0)
    producer.send("by-place", None, key=b"k", partition=0)
    producer.flush()
    producer.close()
    cluster.close()
    return client


def read(client: KafkaClient, text: str, most_bytes: int = 1_000) -> SourceRecord:
    return record_at(client, Place.of(text), timeout_s=10, most_bytes=most_bytes)


def test_a_record_as_it_is(client: KafkaClient) -> None:
    found = read(client, "by-place-1-1")
    assert (found.key, found.value, found.headers) == (b"k", b"v1", (("h", b"1"), ("h", b"")))
    assert (found.timestamp_ms, found.timestamp_type, found.size_bytes) == (MADE_MS + 1, 0, 6)
    nothing = read(client, "by-place-0-0")
    assert (nothing.key, nothing.value, nothing.headers) == (b"k", None, ())


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("by-place-1-3", "record 'by-place-1-3': is not there yet: the next one of partition 1 will be 3"),
        ("by-place-7-0", r"topic 'by-place' has partitions \[0, 1\]"),
        ("by-nobody-0-0", "there is no topic 'by-nobody'"),
    ],
    ids=["beyond the end", "no partition", "no topic"],
)
def test_what_is_not_there(client: KafkaClient, place: str, said: str) -> None:
    with pytest.raises(NotThereError, match=said):
        read(client, place)


def test_what_is_there_no_more(client: KafkaClient) -> None:
    from kafka import TopicPartition

    admin = client.admin()
    admin.delete_records({TopicPartition("by-place-deleted", 0): 2})
    admin.close()
    with pytest.raises(NotThereError, match="is not there any more: the first one that partition 0 still has is 2"):
        read(client, "by-place-deleted-0-1")
    assert read(client, "by-place-deleted-0-2").value == b"v"


def test_what_was_aborted_never_was(client: KafkaClient) -> None:
    producer = client.producer(transactional_id="by-place-aborted")
    producer.init_transactions()
    for value, is_kept in ((b"aborted", False), (b"kept", True)):
        producer.begin_transaction()
        producer.send("by-place-aborted", value, partition=0)
        producer.flush()
        producer.commit_transaction() if is_kept else producer.abort_transaction()
    producer.close()
    for mark in ("0-0", "0-1"):
        with pytest.raises(NotThereError, match="is none: compacted away, of a transaction that was aborted"):
            read(client, f"by-place-aborted-{mark}")
    assert read(client, "by-place-aborted-0-2").value == b"kept"


def test_size_and_time_are_bounded(client: KafkaClient) -> None:
    with pytest.raises(QueryError, match="record 'by-place-1-1': has 6 bytes: 5 at most are followed"):
        read(client, "by-place-1-1", most_bytes=5)
    with pytest.raises(KafkaError, match=r"'127.0.0.1:9': does not answer"):
        record_at(KafkaClient("127.0.0.1:9", {}, 0.3), Place("a", 0, 0), timeout_s=1, most_bytes=1)


@pytest.mark.parametrize("text", ["", "flights", "flights-0", "flights-0-", "a/b-0-1", "f-0-1\n", "f-0-" + "9" * 19])
def test_what_is_no_place(text: str) -> None:
    with pytest.raises(QueryError, match="write TOPIC-PARTITION-OFFSET"):
        Place.of(text)


def test_a_place_is_written_as_it_is_read() -> None:
    assert str(Place.of("a-b-12-0-17")) == "a-b-12-0-17"
