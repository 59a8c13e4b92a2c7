"""Near queries over HTTP: registered and listed; they are told which of their objects are within a distance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import Field, StrictBool

from broker.http.conditional import replaces
from broker.http.models import Body, QueryBody, QueryPage, RegisteredModel, Text
from broker.http.permitted import Permitted
from broker.http.registered import page_of, registered_body

_PAGE_MAX = 1_000
_REPLACES = Depends(replaces)
_OPERATOR_FIELDS = ("key", "time", "position", "distance_m", "window_s", "every_s", "on", "events")


class NearQueryBody(Body):
    """A near query to register, as a :class:`QueryBody` has it, with the fields of its operator beside the others. Left
    out, ``where`` accepts every record, ``time`` is the record's own, ``position`` is of the columns ``longitude`` and
    ``latitude``, and ``events`` tells of each pair at each tick.
    """

    id: Text
    key: Text = Field(description="what tells objects apart, an expression over the record")
    distance_m: Any = Field(description="metres, from 0")
    window_s: Any = Field(description="seconds: for how long an object is where it was seen last")
    every_s: Any = Field(description="seconds from tick to tick")
    time: Text | None = Field(default=None, description="a TIMESTAMP expression")
    position: Text | None = Field(default=None, description="as ST_Point(longitude, latitude)")
    on: Text | None = Field(default=None, description="a predicate over a and b, the two objects")
    events: list[Text] | None = Field(default=None, description='["pair"], or some of "near", "apart"')
    where: Text = "true"
    stream: Text | None = None
    topic: Text | None = None
    labels: dict[Text, Text] = Field(default_factory=dict)
    paused: StrictBool = False
    expires_at: Text | None = None

    def query(self) -> QueryBody:
        """It as a query."""
        plain = self.model_dump()
        given = {name: value for name in _OPERATOR_FIELDS if (value := plain.pop(name)) is not None}
        return QueryBody(**plain, operator={"name": "near", **given})


def near_routes(permitted_of: Callable[[Request], Permitted]) -> APIRouter:
    """The addresses under ``/v1/near``; what is registered there is a query: it is shown, changed and removed under
    ``/v1/queries``.
    """
    router = APIRouter(prefix="/v1/near", tags=["near"])
    of_caller = Depends(permitted_of)

    @router.post("", response_model=RegisteredModel, responses={201: {"model": RegisteredModel}})
    def post(
        body: NearQueryBody, response: Response, *, replaces: bool = _REPLACES, permitted: Permitted = of_caller
    ) -> dict[str, Any]:
        """Register a near query, or put it in place of the query of its id in one step; answered when it is in the
        running plan. With ``If-None-Match: *`` no query is replaced.
        """
        return registered_body(permitted, body.query(), response, replaces=replaces)

    @router.get("", response_model=QueryPage)
    def page(
        limit: Annotated[int, Query(ge=1, le=_PAGE_MAX)] = 100,
        cursor: str | None = None,
        permitted: Permitted = of_caller,
    ) -> dict[str, Any]:
        """A page of the near queries, by id."""
        return page_of(permitted, "near", cursor, limit)

    return router
