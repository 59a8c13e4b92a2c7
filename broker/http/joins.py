"""Joins over HTTP: registered, listed, and the shapes of their layers that they exclude."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel

from broker.errors import UnknownQueryError
from broker.http.conditional import replaces
from broker.http.models import JoinQueryBody, QueryPage, RegisteredModel
from broker.http.permitted import Permitted
from broker.http.registered import page_of, registered_body

_PAGE_MAX = 1_000
_REPLACES = Depends(replaces)


class ExcludedShape(BaseModel):
    """A shape that a join excludes, and why: its predicate is refused with the values of the shape's row."""

    id: str
    reason: str


class ExcludedShapes(BaseModel):
    """The first shapes that a join excludes, by id."""

    shapes: list[ExcludedShape]


def join_routes(permitted_of: Callable[[Request], Permitted]) -> APIRouter:
    """Return the addresses of joins; a join is a query: it is shown, changed and removed under ``/v1/queries``."""
    router = APIRouter(prefix="/v1", tags=["joins"])
    of_caller = Depends(permitted_of)

    @router.post("/joins", response_model=RegisteredModel, responses={201: {"model": RegisteredModel}})
    def post(
        body: JoinQueryBody, response: Response, *, replaces: bool = _REPLACES, permitted: Permitted = of_caller
    ) -> dict[str, Any]:
        """Register a join, or put it in place of the query of its id in one step; answered when the running plan has a
        member for every shape of the layer. With ``If-None-Match: *`` no query is replaced.
        """
        return registered_body(permitted, body.query(), response, replaces=replaces)

    @router.get("/joins", response_model=QueryPage)
    def page(
        limit: Annotated[int, Query(ge=1, le=_PAGE_MAX)] = 100,
        cursor: str | None = None,
        permitted: Permitted = of_caller,
    ) -> dict[str, Any]:
        """A page of the joins, by id."""
        return page_of(permitted, "join", cursor, limit)

    @router.get("/queries/{query_id}/excluded-shapes", response_model=ExcludedShapes)
    def excluded_shapes(
        query_id: str,
        limit: Annotated[int, Query(ge=1, le=_PAGE_MAX)] = 100,
        permitted: Permitted = of_caller,
    ) -> dict[str, Any]:
        """The first shapes that a join excludes, by id, each with the reason."""
        query = permitted.get(query_id)
        if query.join is None:
            raise UnknownQueryError("unknown join", query_id[:250], "is no join: it has no shapes")
        found = permitted.excluded_shapes(query, limit)
        return {"shapes": [{"id": shape_id, "reason": reason} for shape_id, reason in found.items()]}

    return router
