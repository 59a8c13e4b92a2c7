"""The validation of changes: of each change alone, and of changes together with other queries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone

from asc.errors import AscError
from broker.access.scope import Scope
from broker.cancellation import Cancellation
from broker.config.config import Config
from broker.errors import CancelledError, MissingStreamError, QueryError
from broker.kafka.cluster import KafkaCluster
from broker.operators.feed_topic import refused_feed
from broker.operators.kinds import feed_kinds, kind_of
from broker.queries.change import Alter, Change, Put
from broker.queries.completion import completed
from broker.queries.kept_states import refused_by_states
from broker.queries.load_progress import LoadProgress
from broker.queries.query import RegisteredQuery, check_id, check_labels
from broker.queries.query_set import QuerySet
from broker.queries.query_state import QueryState
from broker.queries.rules import check_destination
from broker.queries.validated_query import ValidatedQuery
from broker.stream.stream import Stream


class Validator:
    """The validator of changes. It changes nothing itself.

    :meth:`judged` holds no lock, because it asks Spark while other changes continue. :meth:`refuse_together` checks the
    rules that depend on standing queries, under the registrar's lock.
    """

    def __init__(
        self, config: Config, cluster: KafkaCluster, streams: Mapping[str, Stream], query_state: QueryState
    ) -> None:
        self._config = config
        self._cluster = cluster
        self._streams = streams
        self._query_state = query_state

    def stream_of(self, name: str | None, scope: Scope) -> Stream:
        """Return the stream with a name.

        Raise QueryError if the name is unknown, or is missing and there are several streams.

        Raise ForbiddenError for a stream outside the caller's scope. No error names such a stream.
        """
        if name is not None:
            scope.check_stream(name)
        permitted = {
            known: stream for known, stream in self._streams.items() if scope.streams is None or known in scope.streams
        }
        known = ", ".join(sorted(permitted))
        if name is None:
            if len(permitted) != 1:
                raise MissingStreamError("stream", None, f"name one of {known}", sorted(permitted))
            return next(iter(permitted.values()))
        if name not in permitted:
            raise QueryError("unknown stream", name[:200], f"configured: {known}")
        return permitted[name]

    def judged(
        self, changes: Sequence[Change | AscError], standing: QuerySet, load: LoadProgress, scope: Scope
    ) -> tuple[dict[int, ValidatedQuery], dict[int, AscError]]:
        """Return the validated queries that ``changes`` may register (the candidates), and the errors of refused
        changes, both by the position of the change. Refusals that depend on other queries are not included.

        Spark analyses the expressions here, which takes a while. No lock is held, so other changes continue. Raises
        CancelledError.
        """
        refused: dict[int, AscError] = {i: change for i, change in enumerate(changes) if isinstance(change, AscError)}
        candidates: dict[int, ValidatedQuery] = {}
        own_ids: set[str] = set()
        for position, change in enumerate(changes):
            load.read = position
            load.cancellation.check()
            if isinstance(change, AscError):
                continue
            with refusing(refused, position):
                scope.check_id(change.query_id)
                if isinstance(change, Put):
                    # A load may not contain more ids than the broker may register in total. The remaining changes are
                    # not read.
                    own_ids.add(change.query_id)
                    scope.check_number(len(own_ids))
                    candidates[position] = self._candidate(change.query, scope, standing, load.cancellation)
                elif isinstance(change, Alter):
                    current = standing.queries.get(change.query_id)
                    is_own = current is not None and scope.owns(current.id, current.stream)
                    altered = change.altered(current if is_own else None)
                    candidates[position] = self._candidate(altered, scope, standing, load.cancellation)
        load.read = len(changes)
        load.note_done("read")
        refused.update(
            self._query_state.planning.asked(
                {i: one for i, one in candidates.items() if not standing.holds(one.query)}, load.cancellation
            )
        )
        return {i: one for i, one in candidates.items() if i not in refused}, refused

    def _candidate(
        self, query: RegisteredQuery, scope: Scope, standing: QuerySet, cancellation: Cancellation
    ) -> ValidatedQuery:
        """Return a query as a candidate, validated without other queries and Spark. Raise AscError if it is refused.

        If the query is already registered with the same predicate, it may wait for a missing shape. If no plan has it,
        for example while it is paused, its layer may have grown. So its effort is bounded like that of a new query.
        """
        check_id(query.id)
        scope.check_id(query.id)
        stream = self.stream_of(query.stream, scope)
        scope.check_topic(query.topic)
        check_destination(query.topic, stream.name, self._config)
        check_labels(query.labels)
        if query.expires_at is not None and query.expires_at <= _now():
            raise QueryError("expires_at", query.expires_at.isoformat(), "is in the past: choose a later time")
        current = standing.queries.get(query.id)
        query = completed(query, current, stream, standing.shapes, scope=scope, cancellation=cancellation)
        may_wait = current is not None and (current.where, current.join) == (query.where, query.join)
        candidate = ValidatedQuery.of(
            query,
            stream.analyser,
            standing.shapes,
            may_wait=may_wait,
            is_bounded=not query.paused and standing.planned_on(query.id) is None,
            computed_max=self._config.limits.spark_attributes,
            cancellation=cancellation,
        )
        for predicate in (candidate.predicate, *candidate.expressions.all):
            scope.check_columns(predicate)
        return candidate

    def refuse_together(
        self,
        candidates: Mapping[int, ValidatedQuery],
        refused: dict[int, AscError],
        scope: Scope,
        removed: Collection[str],
    ) -> set[str]:
        """Refuse the candidates that fail together with other queries, and return the topics that must be created.
        ``removed``: the ids of the queries that the same change removes.

        A candidate fails if its stored state cannot go on, it would close a loop, Spark refuses it, there are too many
        queries, or its topic cannot be used.
        """
        refused.update(refused_by_states(self._streams, candidates, refused, self._query_state.now))
        self._refuse_by_rules(candidates, refused, removed)
        if scope.max_queries is not None:
            self._refuse_by_number(candidates, refused, scope, len(removed))
        by_rules = set(refused)
        # A paused query needs no topic, and pausing a query may be the repair of a stream.
        topics = {
            i: candidate.query.topic
            for i, candidate in candidates.items()
            if i not in refused and not candidate.query.paused
        }
        by_topic, missing = self._cluster.destinations(set(topics.values()), keyed=keyed_topics(candidates.values()))
        refused.update((i, by_topic[topic]) for i, topic in topics.items() if topic in by_topic)
        for stream in fed_streams(candidate for i, candidate in candidates.items() if i not in refused):
            fault = refused_feed(self._cluster, self._config.feed_topic(stream))
            if fault is not None:
                refused.update(
                    (i, fault)
                    for i, candidate in candidates.items()
                    if _is_fed(candidate) and candidate.query.stream == stream
                )
        if any(candidates[i].query.id in self._query_state.now for i in refused.keys() - by_rules):
            # The queries of refused candidates stay, and with them other candidates may break a rule.
            self._refuse_by_rules(candidates, refused, removed)
        return missing

    def topic_warnings(
        self, candidates: Mapping[int, ValidatedQuery], missing: Collection[str]
    ) -> dict[int, tuple[str, ...]]:
        """Return the warnings of the candidates whose records may be too large for their topics, by position.

        ``missing``: the topics among them that do not exist yet. Raise KafkaError.
        """
        fed = {i: candidate.query for i, candidate in candidates.items() if _is_fed(candidate)}
        limits = dict.fromkeys(missing, self._cluster.request_bytes)
        limits.update(self._cluster.record_limits({query.topic for query in fed.values()} - limits.keys()))
        warnings: dict[int, tuple[str, ...]] = {}
        for position, query in fed.items():
            assert query.operator is not None
            size, limit = feed_kinds()[query.operator.name].record_bytes(query.operator), limits[query.topic]
            if size > limit:
                takes = f"topic '{query.topic}' takes records of at most {limit:,} bytes"
                remedy = "larger ones are counted and not written, unless you raise its max.message.bytes"
                warnings[position] = (f"{takes}, and those of this query may take {size:,}: {remedy}",)
        return warnings

    def _refuse_by_rules(
        self, candidates: Mapping[int, ValidatedQuery], refused: dict[int, AscError], removed: Collection[str]
    ) -> None:
        standing = self._query_state.now
        accepted = {position: candidate for position, candidate in candidates.items() if position not in refused}
        plans = self._query_state.plans()
        positions = list(accepted)
        refusals = self._query_state.planning.refusals(list(accepted.values()), standing, plans, removed)
        refused.update((positions[i], error) for i, error in refusals.items())

    def _refuse_by_number(
        self, candidates: Mapping[int, ValidatedQuery], refused: dict[int, AscError], scope: Scope, removed: int
    ) -> None:
        """Refuse the candidates beyond the caller's limit on queries. Call this under the lock."""
        number = self._query_state.now.count(scope.id_prefix, scope.streams) - removed
        for position, candidate in sorted(candidates.items()):
            if position in refused or candidate.query.id in self._query_state.now:
                continue
            with refusing(refused, position):
                scope.check_number(number + 1)
                number += 1


def fed_streams(candidates: Iterable[ValidatedQuery]) -> set[str]:
    """Return the streams whose feed the candidates need."""
    return {candidate.query.stream for candidate in candidates if _is_fed(candidate)}


def keyed_topics(candidates: Iterable[ValidatedQuery]) -> set[str]:
    """Return the topics of the candidates whose outputs all have a key."""
    own = ((candidate.query.operator, candidate.query.topic) for candidate in candidates)
    return {topic for operator, topic in own if operator is not None and kind_of(operator).allows_compacted_topic}


def _is_fed(candidate: ValidatedQuery) -> bool:
    """Return whether the accepted records of a candidate go to its stream's feed."""
    definition = candidate.query.operator
    return definition is not None and kind_of(definition).handoff == "feed" and not candidate.query.paused


@contextmanager
def refusing(refused: dict[int, AscError], position: int) -> Iterator[None]:
    """Record an exception in the context as the refusal of the change at an index, except CancelledError."""
    try:
        yield
    except CancelledError:
        raise
    except AscError as error:
        refused[position] = error


def _now() -> datetime:
    return datetime.now(timezone.utc)
