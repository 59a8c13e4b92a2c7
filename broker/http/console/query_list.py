"""The console's list of queries: search, order and paging."""

from __future__ import annotations

import time
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from broker.errors import QueryError
from broker.http.console.operator_text import figures_text
from broker.http.console.pages import Pages
from broker.http.ranking import RATE, Place, Wanted, figure_of, ranked
from broker.http.scoped_service import ScopedService
from broker.http.views import shown
from broker.queries.query import RegisteredQuery

_PAGE = 50
_COUNT_MAX = 10**18

ORDERS = {"id": "id", "accepted": "most accepted", "rate": "most in the last minute", "errors": "most errors"}
"""The orders of the list: the names that the URL's parameter ``order`` has, and the texts in the form."""


class Listing(BaseModel):
    """The parameters of the console's list of queries.

    ``text``: a text that the predicate or the id contains. ``prefix``: the beginning of the ids. ``label``: a label, as
    ``key=value``. ``after``: the id of the last query on the preceding page. ``figure``: the value of the ordering
    figure for this query. ``seen``: the number of queries on all preceding pages.
    """

    text: str = ""
    prefix: str = ""
    label: str = ""
    stream: str = ""
    order: Literal["id", "accepted", "rate", "errors"] = "id"
    after: str | None = None
    figure: Annotated[int, Field(ge=0, le=_COUNT_MAX)] = 0
    seen: Annotated[int, Field(ge=0, le=_COUNT_MAX)] = 0


def add_list(router: APIRouter, pages: Pages, of_caller: Any) -> None:
    """Add the route of the list of queries, ``/console/queries``, to the router."""

    @router.get("/queries")
    def listed(request: Request, asked: Annotated[Listing, Query()], permitted: ScopedService = of_caller) -> Response:
        start_s = time.perf_counter()
        wanted = _wanted(asked)
        queries, more = _page(permitted, asked, wanted)
        form = asked.model_dump(include={"text", "prefix", "label", "stream", "order"})
        among = permitted.count(wanted.prefix, wanted.label, wanted.stream)
        values = {
            "queries": [_row(permitted, query) for query in queries],
            "more": more,
            "next": "" if more is None else urlencode({**form, **_from(more), "seen": asked.seen + len(queries)}),
            "orders": {order: urlencode({**form, "order": order}) for order in ORDERS},
            "range": range_text(len(queries), asked.seen, among, has_text=bool(asked.text)),
            "took_s": time.perf_counter() - start_s,
            "form": form,
            "count": permitted.count("", None, None),
            "may_change": permitted.may_change,
        }
        if "hx-request" in request.headers:
            return pages.page("query_rows.html", values)
        more_values = {
            "title": "Queries",
            "streams": sorted(permitted.streams()),
            "order_names": ORDERS,
        }
        return pages.page("queries.html", {**values, **more_values})


def _row(permitted: ScopedService, query: RegisteredQuery) -> dict[str, Any]:
    described = shown(permitted, query, is_brief=True)
    return {
        **described,
        "rate": figure_of(permitted, query, RATE),
        "figures": figures_text(described["kept"]),
    }


def _wanted(asked: Listing) -> Wanted:
    key, equals, value = asked.label.partition("=")
    if asked.label and not equals:
        raise QueryError("label", asked.label[:200], "write key=value")
    return Wanted(asked.text, asked.prefix, (key, value) if asked.label else None, asked.stream or None)


def _page(permitted: ScopedService, asked: Listing, wanted: Wanted) -> tuple[list[RegisteredQuery], Place | None]:
    """Return the queries of a page, and the position after which the next page begins; None on the last page."""
    if asked.order != "id":
        after = None if asked.after is None else Place(asked.figure, asked.after)
        return ranked(permitted, asked.order, wanted, after, _PAGE)
    found, more = permitted.search(wanted.text, wanted.prefix, wanted.label, wanted.stream, asked.after, _PAGE)
    return found, None if more is None else Place(0, more)


def _from(place: Place) -> dict[str, Any]:
    return {"after": place.query_id, "figure": place.figure}


def range_text(here: int, seen: int, among: int, *, has_text: bool) -> str:
    """Return a text about the queries on a page: their numbers in the list, and the length of the list. ``here``: the
    number of queries on the page. ``seen``: their number on the preceding pages. ``among``: the number of queries in
    total. ``has_text``: whether the list was searched for a text, so that ``among`` also counts queries without the
    text.

    >>> range_text(50, 0, 1014, has_text=False), range_text(50, 50, 1014, has_text=False)
    ('50 of 1,014 queries', '51 to 100 of 1,014 queries')
    >>> range_text(3, 0, 1014, has_text=True)
    '3 found among 1,014 queries'
    """
    own = f"{seen + 1:,} to {seen + here:,}" if seen else f"{here:,}"
    return f"{own} {'found among' if has_text else 'of'} {among:,} {'query' if among == 1 else 'queries'}"
