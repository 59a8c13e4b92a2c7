"""How Kafka's clients are set up, how long they wait, and what they say of a Kafka that goes away."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient

from broker.config.sections import KafkaConfig
from broker.errors import KafkaError
from broker.kafka.client import KafkaClient
from broker.kafka.cluster import KafkaCluster

CLIENTS = [KafkaAdminClient, KafkaConsumer, KafkaProducer]


def settings(client: Any, options: dict[str, str]) -> dict[str, Any]:
    return KafkaClient("a:1, b:2", options, 15)._settings(client.DEFAULT_CONFIG)


@pytest.mark.parametrize("client", CLIENTS)
def test_every_option_that_is_passed_on_has_the_type_of_the_client_s_own_default(client: Any) -> None:
    names = [name for name in client.DEFAULT_CONFIG if name.startswith(("security_", "sasl_", "ssl_"))]
    given = {name.replace("_", "."): "false" for name in names}
    passed = settings(client, {**given, "security.protocol": "sasl_ssl"})
    assert passed["security_protocol"] == "SASL_SSL"
    for name in names:
        default = client.DEFAULT_CONFIG[name]
        if name in ("ssl_context", "sasl_oauth_token_provider"):
            assert name not in passed
        elif default is None:
            assert passed[name] == "false"
        else:
            assert type(passed[name]) is type(default), name
    assert passed["bootstrap_servers"] == ["a:1", "b:2"]


@pytest.mark.parametrize(("text", "value"), [("true", True), ("FALSE", False)])
def test_a_flag_is_a_boolean(text: str, value: bool) -> None:
    assert settings(KafkaAdminClient, {"ssl.check.hostname": text})["ssl_check_hostname"] is value
    assert KafkaConfig.model_validate({"options": {"ssl.check.hostname": value}}).options == {
        "ssl.check.hostname": str(value).lower()
    }


def test_a_flag_that_is_none_is_one_line() -> None:
    with pytest.raises(KafkaError) as raised:
        KafkaClient("a:1", {"ssl.check.hostname": "maybe"}, 15).admin()
    assert str(raised.value) == "kafka.options 'ssl.check.hostname' 'maybe': is true or false"


def test_options_of_spark_s_clients_alone_are_not_passed_on() -> None:
    passed = settings(KafkaProducer, {"max.block.ms": "5", "ssl.truststore.location": "x", "acks": "1"})
    assert set(passed) == {"bootstrap_servers", "bootstrap_timeout_ms"}


@pytest.mark.timeout(25)
@pytest.mark.parametrize("ask", [KafkaClient.admin, KafkaClient.consumer, KafkaClient.producer])
def test_a_kafka_that_does_not_answer_is_waited_for_as_long_as_configured(ask: Any) -> None:
    """The port is open, and silent; the client alone would wait for longer than this test may take."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        cluster = KafkaCluster(address, KafkaConfig(timeout_s=0.5))
        with pytest.raises(
            KafkaError, match=f"Kafka '{address}': does not answer: check kafka.bootstrap_servers and that it runs"
        ):
            ask(cluster.client)
