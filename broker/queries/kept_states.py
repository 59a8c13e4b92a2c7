"""The states of operators: which registration they are of, and which ones of those that workers fill streams keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from asc.plan.plan import Plan
from broker.operators.kinds import feed_kinds, fold_kinds, name_of
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import QuerySet
from broker.queries.validated_query import ValidatedQuery
from broker.stream.stream import Stream


def with_since(candidate: ValidatedQuery, before: QuerySet) -> ValidatedQuery:
    """Return a candidate with the version since which its state may be kept, beside the queries before.

    It is that of the query that it replaces, where that has a state of the same kind in the same stream. Of a kind with
    the handoff ``feed`` a pause discards the state. Otherwise it is the version of the registry before it: a removal
    always came after the ``since`` of the query that it removed.
    """
    query = candidate.query
    if query.operator is None:
        return candidate
    stands = before.queries.get(query.id)
    goes_on = stands is not None and _kept_by(stands) == _kept_by(query)
    if stands is not None and stands.paused and name_of(query.operator) in feed_kinds():
        # Where no record comes meanwhile, the reader of the feed sees nothing of the pause.
        goes_on = False
    since = stands.since if stands is not None and goes_on else before.version
    return replace(candidate, query=replace(query, since=since))


def stand(streams: Mapping[str, Stream], after: QuerySet, plans: Mapping[str, Plan]) -> None:
    """Have streams keep the states of the queries of a set, and no others, before its plans run.

    ``plans``: of the streams where it changes. Cost: a walk over the queries that have states, and those whose records
    cannot be read, whose states are kept.
    """
    unread: dict[str, int | None] = {query.id: None for query in after.walk(streams=[""]) if query.unreadable}
    for name, stream in streams.items():
        registered = {
            op: {**unread, **{query.id: query.since for query in after.walk(streams=[name], operator=op)}}
            for op in fold_kinds()
        }
        stream.keep_states(registered, plans.get(name, stream.running.plan), after.version)


def changes_states(queries: Iterable[RegisteredQuery | None]) -> bool:
    """Return whether a change of some queries may change which states are kept."""
    kinds = fold_kinds()
    return any(
        query is not None and (query.unreadable is not None or name_of(query.operator) in kinds) for query in queries
    )


def _kept_by(query: RegisteredQuery) -> tuple[str, str]:
    return query.stream, name_of(query.operator)
