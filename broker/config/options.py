"""Pass-through options of Kafka's clients and of Spark's parsers, and which of them are secret."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator

SECRET_KEY = re.compile(r"password|secret|token|jaas|credential|\.key$", re.IGNORECASE)
"""Keys of the broker's own configuration whose values are never shown."""

_PLAIN_KEYS = frozenset(
    [
        "acks",
        "allow.auto.create.topics",
        "auto.include.jmx.reporter",
        "batch.size",
        "buffer.memory",
        "client.dns.lookup",
        "client.id",
        "client.rack",
        "compression.type",
        "connections.max.idle.ms",
        "default.api.timeout.ms",
        "delivery.timeout.ms",
        "enable.idempotence",
        "fetch.max.bytes",
        "fetch.max.wait.ms",
        "fetch.min.bytes",
        "isolation.level",
        "key.serializer",
        "linger.ms",
        "max.block.ms",
        "max.in.flight.requests.per.connection",
        "max.partition.fetch.bytes",
        "max.poll.records",
        "max.request.size",
        "metadata.max.age.ms",
        "partitioner.class",
        "receive.buffer.bytes",
        "reconnect.backoff.max.ms",
        "reconnect.backoff.ms",
        "request.timeout.ms",
        "retries",
        "retry.backoff.max.ms",
        "retry.backoff.ms",
        "sasl.kerberos.service.name",
        "sasl.mechanism",
        "security.protocol",
        "send.buffer.bytes",
        "ssl.cafile",
        "ssl.certfile",
        "ssl.check.hostname",
        "ssl.cipher.suites",
        "ssl.crlfile",
        "ssl.enabled.protocols",
        "ssl.endpoint.identification.algorithm",
        "ssl.keyfile",
        "ssl.keystore.location",
        "ssl.keystore.type",
        "ssl.protocol",
        "ssl.truststore.location",
        "ssl.truststore.type",
        "value.serializer",
    ]
)
"""The pass-through options that are known to hold no secret. All others are masked, because a list of secret options is
never complete.
"""


def _option_text(value: Any) -> Any:
    # Spark and Kafka spell booleans and numbers as text; TOML writers do not.
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (int, float)) else value


Options = dict[str, Annotated[str, BeforeValidator(_option_text)]]
"""Pass-through options: text by key."""


def masked(options: Mapping[str, str]) -> dict[str, str]:
    """Return options with masked values, except for options that are known to hold no secret.

    >>> masked({"ssl.key.password": "x", "security.protocol": "SSL", "basic.auth.user.info": "me:x"})
    {'ssl.key.password': '********', 'security.protocol': 'SSL', 'basic.auth.user.info': '********'}
    """
    return {key: value if key in _PLAIN_KEYS else "********" for key, value in options.items()}
