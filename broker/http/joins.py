"""Joins over HTTP: registered, listed, and which shapes of their layers they leave out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from broker.errors import UnknownQueryError
from broker.http.conditional import replaces
from broker.http.models import (
    JoinQueryBody,
    QueryModel,
    QueryPage,
    RegisteredModel,
)
from broker.http.permitted import Permitted
from broker.http.registered import page_of, registered_body
from broker.http.views import shown

_PAGE_MAX = 1_000
_LEFT_OUT_MAX = 100
_REPLACES = Depends(replaces)


class JoinModel(QueryModel):
    """A join, with the first shapes that it leaves out: refused with the values of their rows."""

    refusals: list[dict[str, str]]


def join_routes(permitted_of: Callable[[Request], Permitted]) -> APIRouter:
    """The addresses under ``/v1/joins``; a join is a query: it is changed and removed under ``/v1/queries``."""
    router = APIRouter(prefix="/v1/joins", tags=["joins"])
    of_caller = Depends(permitted_of)

    @router.post("", response_model=RegisteredModel, responses={201: {"model": RegisteredModel}})
    def post(
        body: JoinQueryBody, response: Response, *, replaces: bool = _REPLACES, permitted: Permitted = of_caller
    ) -> dict[str, Any]:
        """Register a join, or put it in place of the query of its id in one step; answered when the running plan has a
        member for every shape of the layer. With ``If-None-Match: *`` no query is replaced.
        """
        return registered_body(permitted, body.query(), response, replaces=replaces)

    @router.get("", response_model=QueryPage)
    def page(
        limit: Annotated[int, Query(ge=1, le=_PAGE_MAX)] = 100,
        cursor: str | None = None,
        permitted: Permitted = of_caller,
    ) -> dict[str, Any]:
        """A page of the joins, by id."""
        return page_of(permitted, "join", cursor, limit)

    @router.get("/{query_id}", response_model=JoinModel)
    def show(query_id: str, permitted: Permitted = of_caller) -> dict[str, Any]:
        """One join, with the first shapes that it leaves out, and why."""
        query = permitted.get(query_id)
        if query.join is None:
            raise UnknownQueryError("unknown join", query_id[:250], "is a query: see /v1/queries")
        left_out = permitted.left_out(query, _LEFT_OUT_MAX)
        refusals = [{"id": shape_id, "reason": reason} for shape_id, reason in left_out.items()]
        return {**shown(permitted, query), "refusals": refusals}

    return router
