"""Records sent by librdkafka: where they arrive, and what is said of a Kafka that does not take them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from broker.config.sections import KafkaConfig
from broker.errors import KafkaError
from broker.kafka import batch_sender
from broker.kafka.batch_sender import BatchSender
from broker.kafka.client import KafkaClient, WholeRecord
from broker.kafka.cluster import KafkaCluster
from broker.kafka.embedded import EmbeddedKafka

Place = tuple[int, "bytes | None", bytes]


def made(kafka: EmbeddedKafka, topic: str, **settings: str) -> KafkaClient:
    """A client, once there is a topic of four partitions."""
    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig(partitions=4))
    cluster.ensure_topics([topic], settings)
    cluster.close()
    return KafkaClient(kafka.bootstrap_servers, {}, 15)


def arrived(client: KafkaClient, topic: str) -> list[Place]:
    with client.reading([topic], from_beginning=True, to_end=True) as messages:
        return [(message.partition, message.key, message.value) for message in messages]


@pytest.mark.kafka
def test_what_is_sent_arrives_where_every_producer_sends_its_key_and_in_order(
    kafka: EmbeddedKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_sender, "RECORDS_MAX", 300)
    client = made(kafka, "sent-in-batches")
    keys = [None, b"", b"a", b"b", b"c", b"\xff\x00"]
    records = [(keys[number % len(keys)], b"%d" % number) for number in range(1_000)]
    with BatchSender(client, "sent-in-batches") as sender:
        for begin in range(0, 1_000, 100):
            some = records[begin : begin + 100]
            sender.send([value for _, value in some], [key for key, _ in some])
            assert sender.acknowledged <= begin + 100
        sender.send([b"without keys"])
        sender.flush()
        assert (sender.acknowledged, sender.acknowledged_first) == (1_001, 1_001)
    found = arrived(client, "sent-in-batches")
    assert len(found) == 1_001
    assert (None, b"without keys") in {(key, value) for _, key, value in found}
    client_of_all = made(kafka, "sent-one-by-one")
    producer = client_of_all.producer()
    for key, value in records:
        producer.send("sent-one-by-one", value, key)
    producer.close()
    expected = arrived(client_of_all, "sent-one-by-one")
    for key in keys[1:]:
        mine = [(place, value) for place, own, value in found if own == key]
        assert mine == [(place, value) for place, own, value in expected if own == key]


@pytest.mark.kafka
def test_a_whole_record_arrives_byte_for_byte(kafka: EmbeddedKafka) -> None:
    client = made(kafka, "sent-whole")
    headers = [("h", b""), ("h", None), ("", b"\xff\x00"), ("h", b"")]
    records = [
        WholeRecord(b"", None, headers, 2),
        WholeRecord(None, b"", [], 2),
        WholeRecord(b"\xff", b"x" * 1_000_000, headers[1:], 2),
    ]
    with BatchSender(client, "sent-whole") as sender:
        for record in records:
            sender.send_whole(record)
        sender.send_whole(WholeRecord(b"k", b"anywhere", [], None))
        sender.flush()
        assert sender.acknowledged == 4
    with client.reading(["sent-whole"], from_beginning=True, to_end=True) as messages:
        found = [WholeRecord(each.key, each.value, each.headers, each.partition) for each in messages]
    assert [record for record in found if record.value != b"anywhere"] == records
    assert len(found) == 4


@pytest.mark.kafka
def test_a_topic_that_is_not_there_is_one_line(kafka: EmbeddedKafka) -> None:
    client = KafkaClient(kafka.bootstrap_servers, {}, 15)
    with pytest.raises(KafkaError, match="Unknown topic or partition"), BatchSender(client, "never-made"):
        raise AssertionError("it is entered")
    assert "never-made" not in client.topics()


@pytest.mark.kafka
def test_a_record_that_is_too_large_is_named_with_what_was_acknowledged(kafka: EmbeddedKafka) -> None:
    client = made(kafka, "sent-too-large", **{"max.message.bytes": "1000000"})
    with BatchSender(client, "sent-too-large") as sender:
        sender.send([b"1", b"2"])
        sender.flush()
        with pytest.raises(KafkaError, match="record 4 has 2,000,000 bytes") as raised:
            sender.send([b"3", b"x" * 2_000_000, b"5"])
        assert "records were acknowledged, others may have arrived" in str(raised.value)
        assert sender.acknowledged_first == 2


@pytest.mark.kafka
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (WholeRecord(b"k", b"x" * 200_000, [], None), "record 2 has 200,001 bytes, more than the topic takes"),
        (WholeRecord(b"k", b"x", [], 7), "nknown partition"),
    ],
)
def test_a_whole_record_that_is_not_taken_is_one_line(kafka: EmbeddedKafka, wrong: WholeRecord, said: str) -> None:
    client = made(kafka, "sent-whole-to-small", **{"max.message.bytes": "100000"})
    with BatchSender(client, "sent-whole-to-small") as sender:
        sender.send_whole(WholeRecord(None, b"1", [], None))
        sender.flush()
        with pytest.raises(KafkaError, match=said) as raised:
            sender.send_whole(wrong)
    assert "; 1 record was acknowledged, others may have arrived" in str(raised.value)


@pytest.mark.kafka
def test_a_topic_that_takes_less_than_a_batch_gets_smaller_ones(kafka: EmbeddedKafka) -> None:
    client = made(kafka, "sent-to-small", **{"max.message.bytes": "2000"})
    with BatchSender(client, "sent-to-small") as sender:
        sender.send([b"x" * 100] * 1_000)
        sender.flush()
        assert sender.acknowledged == 1_000
        with pytest.raises(KafkaError, match="record 1,001"):
            sender.send([b"x" * 3_000])


@pytest.mark.nightly
@pytest.mark.kafka
@pytest.mark.slow
def test_a_kafka_that_dies_ends_with_what_was_acknowledged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_sender, "ACKNOWLEDGED_WITHIN_S", 3)
    monkeypatch.setattr(batch_sender, "RECORDS_MAX", 200)
    silences: list[Any] = []
    monkeypatch.setattr("broker.kafka.slow_response.SAID_AFTER_S", 0.5)
    with EmbeddedKafka(tmp_path / "node") as node:
        client = made(node, "gone")

        def publish(sender: BatchSender) -> None:
            for number in range(10):
                if number == 5:
                    sender.flush()
                    node.stop()
                sender.send([b"%d" % number] * 100)

        with BatchSender(client, "gone", on_silence=lambda: silences.append(1)) as sender:
            with pytest.raises(KafkaError) as raised:
                publish(sender)
            assert (sender.acknowledged, sender.acknowledged_first) == (500, 500)
    assert silences
    said = str(raised.value)
    assert said.startswith(f"Kafka '{client.bootstrap_servers}': does not answer: check the address and that it runs (")
    assert said.endswith("; 500 records were acknowledged, others may have arrived")
