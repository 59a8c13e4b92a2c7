"""The standing queries: the registered queries at one version, as an immutable set with indexes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from heapq import merge
from itertools import chain, islice, takewhile
from typing import TypeVar

from asc.predicate.spatial.named_shapes import named_shapes
from asc.spatial.layer import Layer
from broker.errors import UnknownQueryError
from broker.layers.mark import LayerMark
from broker.layers.stored_layer import StoredLayer
from broker.operators.kinds import ROUTE, name_of
from broker.plans.sorted_map import SortedMap
from broker.queries.query import RegisteredQuery

_ALL = ("", "")
"""The empty label. All queries of a stream are indexed under it."""

_NO_SHAPE = ""
"""An id that no shape has."""

_OPERATOR, _LAYER = "operator=", "layer="
"""The labels of a query's operator and of the layer that it is joined with.

A query is indexed under them as under a label with an empty name, which no real label has.
"""

_Label = tuple[str, str, str, str]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Indexes:
    """The indexes over all queries of a set.

    ``labels``: keys of stream, label name, label value and query id. ``expiring``: expiry times with query ids.
    ``naming``: keys of layer, shape id and query id, for each shape that a query names. A join over the layer is under
    the shape id ``_NO_SHAPE``. ``counts``: the number of queries of each stream. ``feeds``: the number of queries that
    deliver to one of the topics ``watched``, by stream and topic.
    """

    labels: SortedMap[_Label, None]
    expiring: SortedMap[tuple[datetime, str], None]
    naming: SortedMap[tuple[str, str, str], None]
    counts: Counter[str]
    feeds: Counter[tuple[str, str]]

    def changed(
        self, gone: Collection[RegisteredQuery], come: Collection[RegisteredQuery], watched: Collection[str]
    ) -> _Indexes:
        return _Indexes(
            self.labels.changed(dict.fromkeys(_all(_filed, come)), list(_all(_filed, gone))),
            self.expiring.changed(dict.fromkeys(_all(_due, come)), list(_all(_due, gone))),
            self.naming.changed(dict.fromkeys(_all(_naming, come)), list(_all(_naming, gone))),
            _counted(self.counts, (query.stream for query in gone), (query.stream for query in come)),
            _counted(self.feeds, _feeds(gone, watched), _feeds(come, watched)),
        )


class QuerySet:
    """The standing queries by id, at the ``version`` of the registry (-1: the registry is empty).

    ``unserved``: the reasons of the queries that no plan serves, for example a broken rule of the configuration.
    ``watched``: the destination topics that :meth:`feeds` reports. ``layers``: the current shapes. ``marks``: for each
    layer, the offsets up to which its topic was read for this version. Invariant: immutable; a change returns another
    set. Cost: lookup, page, change and count never walk over all queries; the indexes take some 200 bytes for each
    query.
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
        self._unserved_of = self._by_stream(self.unserved)
        self._watched = frozenset(watched)
        self.marks: Mapping[str, LayerMark] = {}
        self.layers: Mapping[str, StoredLayer] = {}
        self.shapes: Mapping[str, Layer] = {}
        none = _Indexes(SortedMap(), SortedMap(), SortedMap(), Counter(), Counter())
        self._indexes = none.changed((), list(self.queries.values()), self._watched)

    def __len__(self) -> int:
        return len(self.queries)

    def __contains__(self, query_id: object) -> bool:
        return query_id in self.queries

    def __iter__(self) -> Iterator[RegisteredQuery]:
        return (query for _, query in self.queries.items_from())

    def get(self, query_id: str) -> RegisteredQuery:
        """Return a standing query. Raise UnknownQueryError if the id is not registered."""
        query = self.queries.get(query_id)
        if query is None:
            raise unknown_query(query_id)
        return query

    def planned_on(self, query_id: str) -> str | None:
        """Return the stream whose plan serves a query. Return None if the query is missing, paused or not served."""
        query = self.queries.get(query_id)
        return None if query is None or query.paused or query_id in self.unserved else query.stream

    def holds(self, query: RegisteredQuery) -> bool:
        """Return whether an equal query is registered and may be in a plan. The versions of the queries may differ.

        If so, registering the query changes nothing.
        """
        standing = self.queries.get(query.id)
        return standing is not None and query.id not in self.unserved and query.at(standing.version) == standing

    def page(
        self,
        *,
        prefix: str = "",
        label: tuple[str, str] | None = None,
        streams: Collection[str] | None = None,
        after: str | None = None,
        operator: str | None = None,
        layer: str | None = None,
        limit: int,
    ) -> tuple[list[RegisteredQuery], bool]:
        """Return the first ``limit`` matching queries in the order of ids, and whether there are more.

        Filters: the id begins with ``prefix`` and is greater than ``after``; the query has the ``label``, belongs to
        one of ``streams``, has the ``operator``, is joined with the ``layer``. A filter of None matches all queries.
        """
        walked = self.walk(prefix, streams, label=label, after=after, operator=operator, layer=layer)
        found = list(islice(walked, limit + 1))
        return found[:limit], len(found) > limit

    def walk(
        self,
        prefix: str = "",
        streams: Collection[str] | None = None,
        *,
        label: tuple[str, str] | None = None,
        after: str | None = None,
        operator: str | None = None,
        layer: str | None = None,
    ) -> Iterator[RegisteredQuery]:
        """Yield the queries that match the filters of :meth:`page`, in the order of ids."""
        first = max(prefix, "" if after is None else after + "\0")
        counts = self._indexes.counts
        among = list(counts) if streams is None else streams
        filed = self._fewest(_asked(label, operator, layer), among)
        if filed is None and 2 * sum(counts.get(stream, 0) for stream in among) > len(self):
            # Most queries match, so skipping the others costs less than looking up each match.
            found = (query for _, query in self.queries.items_from(first))
            wanted = found if streams is None else (query for query in found if query.stream in streams)
        else:
            ids = merge(*(self._ids(stream, filed or _ALL, first) for stream in among))
            wanted = (self.queries[query_id] for query_id in ids)
        within = takewhile(lambda query: query.id.startswith(prefix), wanted)
        return (query for query in within if _passes(query, label, operator, layer))

    def _fewest(self, asked: Collection[tuple[str, str]], streams: Collection[str]) -> tuple[str, str] | None:
        """Return the label in ``asked`` that the fewest queries of ``streams`` have, so that a walk over these queries
        is short. Return None if ``asked`` is empty.
        """

        def count(label: tuple[str, str]) -> int:
            labels = self._indexes.labels
            return sum(labels.count_from((one, *label, ""), _past((one, *label), "")) for one in streams)

        return min(asked, key=count) if len(asked) > 1 else next(iter(asked), None)

    def count(self, prefix: str, streams: Collection[str] | None, *, label: tuple[str, str] | None = None) -> int:
        """Return the number of queries that :meth:`walk` yields for these filters."""
        if prefix or label is not None:
            labels, among = self._indexes.labels, self._indexes.counts if streams is None else streams
            filed = _ALL if label is None else label
            return sum(labels.count_from((one, *filed, prefix), _past((one, *filed), prefix)) for one in among)
        counts = self._indexes.counts
        return len(self) if streams is None else sum(counts.get(stream, 0) for stream in streams)

    def unserved_count(self, prefix: str, stream: str) -> int:
        """Return the number of queries of a stream that are not served and whose id begins with ``prefix``."""
        return self._unserved_of.count_from((stream, prefix), _past((stream,), prefix))

    def counts(self) -> Counter[str]:
        """Return the number of queries by stream, including paused queries."""
        return Counter(self._indexes.counts)

    def feeds(self, without: Iterable[str] = ()) -> set[tuple[str, str]]:
        """Return pairs of a stream and one of the topics ``watched``. For each pair, a query of the stream delivers to
        the topic.

        ``without``: the ids of queries to ignore.
        """
        ignored = [query for query_id in without if (query := self.queries.get(query_id)) is not None]
        return set(_counted(self._indexes.feeds, _feeds(ignored, self._watched), ()))

    def expired(self, now: datetime) -> list[str]:
        """Return the ids of the queries that have expired at the time ``now``."""
        found = []
        for (expires_at, query_id), _ in self._indexes.expiring.items_from():
            if expires_at > now:
                break
            found.append(query_id)
        return found

    def joins_over(self, layer: str) -> list[RegisteredQuery]:
        """Return the joins over a layer, in the order of ids."""
        found = []
        for key, _ in self._indexes.naming.items_from((layer, _NO_SHAPE, "")):
            if key[:2] != (layer, _NO_SHAPE):
                break
            found.append(self.queries[key[-1]])
        return found

    def naming(self, changed: Mapping[str, Collection[str] | None]) -> set[str]:
        """Return the ids of the queries, including joins, that name a changed shape. ``changed``: shape ids by layer.

        If a layer has None in place of shape ids, all shapes of the layer count as changed, and the joins over the
        layer are included.
        """
        query_ids: set[str] = set()
        for layer, ids in changed.items():
            for filed in [(layer,)] if ids is None else [(layer, shape_id) for shape_id in ids]:
                for key, _ in self._indexes.naming.items_from((*filed, "", "")[:3]):
                    if key[: len(filed)] != filed:
                        break
                    query_ids.add(key[-1])
        return query_ids

    def changed(self, puts: Iterable[RegisteredQuery], removes: Iterable[str], version: int) -> QuerySet:
        """Return the set after adding or replacing the queries ``puts`` and removing the ids ``removes``.

        The added queries count as served.
        """
        come = {query.id: query for query in puts}
        removed = [query_id for query_id in removes if query_id not in come]
        gone = [query for name in (*come, *removed) if (query := self.queries.get(name)) is not None]
        after = self._copy()
        after.version = version
        after.queries = self.queries.changed(come, removed)
        if self.unserved:
            after.unserved = self.unserved.changed({}, [*come, *removed])
            after._unserved_of = self._unserved_of.changed({}, [(query.stream, query.id) for query in gone])
        after._indexes = self._indexes.changed(gone, come.values(), self._watched)
        return after

    def with_unserved(self, unserved: Mapping[str, str]) -> QuerySet:
        """Return the same queries with another mapping ``unserved``."""
        after = self._copy()
        after.unserved = SortedMap(unserved)
        after._unserved_of = after._by_stream(unserved)
        return after

    def with_marks(self, marks: Mapping[str, LayerMark], version: int) -> QuerySet:
        """Return the same queries at a later version, with ``marks`` in place of the former marks of these layers."""
        after = self._copy()
        after.marks, after.version = {**self.marks, **marks}, version
        return after

    def with_layers(self, layers: Mapping[str, StoredLayer]) -> QuerySet:
        """Return the same queries with ``layers`` in place of the former layers of these names, each with its mark."""
        after = self._copy()
        after.layers = {**self.layers, **layers}
        after.shapes = {name: stored.layer for name, stored in after.layers.items()}
        return after

    def _copy(self) -> QuerySet:
        after = QuerySet.__new__(QuerySet)
        after.__dict__.update(self.__dict__)
        return after

    def _by_stream(self, ids: Iterable[str]) -> SortedMap[tuple[str, str], None]:
        found = (self.queries.get(query_id) for query_id in ids)
        return SortedMap({(query.stream, query.id): None for query in found if query is not None})

    def _ids(self, stream: str, label: tuple[str, str], first: str) -> Iterator[str]:
        """Yield the ids of a stream's queries under a label in ascending order, from the id ``first`` on."""
        filed = (stream, *label)
        for key, _ in self._indexes.labels.items_from((*filed, first)):
            if key[:-1] != filed:
                return
            yield key[-1]


