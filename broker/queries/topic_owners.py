"""The topics that belong to only one query. The operator of such a query is of a kind that may write to a compacted
topic.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from asc.errors import AscError
from broker.errors import QueryError
from broker.operators.kinds import OPERATORS, kind_of
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import QuerySet
from broker.queries.validated_query import ValidatedQuery


def owns_topic(query: RegisteredQuery) -> bool:
    """Return whether the topic of a query belongs to this query alone, and may be compacted."""
    return query.operator is not None and kind_of(query.operator).allows_compacted_topic


def shared_topics(
    candidates: Sequence[ValidatedQuery], standing: QuerySet, refused: Collection[int]
) -> dict[int, AscError]:
    """Return the errors, by index, of the candidates (validated queries to be registered) that would share a topic that
    belongs to one query. ``refused``: the indexes of candidates to ignore.

    Standing queries that are paused or not served are counted, because they may be resumed. Cost: a walk over all
    queries if a query that owns a topic is added, or changes its topic.
    """
    owning = [name for name, kind in OPERATORS.items() if kind.allows_compacted_topic]
    owning_queries = [query for name in owning for query in standing.walk(operator=name)]
    # Most bulk loads contain no query that owns a topic.
    if not owning_queries and not any(owns_topic(one.query) for one in candidates):
        return {}
    accepted = [(i, one.query) for i, one in enumerate(candidates) if i not in refused]
    replaced = {query.id for _, query in accepted}
    owners = {query.topic for query in owning_queries if query.id not in replaced}
    keeping = {i for i, query in accepted if _keeps_topic(query, standing)}
    claimed = {query.topic for i, query in accepted if owns_topic(query) and i not in keeping}
    others = standing if claimed else ()
    used = {query.topic for query in others if query.topic in claimed and query.id not in replaced}
    errors: dict[int, AscError] = {}
    # First the owners that keep their topics, so that no other change in the same step takes the topic.
    for position, query in sorted(accepted, key=lambda each: each[0] not in keeping):
        if query.topic in owners:
            errors[position] = QueryError(
                "destination topic", query.topic, "belongs to one query alone: choose another"
            )
        elif owns_topic(query) and query.topic in used:
            remedy = "is that of another query, and this one is to have a topic of its own: choose another"
            errors[position] = QueryError("destination topic", query.topic, remedy)
        elif owns_topic(query):
            owners.add(query.topic)
        else:
            used.add(query.topic)
    return errors


def _keeps_topic(query: RegisteredQuery, standing: QuerySet) -> bool:
    current = standing.queries.get(query.id)
    return current is not None and owns_topic(current) and current.topic == query.topic
