"""What stands: the registered queries at one version, as an immutable set with its indexes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice
from typing import TypeVar

from broker.errors import UnknownQueryError
from broker.queries.query import RegisteredQuery
from broker.queries.sorted_map import SortedMap

_STREAM = ""
"""The name of no label, under which a query's stream is filed among its labels."""

_Label = tuple[str, str, str]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Indexes:
    """What is known of all queries of a set: those under each label by name, value and id; when which expire; how many
    there are of each stream, and by stream and topic of those that deliver to a topic that is watched.
    """

    labels: SortedMap[_Label, None]
    expiring: SortedMap[tuple[datetime, str], None]
    counts: Counter[str]
    feeds: Counter[tuple[str, str]]

    def changed(
        self, gone: Collection[RegisteredQuery], come: Collection[RegisteredQuery], watched: Collection[str]
    ) -> _Indexes:
        return _Indexes(
            self.labels.changed(dict.fromkeys(_all(_filed, come)), list(_all(_filed, gone))),
            self.expiring.changed(dict.fromkeys(_all(_due, come)), list(_all(_due, gone))),
            _counted(self.counts, (query.stream for query in gone), (query.stream for query in come)),
            _counted(self.feeds, _feeds(gone, watched), _feeds(come, watched)),
        )


class QuerySet:
    """The standing queries by id, at the ``version`` of the registry (-1: it is empty).

    ``unserved``: those that no plan holds, with the reason: they break a rule of today's configuration. ``watched``:
    the topics of which :meth:`feeds` tells who delivers to them. Invariant: immutable; a change makes another set.
    Cost: no look, page, change or count walks over all queries but a page by label and stream, which walks over those
    of the label, and a count by an id's beginning, which walks over those of it; some 200 bytes a query beside it.
    """

    def __init__(
        self,
        queries: Mapping[str, RegisteredQuery] | None = None,
        version: int = -1,
        unserved: Mapping[str, str] | None = None,
        watched: Collection[str] = (),
    ) -> None:
        self.queries: SortedMap[str, RegisteredQuery] = SortedMap(queries)
        self.version = version
        self.unserved: SortedMap[str, str] = SortedMap(unserved)
        self._watched = frozenset(watched)
        none = _Indexes(SortedMap(), SortedMap(), Counter(), Counter())
        self._indexes = none.changed((), list(self.queries.values()), self._watched)

    def __len__(self) -> int:
        return len(self.queries)

    def __contains__(self, query_id: object) -> bool:
        return query_id in self.queries

    def __iter__(self) -> Iterator[RegisteredQuery]:
        return (query for _, query in self.queries.items_from())

    def get(self, query_id: str) -> RegisteredQuery:
        """A standing query; UnknownQueryError."""
        query = self.queries.get(query_id)
        if query is None:
            raise unknown_query(query_id)
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
        streams: Collection[str] | None = None,
        after: str | None = None,
        limit: int,
    ) -> tuple[list[RegisteredQuery], bool]:
        """The first queries by id, ``after`` one if it is given, and whether there are more of those: whose id begins
        with ``prefix``, with a ``label``, of one of ``streams``.
        """
        found = list(islice(self.walk(prefix, streams, label=label, after=after), limit + 1))
        return found[:limit], len(found) > limit

    def walk(
        self,
        prefix: str = "",
        streams: Collection[str] | None = None,
        *,
        label: tuple[str, str] | None = None,
        after: str | None = None,
    ) -> Iterator[RegisteredQuery]:
        """The queries by id whose id begins with ``prefix``, of one of ``streams``, with a ``label``, ``after`` one."""
        first = max(prefix, "" if after is None else after + "\0")
        one = next(iter(streams)) if streams is not None and len(streams) == 1 else None
        filed = label or (None if one is None else (_STREAM, one))
        is_most = label is None and one is not None and 2 * self._indexes.counts.get(one, 0) > len(self)
        if filed is None or is_most:
            # The most of them are wanted: to pass over the others costs less than to look each up.
            found: Iterator[tuple[str, RegisteredQuery]] = self.queries.items_from(first)
        else:
            found = ((query_id, self.queries[query_id]) for query_id in self._ids(filed, first))
        for query_id, query in found:
            if not query_id.startswith(prefix):
                return
            if streams is None or query.stream in streams:
                yield query

    def count(self, prefix: str, streams: Collection[str] | None) -> int:
        """How many queries :meth:`walk` has; without a prefix none is walked over."""
        if prefix:
            return sum(1 for _ in self.walk(prefix, streams))
        counts = self._indexes.counts
        return len(self) if streams is None else sum(counts.get(stream, 0) for stream in streams)

    def counts(self) -> Counter[str]:
        """The number of queries by stream, paused ones included."""
        return Counter(self._indexes.counts)

    def feeds(self, without: Iterable[str] = ()) -> set[tuple[str, str]]:
        """The streams that have a query that delivers to a watched topic, each with the topic; ``without`` some ids."""
        left_out = [query for query_id in without if (query := self.queries.get(query_id)) is not None]
        return set(_counted(self._indexes.feeds, _feeds(left_out, self._watched), ()))

    def expired(self, now: datetime) -> list[str]:
        """The ids of the queries whose time has come."""
        found = []
        for (expires_at, query_id), _ in self._indexes.expiring.items_from():
            if expires_at > now:
                break
            found.append(query_id)
        return found

    def changed(self, puts: Iterable[RegisteredQuery], removes: Iterable[str], version: int) -> QuerySet:
        """The set with queries put, each in place of that of its id, and others removed; what was put is served."""
        come = {query.id: query for query in puts}
        removed = [query_id for query_id in removes if query_id not in come]
        gone = [query for name in (*come, *removed) if (query := self.queries.get(name)) is not None]
        after = QuerySet.__new__(QuerySet)
        after.version, after._watched = version, self._watched
        after.queries = self.queries.changed(come, removed)
        after.unserved = self.unserved.changed({}, [*come, *removed]) if self.unserved else self.unserved
        after._indexes = self._indexes.changed(gone, come.values(), self._watched)
        return after

    def with_unserved(self, unserved: Mapping[str, str]) -> QuerySet:
        """The same queries, of which others are not served."""
        after = QuerySet.__new__(QuerySet)
        after.version, after._watched = self.version, self._watched
        after.queries, after._indexes = self.queries, self._indexes
        after.unserved = SortedMap(unserved)
        return after

    def _ids(self, label: tuple[str, str], first: str) -> Iterator[str]:
        """The ids under a label from one on, in order."""
        for (name, value, query_id), _ in self._indexes.labels.items_from((*label, first)):
            if (name, value) != label:
                return
            yield query_id


def unknown_query(query_id: str) -> UnknownQueryError:
    """That no query of an id stands."""
    return UnknownQueryError("unknown query", query_id[:250], "'asc query list' shows the registered ones")


def _all(keys: Callable[[RegisteredQuery], Iterable[_T]], queries: Iterable[RegisteredQuery]) -> Iterator[_T]:
    return chain.from_iterable(map(keys, queries))


def _filed(query: RegisteredQuery) -> Iterator[_Label]:
    yield (_STREAM, query.stream, query.id)
    for name, value in query.labels.items():
        yield (name, value, query.id)


def _due(query: RegisteredQuery) -> Iterator[tuple[datetime, str]]:
    if query.expires_at is not None:
        yield (query.expires_at, query.id)


def _feeds(queries: Iterable[RegisteredQuery], watched: Collection[str]) -> Iterator[tuple[str, str]]:
    return ((query.stream, query.topic) for query in queries if query.topic in watched)


def _counted(counts: Counter[_T], gone: Iterable[_T], come: Iterable[_T]) -> Counter[_T]:
    found = Counter(counts)
    found.update(come)
    found.subtract(gone)
    return +found
