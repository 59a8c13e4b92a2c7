"""The API endpoint that only joins have: the shapes that a join excludes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request

from broker.answers.query import ExcludedShapes
from broker.errors import UnknownQueryError
from broker.http.scoped_service import ScopedService

_PAGE_MAX = 1_000


def join_routes(permitted_of: Callable[[Request], ScopedService]) -> APIRouter:
    """Return the routes that only joins have. A join is also a query, so the endpoints under ``/v1/queries`` apply to
    joins too.
    """
    router = APIRouter(prefix="/v1", tags=["joins"])
    of_caller = Depends(permitted_of)

    @router.get("/queries/{query_id}/excluded-shapes", response_model=ExcludedShapes)
    def excluded_shapes(
        query_id: str,
        limit: Annotated[int, Query(ge=1, le=_PAGE_MAX)] = 100,
        permitted: ScopedService = of_caller,
    ) -> dict[str, Any]:
        """Return the shapes that a join excludes, each with the reason: the first ``limit`` shapes by id."""
        query = permitted.get(query_id)
        if query.join is None:
            raise UnknownQueryError("unknown join", query_id[:250], "is no join: it has no shapes")
        found = permitted.excluded_shapes(query, limit)
        return {"shapes": [{"id": shape_id, "reason": reason} for shape_id, reason in found.items()]}

    return router
