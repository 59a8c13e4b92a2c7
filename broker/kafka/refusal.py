"""Diagnosis of a Kafka that runs but cannot be used with the configured options."""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Mapping
from typing import Any

from broker.config.security import librdkafka_options, protocol_of, tls_context
from broker.errors import KafkaError
from broker.failure import one_line

_WITHIN_S = 3.0


def refusal(bootstrap_servers: str, options: Mapping[str, str]) -> KafkaError | None:
    """Return the first fault of the options, at the first server that accepts a connection. Return None if none is
    found.

    The function checks whether the server speaks TLS, has a trusted certificate and accepts the login, as the options
    require. This takes some seconds at most.
    """
    for server in bootstrap_servers.replace(" ", "").split(","):
        host, _, port = server.rpartition(":")
        address = host.strip("[]"), int(port)
        try:
            socket.create_connection(address, _WITHIN_S).close()
        except OSError:
            continue
        speaks_tls = protocol_of(options).endswith("SSL")
        return _of_tls(server, address, options) if speaks_tls else _of_plain(server, address, options)
    return None


def _of_tls(server: str, address: tuple[str, int], options: Mapping[str, str]) -> KafkaError | None:
    try:
        _shake_hands(address, tls_context(options))
    except ssl.SSLCertVerificationError as error:
        if error.verify_code in (62, 64):
            remedy = (
                f"the certificate of {server} is for another host: name that in kafka.bootstrap_servers, or set false"
            )
            return KafkaError("kafka.options 'ssl.check.hostname'", options.get("ssl.check.hostname", "true"), remedy)
        remedy = f"does not vouch for the certificate of {server} ({error.verify_message})"
        return KafkaError("kafka.options 'ssl.cafile'", options.get("ssl.cafile"), remedy)
    except (ssl.SSLError, ConnectionError) as error:
        why = f"{server} does not speak TLS so ({getattr(error, 'reason', None) or error})"
        return KafkaError(
            "kafka.options 'security.protocol'", protocol_of(options), f"{why}: PLAINTEXT or SASL_PLAINTEXT?"
        )
    except OSError:
        return None
    return _of_login(server, options)


def login_refusal(bootstrap_servers: str, options: Mapping[str, str], why: str) -> KafkaError:
    """Return the error for a Kafka that refuses the login in the options. ``why``: Kafka's answer."""
    is_mechanism = "unsupported" in why.lower() and "mechanism" in why.lower()
    key, what = ("sasl.mechanism", "it") if is_mechanism else ("sasl.plain.username", "it with the password")
    remedy = f"Kafka at {bootstrap_servers} does not take {what} ({why})"
    return KafkaError(f"kafka.options '{key}'", options.get(key, ""), remedy)


def _of_login(server: str, options: Mapping[str, str]) -> KafkaError | None:
    """Return the refusal of the login that librdkafka reports: kafka-python retries forever without a reason."""
    if not protocol_of(options).startswith("SASL"):
        return None
    from confluent_kafka import KafkaError as ClientError
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    heard: list[str] = []

    def hear(error: ClientError) -> None:
        if error.code() == ClientError._AUTHENTICATION:
            heard.append(error.str())

    with contextlib.suppress(KafkaException):
        settings: dict[str, Any] = {**librdkafka_options(options), "error_cb": hear, "log_level": 0}
        client = AdminClient({**settings, "bootstrap.servers": server})
        with contextlib.suppress(KafkaException):
            client.list_topics(timeout=_WITHIN_S)
        client.poll(0)
    return login_refusal(server, options, one_line(heard[0])) if heard else None


def _of_plain(server: str, address: tuple[str, int], options: Mapping[str, str]) -> KafkaError | None:
    anyone = ssl.create_default_context()
    anyone.check_hostname = False
    anyone.verify_mode = ssl.CERT_NONE
    with contextlib.suppress(OSError):
        _shake_hands(address, anyone)
        remedy = f"{server} speaks TLS: SSL or SASL_SSL?"
        return KafkaError("kafka.options 'security.protocol'", protocol_of(options), remedy)
    return _of_login(server, options)


def _shake_hands(address: tuple[str, int], context: ssl.SSLContext) -> None:
    with (
        socket.create_connection(address, _WITHIN_S) as raw,
        context.wrap_socket(raw, server_hostname=address[0]),
    ):
        pass
