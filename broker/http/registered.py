"""What the addresses that register queries have in common: the answer to one registration, and pages of a kind."""

from __future__ import annotations

from typing import Any

from fastapi import Response

from broker.http.models import QueryBody, new_query, plain_registered
from broker.http.permitted import Permitted
from broker.http.views import shown
from broker.queries.change import Change, Put


def registered(permitted: Permitted, change: Change, verb: str, response: Response) -> dict[str, Any]:
    """Make one change, and the answer; its status is 201 where the query is new. AscError where it is refused."""
    found = permitted.apply([change], verb).raised().registered[0]
    response.status_code = 201 if found.is_new else 200
    return plain_registered(found)


def registered_body(permitted: Permitted, body: QueryBody, response: Response, *, replaces: bool) -> dict[str, Any]:
    """As :func:`registered`, of a query that is posted."""
    query = new_query(body, permitted.stream_name(body.stream))
    return registered(permitted, Put(query, replaces), "register", response)


def page_of(permitted: Permitted, kind: str, cursor: str | None, limit: int) -> dict[str, Any]:
    """A page of the queries of a kind, by id."""
    found = permitted.of_kind(kind, cursor, limit + 1)
    listed = [shown(permitted, query) for query in found[:limit]]
    return {"queries": listed, "cursor": listed[-1]["id"] if len(found) > limit else None}
