"""The states of operators: the registration to which a state belongs, and the fold states that streams store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from asc.errors import AscError
from asc.plan.plan import Plan
from broker.operators.kinds import feed_kinds, fold_kinds, name_of
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import QuerySet
from broker.queries.validated_query import ValidatedQuery
from broker.stream.stream import Stream


def with_since(candidate: ValidatedQuery, before: QuerySet) -> ValidatedQuery:
    """Return a candidate (a validated query that is not yet registered) with ``since``, the registry version that
    identifies the registration of its state.

    If the query replaces one that has a state of the same kind in the same stream, it gets the ``since`` of the
    replaced query, and so continues the state. Exception: a kind with the handoff ``feed`` discards the state of a
    paused query. In all other cases, ``since`` is the current version of the registry. A removal of a query is always
    later than the ``since`` of that query.
    """
    query = candidate.query
    if query.operator is None:
        return candidate
    current = before.queries.get(query.id)
    goes_on = current is not None and _kept_by(current) == _kept_by(query)
    if current is not None and current.paused and name_of(query.operator) in feed_kinds():
        # If no record arrives during the pause, the reader of the feed does not notice the pause. So the state ends
        # here.
        goes_on = False
    since = current.since if current is not None and goes_on else before.version
    return replace(candidate, query=replace(query, since=since))


def keep_states(streams: Mapping[str, Stream], after: QuerySet, plans: Mapping[str, Plan]) -> None:
    """Make the streams keep the fold states of the queries in ``after``, and delete all other states. The caller calls
    this before the plans of ``after`` run.

    ``plans``: the new plans of the streams that change. The states of queries whose records are unreadable are kept.
    Cost: a walk over the unreadable queries and the queries that have states.
    """
    unread: dict[str, int | None] = {query.id: None for query in after.walk(streams=[""]) if query.unreadable}
    for name, stream in streams.items():
        registered = {
            op: {**unread, **{query.id: query.since for query in after.walk(streams=[name], operator=op)}}
            for op in fold_kinds()
        }
        stream.keep_states(registered, plans.get(name, stream.running.plan), after.version, after.unserved)


def refused_by_states(
    streams: Mapping[str, Stream], candidates: Mapping[int, ValidatedQuery], refused: Collection[int], before: QuerySet
) -> dict[int, AscError]:
    """Return the errors, by position, of the candidates whose stored states cannot go on with their new definitions.

    Candidates in ``refused`` are ignored. Cost: a look at the state of each query with a changed operator.
    """
    errors: dict[int, AscError] = {}
    for position, candidate in candidates.items():
        query = candidate.query
        if position in refused or query.operator is None or query.operator.name not in fold_kinds():
            continue
        current = before.queries.get(query.id)
        if current is None or _kept_by(current) != _kept_by(query) or current.operator == query.operator:
            continue
        folder = streams[query.stream].folders[query.operator.name]
        error = folder.refusal(query.id, query.where, query.operator, current.since)
        if error is not None:
            errors[position] = error
    return errors


def changes_states(queries: Iterable[RegisteredQuery | None]) -> bool:
    """Return whether a change of these queries may change the set of states to keep."""
    kinds = fold_kinds()
    return any(
        query is not None and (query.unreadable is not None or name_of(query.operator) in kinds) for query in queries
    )


def _kept_by(query: RegisteredQuery) -> tuple[str, str]:
    return query.stream, name_of(query.operator)
