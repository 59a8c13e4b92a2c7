"""What is said of a Kafka that demands TLS and a login where the options have something wrong: a real one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from broker.errors import KafkaError
from broker.kafka.batch_sender import BatchSender
from broker.kafka.client import KafkaClient
from broker.kafka.refusal import refusal

if TYPE_CHECKING:
    from conftest import SecureKafka

REACHED: dict[str, Callable[[KafkaClient], object]] = {
    "consumer": KafkaClient.topics,
    "batches": lambda client: BatchSender(client, "secured").__enter__(),
}

pytestmark = pytest.mark.kafka


def test_every_client_gets_in_with_the_same_options(secure_kafka: SecureKafka) -> None:
    client = KafkaClient(secure_kafka.bootstrap_servers, secure_kafka.options, 15)
    client.admin().create_topics({"secured": {"num_partitions": 1, "replication_factor": 1}})
    with BatchSender(client, "secured") as sender:
        sender.send([b"1", b"2"])
        sender.flush()
    producer = client.producer()
    producer.send("secured", b"3")
    producer.close()
    with client.reading(["secured"], from_beginning=True, to_end=True) as messages:
        assert [message.value for message in messages] == [b"1", b"2", b"3"]
    assert refusal(secure_kafka.bootstrap_servers, secure_kafka.options) is None


CHANGES: list[tuple[dict[str, str | None], str]] = [
    (
        {"sasl.plain.password": "wrong"},
        "kafka.options 'sasl.plain.username' 'asc': Kafka at {servers} does not take",
    ),
    (
        {"sasl.plain.username": "nobody"},
        "kafka.options 'sasl.plain.username' 'nobody': Kafka at {servers} does not",
    ),
    (
        {"ssl.cafile": "{other}"},
        "kafka.options 'ssl.cafile' '{other}': does not vouch for the certificate of {servers}",
    ),
    ({"ssl.cafile": None}, "kafka.options 'ssl.cafile': does not vouch for the certificate of {servers}"),
    (
        {"ssl.cafile": "/gone.pem"},
        "kafka.options 'ssl.cafile' '/gone.pem': cannot be read (No such file or directory)",
    ),
    ({"sasl.mechanism": "DIGEST"}, "kafka.options 'sasl.mechanism' 'DIGEST': is one of PLAIN, SCRAM-SHA-256, "),
    (
        {"sasl.mechanism": "SCRAM-SHA-512"},
        "kafka.options 'sasl.plain.username' 'asc': Kafka at {servers} does not take",
    ),
    ({"sasl.mechanism": "SCRAM-SHA-256"}, "kafka.options 'sasl.mechanism' 'SCRAM-SHA-256': "),
    ({"security.protocol": "PLAINTEXT"}, "kafka.options 'security.protocol' 'PLAINTEXT': {servers} speaks TLS"),
    (
        {"security.protocol": "SASL_PLAINTEXT"},
        "kafka.options 'security.protocol' 'SASL_PLAINTEXT': {servers} speaks TLS",
    ),
    ({"security.protocol": "TLS"}, "kafka.options 'security.protocol' 'TLS': is one of PLAINTEXT, SSL, "),
]
"""Options that are changed, and how the refusal begins."""

IN_THE_GATE = {"batches": range(len(CHANGES)), "consumer": (2,)}
"""The changes that are tried of each kind of client: a consumer tries again for five seconds."""


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        pytest.param(kind, *own, marks=[] if place in IN_THE_GATE[kind] else [pytest.mark.nightly])
        for kind in REACHED
        for place, own in enumerate(CHANGES)
    ],
)
def test_what_is_wrong_is_named_by_its_option(
    secure_kafka: SecureKafka, kind: str, change: dict[str, str | None], said: str
) -> None:
    changed = {key: value and value.format(other=secure_kafka.other_ca) for key, value in change.items()}
    options = {key: value for key, value in {**secure_kafka.options, **changed}.items() if value is not None}
    client = KafkaClient(secure_kafka.bootstrap_servers, options, 2)
    with pytest.raises(KafkaError) as raised:
        REACHED[kind](client)
    found = str(raised.value)
    assert found.startswith(said.format(servers=secure_kafka.bootstrap_servers, other=secure_kafka.other_ca)), found
    assert "\n" not in found


def test_a_port_without_tls_is_told(secure_kafka: SecureKafka) -> None:
    found = refusal(secure_kafka.plain_servers, secure_kafka.options)
    assert str(found).startswith(
        f"kafka.options 'security.protocol' 'SASL_SSL': {secure_kafka.plain_servers} does not speak TLS so ("
    )
    assert refusal("127.0.0.1:9", secure_kafka.options) is None
