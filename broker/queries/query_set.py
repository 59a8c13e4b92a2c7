"""What stands: the registered queries at one version, as an immutable set."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import islice

from broker.errors import UnknownQueryError
from broker.queries.query import RegisteredQuery


@dataclass(frozen=True, eq=False)
class QuerySet:
    """The standing queries by id, at the ``version`` of the registry (-1: it is empty).

    ``unserved``: those that no plan holds, with the reason: they break a rule of today's configuration. Invariant:
    immutable; a change makes another set. Cost: a dictionary, copied by a change; the ids are sorted when a page of
    them is first asked for.
    """

    queries: Mapping[str, RegisteredQuery] = field(default_factory=dict)
    version: int = -1
    unserved: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.queries)

    def __contains__(self, query_id: object) -> bool:
        return query_id in self.queries

    def __iter__(self) -> Iterator[RegisteredQuery]:
        return iter(self.queries.values())

    def get(self, query_id: str) -> RegisteredQuery:
        """A standing query; UnknownQueryError."""
        query = self.queries.get(query_id)
        if query is None:
            raise UnknownQueryError("unknown query", query_id[:250], "'asc query list' shows the registered ones")
        return query

    def planned_on(self, query_id: str) -> str | None:
        """The stream whose plan holds a query; None for one that is not there, paused or not served."""
        query = self.queries.get(query_id)
        return None if query is None or query.paused or query_id in self.unserved else query.stream

    def holds(self, query: RegisteredQuery) -> bool:
        """Whether a query stands just so, but for its version, and may be in a plan: to register it changes nothing."""
        standing = self.queries.get(query.id)
        return standing is not None and query.id not in self.unserved and query.at(standing.version) == standing

    def page(
        self,
        *,
        prefix: str = "",
        label: tuple[str, str] | None = None,
        stream: str | None = None,
        after: str | None = None,
        limit: int,
    ) -> tuple[list[RegisteredQuery], bool]:
        """The first queries by id, ``after`` one if it is given, and whether there are more of those: whose id begins
        with ``prefix``, with a ``label``, of a ``stream``.
        """
        ids = self._sorted_ids
        first = max(bisect_left(ids, prefix), 0 if after is None else bisect_right(ids, after))
        found: list[RegisteredQuery] = []
        for query_id in islice(ids, first, None):
            if not query_id.startswith(prefix):
                break
            query = self.queries[query_id]
            if (label is None or query.labels.get(label[0]) == label[1]) and stream in (None, query.stream):
                if len(found) == limit:
                    return found, True
                found.append(query)
        return found, False

    def counts(self) -> Counter[str]:
        """The number of queries by stream, paused ones included."""
        return Counter(query.stream for query in self)

    def expired(self, now: datetime) -> list[str]:
        """The ids of the queries whose time has come."""
        return [query.id for query in self if query.expires_at is not None and query.expires_at <= now]

    def changed(self, puts: Iterable[RegisteredQuery], removes: Iterable[str], version: int) -> QuerySet:
        """The set with queries put, each in place of that of its id, and others removed; what was put is served."""
        queries, unserved = dict(self.queries), dict(self.unserved)
        for query_id in removes:
            queries.pop(query_id, None)
            unserved.pop(query_id, None)
        for query in puts:
            queries[query.id] = query
            unserved.pop(query.id, None)
        return QuerySet(queries, version, unserved)

    @cached_property
    def _sorted_ids(self) -> list[str]:
        return sorted(self.queries)
