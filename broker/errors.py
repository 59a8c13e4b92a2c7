"""Exceptions of the broker: each one line of subject, value and remedy."""

from __future__ import annotations

from asc.errors import AscError


class BrokerError(AscError):
    """Something the user of the broker can mend."""


class RuntimeMissingError(BrokerError):
    """Java, a jar or a process the broker runs on is missing or does not start."""


class KafkaError(BrokerError):
    """A Kafka broker that does not start, does not answer, or refuses."""


class MatchError(BrokerError):
    """A DataFrame and a set of queries that do not go together."""
