"""The queries that are registered but deliberately not served: parked queries, and queries set aside at the start."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress

from asc.errors import AscError
from asc.spatial.layer import Layer
from broker.operators.kind import conditions_of
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import QuerySet
from broker.queries.validated_query import ValidatedQuery
from broker.stream.diagnosis.diagnosis_result import DiagnosisResult
from broker.stream.stream import Stream

_SET_ASIDE = "was set aside when the daemon was started (--set-aside): register it anew to have it served"


class Parking:
    """The parking of the queries that prevent a stream from continuing.

    A finding names expressions, topics, conditions or queries with which a stream cannot go on. The queries that use
    them are parked with their version, so a query that is registered anew is served. The stream stores its parked
    queries. A query of ``set_aside`` (:class:`broker.daemon.daemon.Daemon`) is not served while the daemon runs, unless
    it is registered anew. The caller of :meth:`note` holds the lock of changes.
    """

    def __init__(self, streams: Mapping[str, Stream], set_aside: Collection[str] = ()) -> None:
        self._streams = streams
        self._set_aside = frozenset(set_aside)
        self._start_version = -1
        self._noted: list[tuple[Stream, DiagnosisResult]] = []

    def begin(self, standing: QuerySet) -> None:
        """Initialise the parking with the standing queries at the start.

        Raise QueryError if an id to be set aside is not registered.
        """
        for query_id in sorted(self._set_aside):
            standing.get(query_id)
        self._start_version = standing.version
        versions = {query.id: query.version for query in standing}
        for stream in self._streams.values():
            if stream.running.version_to_replay is None:
                stream.parked.keep(versions)

    def reason(self, query: RegisteredQuery) -> str | None:
        """Return the reason why a query is parked or set aside. Return None if it is neither."""
        if query.id in self._set_aside and query.version <= self._start_version:
            return _SET_ASIDE
        stream = self._streams.get(query.stream)
        return None if stream is None else stream.parked.reason(query.id, query.version)

    def ids(self) -> set[str]:
        """Return the ids of all queries for which :meth:`reason` may return a reason."""
        return set(self._set_aside).union(*(stream.parked.ids() for stream in self._streams.values()))

    def is_due(self) -> bool:
        """Return whether a stream has a finding for which queries are to be parked."""
        return any(stream.finding is not None for stream in self._streams.values())

    def note(self, standing: QuerySet, state_at: Callable[[int], Mapping[str, RegisteredQuery]]) -> None:
        """Park the queries that a stream's finding concerns: standing queries, and queries of a batch to replay.
        ``state_at`` returns the queries at a version of the registry.
        """
        self._noted = []
        for stream in self._streams.values():
            finding = stream.finding
            if finding is None:
                continue
            replayed = stream.running.version_to_replay
            then = {} if replayed is None or replayed == standing.version else state_at(replayed)
            own = (query for query in (*then.values(), *standing) if query.stream == stream.name)
            reasons = {
                (query.id, query.version): reason
                for query in own
                if (reason := _reason(query, finding, stream, standing.shapes)) is not None
            }
            stream.parked.add(reasons)
            self._noted.append((stream, finding))

    def let_go_on(self) -> None:
        """Let the streams continue whose queries :meth:`note` has parked. Call this after no plan contains the parked
        queries.
        """
        noted, self._noted = self._noted, []
        for stream, finding in noted:
            stream.go_on(finding)


def _reason(
    query: RegisteredQuery, finding: DiagnosisResult, stream: Stream, shapes: Mapping[str, Layer]
) -> str | None:
    if query.topic in finding.topics:
        return finding.topics[query.topic]
    if query.id in finding.queries and query.version <= finding.version:
        return finding.queries[query.id]
    if query.operator is not None:
        for condition in conditions_of(query.operator):
            faulty = finding.conditions.get(condition)
            if faulty is not None and query.version <= faulty.version:
                return faulty.reason
    with suppress(AscError):
        texts = ValidatedQuery.of(query, stream.analyser, shapes).computed_texts if finding.expressions else set()
        return next((reason for text, reason in finding.expressions.items() if text in texts), None)
    return None
