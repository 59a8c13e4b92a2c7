"""A registered query: its fields, their legal forms, and its record in the registry."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from broker.errors import BrokerError, QueryError


@dataclass(frozen=True, slots=True)
class RegisteredQuery:
    """A standing query as the registry holds it (spec: query).

    Invariant: the id and the labels are of legal form, ``expires_at`` is aware and in UTC. ``version`` is the offset of
    its record in the registry; -1 before it is written.

    >>> query = RegisteredQuery("late", "flights", "dep_delay > 60", "asc.late")
    >>> RegisteredQuery.from_record("late", query.record(), 7) == query.at(7)
    True
    """

    id: str
    stream: str
    where: str
    topic: str
    labels: Mapping[str, str] = field(default_factory=dict)
    paused: bool = False
    expires_at: datetime | None = None
    version: int = -1

    def at(self, version: int) -> RegisteredQuery:
        """The same query with the version of its record."""
        return replace(self, version=version)

    def record(self) -> bytes:
        """The value of its record in the registry."""
        plain = self.plain()
        del plain["version"]
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode()

    @classmethod
    def from_record(cls, query_id: str, value: bytes, version: int) -> RegisteredQuery:
        """The query in a record of the registry; BrokerError where it is not one."""
        try:
            plain = json.loads(value)
            expires_at = None if plain["expires_at"] is None else parse_time(plain["expires_at"])
            return cls(
                query_id,
                plain["stream"],
                plain["where"],
                plain["topic"],
                plain["labels"],
                plain["paused"],
                expires_at,
                version,
            )
        except (ValueError, KeyError, TypeError, QueryError) as error:
            raise BrokerError(
                "registry record", f"{query_id} at offset {version}", f"cannot be read: {error}"
            ) from error

    def plain(self) -> dict[str, Any]:
        """The query as the API shows it."""
        return {
            "id": self.id,
            "stream": self.stream,
            "where": self.where,
            "topic": self.topic,
            "labels": dict(self.labels),
            "paused": self.paused,
            "expires_at": None if self.expires_at is None else self.expires_at.isoformat().replace("+00:00", "Z"),
            "version": self.version,
        }


def parse_time(text: str) -> datetime:
    """An ISO 8601 date and time with its offset, in UTC; QueryError otherwise.

    >>> parse_time("2030-01-01T00:00:00+01:00").isoformat()
    '2029-12-31T23:00:00+00:00'
    """
    try:
        time = datetime.fromisoformat(re.sub("[zZ]$", "+00:00", text))
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        remedy = "write an ISO 8601 time with its offset, as 2030-01-31T12:00:00Z; one that is past is refused"
        raise QueryError("expires_at", text[:100], remedy)
    try:
        return time.astimezone(timezone.utc)
    except OverflowError:
        raise QueryError("expires_at", text[:100], "is out of range: choose a year from 1 to 9999") from None
