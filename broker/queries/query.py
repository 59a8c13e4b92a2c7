"""A registered query: its fields, their legal forms, and its record in the registry."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, TypeVar

from asc.query_id import checked_id
from broker.config.sections import TOPIC_FORM
from broker.errors import QueryError, UnknownOperatorError
from broker.failure import one_line
from broker.operators.definition import Definition
from broker.operators.kinds import definition_of
from broker.queries.join import Join

_RECORD_FORM = 1
"""The form (``v``) of a record of the registry. A record without ``v`` has this form."""

_OPERATED_FORM = 2
"""The form of the registry's record of a query that has an operator or is a join.

An earlier version of the daemon, which knows neither operators nor joins, refuses this form. So it cannot route the
accepted records, or write the query again without its operator or join.
"""

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
"""The JSON encoder, created once, because a bulk load encodes a million records."""

_SHOWN_CHARS = 1_000
"""The number of characters of an unreadable record that are shown."""

_LABELS_MAX = 64
_LABEL_CHARS_MAX = 1_000

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class RegisteredQuery:
    """A standing query, as the registry stores it.

    Invariant: id, labels and topic have a legal form, because headers of records contain them; ``expires_at`` has a
    time zone, UTC. ``version`` is the offset of its record in the registry; -1 before it is written. ``join``: the
    layer with which it is joined, or None. ``operator``: the operator of its accepted records; None if they are routed.
    ``since``: the version of the registry just before its first registration, which identifies that registration. A
    replacement with an operator of the same kind keeps ``since``. A pause keeps it only for a kind with the handoff
    ``fold``. Only queries with an operator have ``since``; for others it is -1.

    ``unreadable``: the reason why its record cannot be used here. The record is damaged, has a later form, or contains
    a query that could not be registered. Such a query is only listed: under the key of its record, even if the key is
    no legal id, and with the record's text as ``where``.

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
    unreadable: str | None = None
    join: Join | None = None
    operator: Definition | None = None
    since: int = field(default=-1, compare=False)

    def at(self, version: int) -> RegisteredQuery:
        """Return the same query with another version."""
        # Ten times as fast as dataclasses.replace(); a bulk load calls this up to a million times.
        return RegisteredQuery(
            self.id,
            self.stream,
            self.where,
            self.topic,
            self.labels,
            self.paused,
            self.expires_at,
            version,
            self.unreadable,
            self.join,
            self.operator,
            self.since,
        )

    def record(self) -> bytes:
        """Return the value of the query's record in the registry."""
        plain = self.plain()
        del plain["version"]
        if self.join is None:
            # Records of queries without a join stay equal to those of earlier versions.
            del plain["join"]
        if self.operator is None:
            del plain["operator"]
        if self.since >= 0:
            plain["since"] = self.since
        form = _RECORD_FORM if self.operator is None and self.join is None else _OPERATED_FORM
        return _ENCODER.encode({"v": form, **plain}).encode()

    @classmethod
    def from_record(cls, query_id: str, value: bytes, version: int) -> RegisteredQuery:
        """Return the query in a record of the registry, which any version of asc-broker may have written. The query is
        ``unreadable`` if this version does not know the record's form.

        >>> RegisteredQuery.from_record("late", b'{"stream": "flights", "where": "dep_delay > 60"}', 7).topic
        'asc.late'
        >>> RegisteredQuery.from_record("late", b'{"v": 9}', 7).unreadable  # doctest: +ELLIPSIS
        'its record in the registry is of form 9, and 1 and 2 are known: register it anew, ...'
        """
        try:
            plain = json.loads(value)
            if not isinstance(plain, dict):
                raise TypeError("it is no JSON object")
            form = plain.get("v", _RECORD_FORM)
            if form not in (_RECORD_FORM, _OPERATED_FORM):
                remedy = "register it anew, remove it, or run a newer daemon"
                reason = f"is of form {str(form)[:50]}, and {_RECORD_FORM} and {_OPERATED_FORM} are known: {remedy}"
                return cls._unread(query_id, value, version, reason)
            expires_at = plain.get("expires_at")
            # A writer of the registry's topic can write queries that the API refuses.
            return cls(
                check_id(query_id),
                _of_type(str, plain, "stream"),
                _of_type(str, plain, "where"),
                check_topic(_of_type(str, {"topic": default_topic(query_id), **plain}, "topic")),
                _labels(plain),
                _of_type(bool, {"paused": False, **plain}, "paused"),
                None if expires_at is None else parse_time(_of_type(str, plain, "expires_at")),
                version,
                join=Join.of(plain.get("join")),
                operator=_operator(plain),
                since=_of_type(int, {"since": -1, **plain}, "since"),
            )
        except UnknownOperatorError as error:
            remedy = "run a newer daemon, or register it anew, or remove it"
            return cls._unread(query_id, value, version, f"has an operator that is not known here ({error}): {remedy}")
        except (ValueError, TypeError, RecursionError, QueryError) as error:
            reason = f"cannot be read ({one_line(error)}): register it anew, or remove it"
            return cls._unread(query_id, value, version, reason)

    @classmethod
    def _unread(cls, query_id: str, value: bytes, version: int, reason: str) -> RegisteredQuery:
        text = value.decode("utf-8", "replace")
        shown = text[:_SHOWN_CHARS] + ("..." if len(text) > _SHOWN_CHARS else "")
        return cls(query_id, "", shown, "", version=version, unreadable=f"its record in the registry {reason}")

    def plain(self) -> dict[str, Any]:
        """Return the query as a JSON object, as the API shows it."""
        return {
            "id": self.id,
            "stream": self.stream,
            "where": self.where,
            "topic": self.topic,
            "labels": dict(self.labels),
            "paused": self.paused,
            "expires_at": None if self.expires_at is None else self.expires_at.isoformat().replace("+00:00", "Z"),
            "version": self.version,
            "join": None if self.join is None else self.join.plain(),
            "operator": None if self.operator is None else self.operator.plain(),
        }