def unknown_query(query_id: str) -> UnknownQueryError:
    """Return the error for an id that is not registered."""
    return UnknownQueryError("unknown query", query_id[:250], "'asc query list' shows the registered ones")


def _past(filed: tuple[str, ...], prefix: str) -> Callable[[tuple[str, ...]], bool]:
    """Return a function for :meth:`SortedMap.count_from`. It returns true for a key of an index that comes after all
    keys under ``filed`` whose id begins with ``prefix``.
    """
    return lambda key: key[:-1] != filed or not key[-1].startswith(prefix)


def _all(keys: Callable[[RegisteredQuery], Iterable[_T]], queries: Iterable[RegisteredQuery]) -> Iterator[_T]:
    return chain.from_iterable(map(keys, queries))


def _filed(query: RegisteredQuery) -> Iterator[_Label]:
    yield (query.stream, *_ALL, query.id)
    for name, value in query.labels.items():
        yield (query.stream, name, value, query.id)
    if query.operator is not None:
        yield (query.stream, "", _OPERATOR + name_of(query.operator), query.id)
    if query.join is not None:
        yield (query.stream, "", _LAYER + query.join.layer, query.id)


def _asked(label: tuple[str, str] | None, operator: str | None, layer: str | None) -> list[tuple[str, str]]:
    """Return the labels under which all queries that match the filters are indexed. The filter for routed queries (no
    operator) adds no label, because most queries are routed and are not indexed by operator.
    """
    found = [] if label is None else [label]
    if operator is not None and operator != ROUTE:
        found.append(("", _OPERATOR + operator))
    if layer is not None:
        found.append(("", _LAYER + layer))
    return found


def _passes(query: RegisteredQuery, label: tuple[str, str] | None, operator: str | None, layer: str | None) -> bool:
    return (
        (label is None or query.labels.get(label[0]) == label[1])
        and (operator is None or name_of(query.operator) == operator)
        and (layer is None or (query.join is not None and query.join.layer == layer))
    )


def _naming(query: RegisteredQuery) -> Iterator[tuple[str, str, str]]:
    if query.join is not None:
        yield (query.join.layer, _NO_SHAPE, query.id)
    for name in named_shapes(query.where):
        yield (*name, query.id)


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
