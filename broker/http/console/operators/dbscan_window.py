"""The last window of a DBSCAN query, read from the records at the end of the query's destination topic."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from asc.operators.dbscan.dbscan_query import SAMPLE_MAX
from broker.operators.headers import last_hop

_DRAWN_ATTRIBUTES = 2
_TEXT_CHARS = 100
"""The most characters of an id, a time or an event in a record. The texts that the daemon writes are shorter, so a
longer text means a record from another program.
"""

_MEMBER = b'"record":"member"'
"""The bytes that identify a record about a member (a point of a cluster). Such records are skipped before they are
parsed. No text inside a record contains these bytes, because quotation marks in texts are escaped.
"""

Bound = str | int
Values = tuple[float, ...]
"""The first attributes of a point, at most two, which determine its position in the drawing."""


@dataclass(frozen=True, slots=True)
class SeenCluster:
    """A cluster of a window, as read from its record in the topic.

    ``label``: the number of the cluster in this window. ``id``: the cluster id, which stays the same from window to
    window. ``points``, ``core``: the numbers of all points and of core points. ``center`` and ``box`` are None if they
    are not finite. ``events``: the changes since the previous window. ``origins``: the ids of related clusters of the
    previous window. ``more_origins``: the number of origins that the record omits.
    """

    label: int
    id: str
    points: int
    core: int
    center: Values | None
    box: tuple[Values, Values] | None
    events: tuple[str, ...]
    origins: tuple[str, ...]
    more_origins: int = 0


@dataclass(frozen=True, slots=True)
class SeenWindow:
    """A window, as read from its record in the topic.

    ``bounds``: the times of its beginning and end, or the numbers of its first and last point. ``disappeared``: the
    former cluster ids that no cluster of the window has, each with the ids of clusters that contain points of the
    former cluster. ``more_disappeared``: the number of former ids that the record omits. ``sample``: some of its
    points, each with its label.
    """

    bounds: tuple[Bound, Bound]
    is_partial: bool
    is_skipped: bool
    clusters: int = 0
    points: int = 0
    core: int = 0
    border: int = 0
    noise: int = 0
    disappeared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    more_disappeared: int = 0
    sample: tuple[tuple[Values, int], ...] = ()


@dataclass(frozen=True, slots=True)
class LastWindow:
    """The last window of a query, and its clusters ordered by label: only those whose records were read."""

    window: SeenWindow
    clusters: tuple[SeenCluster, ...]

    @property
    def is_whole(self) -> bool:
        """Return whether the records of all clusters of the window were read."""
        return len(self.clusters) == self.window.clusters


class TopicEnd:
    """The parsed records from the end of a topic. They have the last window of one query with its clusters, and the
    last windows of other queries without their clusters.

    ``query_id``: the query whose clusters are read. ``others``: the ids of the other queries. A record is parsed only
    once, although :meth:`read` gets the same records again with earlier ones.
    """

    def __init__(self, query_id: str, others: Collection[str] = ()) -> None:
        self._query_id = query_id
        self._wanted = {query_id, *others}
        self._parsed: dict[tuple[int, int], _Record | None] = {}
        self._windows: dict[str, SeenWindow] = {}
        self._last: LastWindow | None = None

    @property
    def last(self) -> LastWindow | None:
        """Return the last window of the query ``query_id``. Return None if no record of a window was read."""
        return self._last

    @property
    def windows(self) -> Mapping[str, SeenWindow]:
        """Return the last window of each query of which a record was read, by the id of the query."""
        return self._windows

    def read(self, records: Sequence[Any]) -> bool:
        """Read records from the end of the topic. Return True if they suffice: the last window of every requested query
        is known, and all clusters of the window of ``query_id``.

        The records of a query are in one partition, in order, unless partitions were added to its topic.
        """
        partitions: dict[int, list[Any]] = {}
        for record in records:
            partitions.setdefault(record.partition, []).append(record)
        self._windows, self._last = {}, None
        for own in sorted(partitions.values(), key=lambda own: max(record.timestamp for record in own)):
            self._read_partition(sorted(own, key=lambda record: record.offset))
        return self._last is not None and self._last.is_whole and self._wanted <= self._windows.keys()

    def _read_partition(self, records: Sequence[Any]) -> None:
        clusters: dict[int, SeenCluster] = {}
        bounds: tuple[Bound, Bound] | None = None
        for record in filter(None, map(self._record, records)):
            content = record.content
            if isinstance(content, SeenCluster):
                # Keep the clusters of an equal window, because after a replay the repeated records of a window may
                # begin in the middle.
                if bounds != record.bounds:
                    clusters, bounds = {}, record.bounds
                clusters[content.label] = content
                continue
            self._windows[record.query] = content
            if record.query == self._query_id:
                own = clusters if bounds == record.bounds else {}
                kept = tuple(own[label] for label in sorted(own) if label < content.clusters)
                self._last = LastWindow(content, kept)

    def _record(self, record: Any) -> _Record | None:
        place = (record.partition, record.offset)
        if place not in self._parsed:
            self._parsed[place] = self._read(record)
        return self._parsed[place]

    def _read(self, record: Any) -> _Record | None:
        """Return the content of a record about a window or cluster of a requested query. Return None for any other
        record.
        """
        value = record.value
        queries = last_hop(record.headers or ()).queries
        if value is None or len(queries) != 1 or queries[0] not in self._wanted or _MEMBER in value:
            return None
        try:
            return _record_of(json.loads(value), queries[0], with_clusters=queries[0] == self._query_id)
        except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
            return None


@dataclass(frozen=True, slots=True)
class _Record:
    query: str
    bounds: tuple[Bound, Bound]
    content: SeenWindow | SeenCluster


def _record_of(plain: Mapping[str, Any], query_id: str, *, with_clusters: bool) -> _Record | None:
    """Return the content of a record that is given as a JSON object. Return None for a kind of record that is not
    requested. Raise an error, such as ValueError, if the object is no valid record of the query.
    """
    first, end = plain["window"]
    bounds = (_bound(first), _bound(end))
    if plain["query"] != query_id:
        raise ValueError("of another query")
    if plain["record"] == "window":
        return _Record(query_id, bounds, _window(plain, bounds))
    return _Record(query_id, bounds, _cluster(plain)) if with_clusters and plain["record"] == "cluster" else None


def _window(plain: Mapping[str, Any], bounds: tuple[Bound, Bound]) -> SeenWindow:
    is_partial = plain["partial"] is True
    if "skipped" in plain:
        return SeenWindow(bounds, is_partial, is_skipped=True)
    sample = [(_values(values), _count(label, -1)) for *values, label in plain["sample"][:SAMPLE_MAX]]
    clusters, points, core, border, noise = (
        _count(plain[name]) for name in ("clusters", "points", "core", "border", "noise")
    )
    return SeenWindow(
        bounds,
        is_partial,
        is_skipped=False,
        clusters=clusters,
        points=points,
        core=core,
        border=border,
        noise=noise,
        disappeared={_text(old): _texts(joined) for old, joined in plain["disappeared"].items()},
        more_disappeared=_count(plain.get("disappeared_more", 0)),
        sample=tuple((values, label) for values, label in sample if values),
    )


def _cluster(plain: Mapping[str, Any]) -> SeenCluster:
    low, high = (_values(own) for own in plain["box"])
    return SeenCluster(
        _count(plain["label"]),
        _text(plain["cluster"]),
        _count(plain["points"]),
        _count(plain["core"]),
        _values(plain["center"]),
        None if low is None or high is None else (low, high),
        _texts(plain["events"]),
        _texts(plain["from"]),
        _count(plain.get("from_more", 0)),
    )


def _values(given: Sequence[Any]) -> Values | None:
    """Return the first one or two attributes of a point. Return None if one of them is not finite. Raise ValueError if
    the point has no attributes.
    """
    own = given[:_DRAWN_ATTRIBUTES]
    if not own or any(isinstance(value, bool) for value in own):
        raise ValueError("no attributes")
    if any(value is None for value in own):
        return None
    values = tuple(map(float, own))
    return values if all(map(math.isfinite, values)) else None


def _count(given: object, least: int = 0) -> int:
    if type(given) is not int or given < least:
        raise ValueError("no count")
    return given


def _bound(given: object) -> Bound:
    return _text(given) if isinstance(given, str) else _count(given)


def _text(given: object) -> str:
    if not isinstance(given, str) or len(given) > _TEXT_CHARS:
        raise ValueError("no text of a record")
    return given


def _texts(given: Sequence[Any]) -> tuple[str, ...]:
    return tuple(map(_text, given))