def default_topic(query_id: str) -> str:
    """Return the default destination topic of a query."""
    return f"asc.{query_id}"


def check_id(query_id: str) -> str:
    """Return the id if its form is legal. Otherwise raise QueryError.

    >>> check_id("late arrivals")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    broker...QueryError: query id 'late arrivals': use 1 to 200 of A-Z a-z 0-9 . _ -, a letter or digit first
    """
    return checked_id(query_id, QueryError)


def check_labels(labels: Mapping[str, str]) -> Mapping[str, str]:
    """Return the labels. Raise QueryError if there are too many, or if a key or a value is not legal."""
    if len(labels) > _LABELS_MAX:
        raise QueryError("number of labels", len(labels), f"give a query at most {_LABELS_MAX}")
    for key, value in labels.items():
        if not key or "=" in key or len(key) > _LABEL_CHARS_MAX or len(value) > _LABEL_CHARS_MAX:
            raise QueryError(
                "label", key[:250], f"use a key without '=' and at most {_LABEL_CHARS_MAX} characters each"
            )
    return labels


def check_topic(topic: str) -> str:
    """Return the name of a destination topic. Raise QueryError if it is not legal."""
    if not TOPIC_FORM.fullmatch(topic) or topic in (".", ".."):
        raise QueryError("destination topic", topic[:300], "use 1 to 249 of the characters A-Z a-z 0-9 . _ -")
    return topic


def _of_type(kind: type[_T], plain: Mapping[str, Any], name: str) -> _T:
    value = plain.get(name)
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {'missing' if name not in plain else 'of another type'}")
    if isinstance(value, str):
        # Half of a surrogate pair can be spelled in JSON, and nothing can be done with it.
        value.encode()
    return value


def _operator(plain: Mapping[str, Any]) -> Definition | None:
    given = plain.get("operator")
    return None if given is None else definition_of(_of_type(dict, plain, "operator"))


def _labels(plain: Mapping[str, Any]) -> dict[str, str]:
    labels = _of_type(dict, {"labels": {}, **plain}, "labels")
    if not all(isinstance(value, str) for value in labels.values()):
        raise TypeError("a label is no text")
    for text in (*labels, *labels.values()):
        text.encode()  # half a character could be read, and never be written again
    check_labels(labels)
    return labels


def parse_time(text: str) -> datetime:
    """Return an ISO 8601 date and time with an offset, converted to UTC. Raise QueryError for other texts.

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
