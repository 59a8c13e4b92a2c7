"""Permissions of one caller to see and change standing queries."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.spark_types import folded
from broker.access.column_path import Path, dotted
from broker.errors import ForbiddenError

_LISTED = 8


@dataclass(frozen=True, slots=True)
class Scope:
    """The limits of a caller; a limit that is None or empty does not apply.

    ``read_only``: whether the caller may change nothing. A query is the caller's *own* if its id begins with
    ``id_prefix`` and its stream is one of ``streams``. The caller sees and changes no other query. A query that the
    caller changes must deliver to a topic that begins with one of ``topic_prefixes``. The query's predicate, also one
    that another caller wrote, may name only ``columns`` (paths in lower case) and the fields inside them.
    ``max_queries``: the largest number of queries that the caller may have registered, including paused ones.

    Invariant: a refusal for an id, stream, topic or column does not depend on registered queries, so it reveals nothing
    about queries of others. ``name``: the owner of the scope in the audit log.
    """

    name: str
    read_only: bool = False
    id_prefix: str = ""
    streams: frozenset[str] | None = None
    topic_prefixes: tuple[str, ...] | None = None
    columns: frozenset[Path] | None = None
    max_queries: int | None = None

    def check_change(self) -> None:
        """Raise ForbiddenError if the caller may change nothing."""
        if self.read_only:
            raise ForbiddenError("token", self.name, "may only read: use one that may write")

    def check_id(self, query_id: str) -> None:
        """Raise ForbiddenError for an id that no query of the caller can have."""
        if not query_id.startswith(self.id_prefix):
            remedy = f"the ids of token '{self.name}' begin with '{self.id_prefix}'"
            raise ForbiddenError("query id", query_id[:250], remedy)

    def check_stream(self, stream: str) -> None:
        """Raise ForbiddenError for a stream that the caller may not use, whether a stream of that name exists or
        not.
        """
        if self.streams is not None and stream not in self.streams:
            remedy = f"the streams of token '{self.name}' are {_listed(sorted(self.streams))}"
            raise ForbiddenError("stream", stream[:200], remedy)

    def check_topic(self, topic: str) -> None:
        """Raise ForbiddenError for a destination topic that begins with none of ``topic_prefixes``."""
        if self.topic_prefixes is not None and not topic.startswith(self.topic_prefixes):
            remedy = f"the destinations of token '{self.name}' begin with {_listed(self.topic_prefixes)}: name one"
            raise ForbiddenError("destination topic", topic[:300], remedy)

    def check_columns(self, predicate: Predicate) -> None:
        """Raise ForbiddenError if a predicate names a column that the caller may not read, or a struct that contains
        such a column.
        """
        if self.columns is None:
            return
        for path in sorted(predicate.columns):
            names = tuple(map(folded, path))
            if not any(names[:length] in self.columns for length in range(1, len(names) + 1)):
                allowed = _listed([dotted(column) for column in sorted(self.columns)])
                raise ForbiddenError("column", dotted(path)[:200], f"token '{self.name}' may name {allowed}")

    def check_number(self, own_queries: int) -> None:
        """Raise ForbiddenError if ``own_queries`` exceeds the caller's limit of queries."""
        if self.max_queries is not None and own_queries > self.max_queries:
            remedy = f"token '{self.name}' has {self.max_queries} at most, paused ones counted: remove one first"
            raise ForbiddenError("number of queries", own_queries, remedy)

    def owns(self, query_id: str, stream: str) -> bool:
        """Return whether a standing query belongs to the caller, by the query's id and stream."""
        return query_id.startswith(self.id_prefix) and (self.streams is None or stream in self.streams)

    @property
    def sees_all(self) -> bool:
        """True if the caller owns every query."""
        return not self.id_prefix and self.streams is None

    @property
    def sees_whole_streams(self) -> bool:
        """True if the caller owns all queries of each stream that the caller sees."""
        return not self.id_prefix


def unlimited(name: str) -> Scope:
    """Return the scope of a caller without limits."""
    return Scope(name)


def _listed(names: Collection[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in list(names)[:_LISTED])
    return f"{shown} and {len(names) - _LISTED} more" if len(names) > _LISTED else shown or "none"
