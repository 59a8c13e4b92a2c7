"""The API's answers about streams and the daemon."""

from __future__ import annotations

from typing_extensions import TypedDict


class Ready(TypedDict):
    """The readiness of the daemon, and the reason if it is not ready."""

    ready: bool
    reason: str | None


class Stream(TypedDict):
    """A configured stream: the number of its queries, and the number of these that no plan can contain."""

    name: str
    topic: str
    format: str
    schema: str
    options: dict[str, str]
    time_zone: str
    dead_letter_topic: str
    queries: int
    not_served: int


class KafkaAddress(TypedDict):
    """The addresses of the Kafka cluster that the daemon uses, and the security protocol."""

    bootstrap_servers: str
    security_protocol: str


class Streams(TypedDict):
    """The configured streams, and the address of their Kafka cluster."""

    streams: list[Stream]
    kafka: KafkaAddress
