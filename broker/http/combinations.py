"""Request bodies that define several queries, which are registered in one step: all or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import Response

from broker.errors import QueryError, StandingQueryError
from broker.http.bulk import applied
from broker.http.scoped_service import ScopedService
from broker.operators.operator_body import bodies
from broker.queries.change import Put
from broker.queries.query import RegisteredQuery, default_topic


def combinations_of(plain: Any) -> list[Any]:
    """Return the request bodies of all queries that one body defines.

    If the operator's parameters are single values, the result is the body itself. If they are lists of values, the
    result has a body for each combination of values, each with a separate id and all with the same destination topic.
    Raise QueryError if there are too many combinations. ``plain``: the parsed JSON of the body.
    """
    if not isinstance(plain, dict):
        return [plain]
    operator, query_id = plain.get("operator"), plain.get("id")
    if not isinstance(operator, dict) or not isinstance(query_id, str):
        return [plain]
    name = operator.get("name")
    body = bodies().get(name) if isinstance(name, str) else None
    if body is None:
        return [plain]
    topic = default_topic(query_id) if plain.get("topic") is None else plain["topic"]
    found = body.combinations(query_id, operator)
    if len(found) == 1:
        return [{**plain, "operator": found[0][1]}]
    return [{**plain, "id": own, "topic": topic, "operator": each} for own, each in found]


def registered_together(
    permitted: ScopedService, queries: Sequence[RegisteredQuery], response: Response
) -> dict[str, Any]:
    """Register new queries in one step: all or none. Return the API's answer, and set the status of ``response`` to
    201. Raise AscError if a query is refused, or if its id is already registered.
    """
    try:
        outcome = permitted.apply([Put(query, replaces=False) for query in queries], "register").raised()
    except StandingQueryError as error:
        remedy = "is taken, and nothing was registered: several queries at once replace none, remove it or choose an id"
        raise QueryError("id of one of several queries", error.value, remedy) from None
    response.status_code = 201
    return applied(outcome)
