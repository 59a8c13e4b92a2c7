"""The console pages of queries: the list, one query, and the forms that add or change a query."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from asc.errors import AscError
from broker.errors import http_status
from broker.http.console.chart import Line, chart
from broker.http.console.operator_text import definition_rows, figures_text
from broker.http.console.pages import Form, Pages, quoted_part, refusal_title, said
from broker.http.console.query_form import FIELDS, alteration, altered, new_fields, shown_fields
from broker.http.console.query_list import add_list
from broker.http.guards import CONSOLE
from broker.http.last_matches import last_matches
from broker.http.models import QueryBody, new_query, valid_body
from broker.http.scoped_service import ScopedService
from broker.http.stream_rates import described_deliveries, described_operators
from broker.http.trial import tried
from broker.http.views import checked, explained, shown
from broker.operators.kinds import kind_of
from broker.queries.change import Change, Put, Remove
from broker.queries.query import RegisteredQuery

_MATCHES_SHOWN = 10
_TRIED = 10_000


def query_routes(pages: Pages, permitted_of: Callable[[Request], ScopedService]) -> APIRouter:
    """Return the routes of the pages of queries. The list and the single queries are under ``/console/queries``; forms,
    actions and parts of pages are under ``/console/query``.

    The two prefixes are different, because an id may be any word, such as ``new``. The key of an unreadable record may
    even be any text.
    """
    router = APIRouter()
    add_list(router, pages, Depends(permitted_of))
    _add_views(router, pages, Depends(permitted_of))
    _add_forms(router, pages, Depends(permitted_of))
    _add_checks(router, pages, Depends(permitted_of))
    _add_changes(router, pages, Depends(permitted_of))
    return router


def _add_views(router: APIRouter, pages: Pages, of_caller: Any) -> None:
    @router.get("/queries/{query_id:path}")
    def show(query_id: str, permitted: ScopedService = of_caller) -> Response:
        if not query_id:
            return RedirectResponse(f"{CONSOLE}/queries", 303)
        query = permitted.get(query_id)
        deliveries = described_deliveries(permitted, query)
        minutes = {minute["at_s"]: float(minute["records"]) for minute in deliveries["minutes"]}
        stream = permitted.streams().get(query.stream)
        now_s = time.time()
        line = Line("accepted", minutes, since_s=now_s if stream is None else stream.figures.timeline.began_s)
        title = "Records accepted a minute"
        drawn = chart(title, [line], now_s=now_s, step_s=60, unit="a minute", is_whole=True)
        constructs = _constructs(permitted, query)
        reader = _reader(permitted, query)
        described = shown(permitted, query)
        values = {
            "query": described,
            "definition": definition_rows(described["operator"]),
            "figures": figures_text(described["kept"]) if _reads_feed(query) else "",
            "chart": drawn,
            "constructs": constructs,
            "reader": reader,
        }
        return pages.page("query.html", {"title": f"Query {query_id}", "may_change": permitted.may_change, **values})

    @router.get("/query/matches/{query_id:path}")
    def matches(query_id: str, permitted: ScopedService = of_caller) -> Response:
        query = permitted.get(query_id)
        records = last_matches(permitted, query, _MATCHES_SHOWN)
        empty = "None of the last records in its topic is of this query."
        # A trace explains the verdict of a join only for one shape, so the links of a join trace its records for all
        # queries.
        asked = query_id if query.join is None else None
        of_query = "" if asked is None else f"&query={quoted_part(asked)}"
        link = f"{CONSOLE}/trace?stream={quoted_part(query.stream)}{of_query}"
        values = {"records": records, "query_id": asked, "empty": empty, "command": None, "link": link}
        return pages.page("records.html", values)


def _add_forms(router: APIRouter, pages: Pages, of_caller: Any) -> None:
    @router.get("/query/new")
    def new(stream: str = "", where: str = "", permitted: ScopedService = of_caller) -> Response:
        form = {"stream": stream, "where": where}
        title = "New query" if permitted.may_change else "Try a predicate"
        return pages.page("query_form.html", {"title": title, **_form_values(permitted, form, None)})

    @router.get("/query/edit/{query_id:path}")
    def edit(query_id: str, permitted: ScopedService = of_caller) -> Response:
        permitted.check_may_change()
        own = shown_fields(permitted.get(query_id))
        return pages.page("query_form.html", {"title": f"Change {query_id}", **_form_values(permitted, own, query_id)})


def _add_checks(router: APIRouter, pages: Pages, of_caller: Any) -> None:
    @router.post("/query/check")
    def check(form: Form, permitted: ScopedService = of_caller) -> Response:
        """Return a part of the form: the result of the validation of a predicate, while the user types it."""
        where = form.get("where", "")
        if not where.strip():
            return pages.page("verdict.html", {"verdict": None, "error": None})
        try:
            layer = form.get("layer") or None
            verdict = checked(permitted, permitted.stream_of(form.get("stream") or None), where, layer)
        except AscError as error:
            return pages.page("verdict.html", {"verdict": None, "error": said(error)})
        # The form offers no trial for a join, because the trial would evaluate the predicate for all shapes of the
        # layer.
        tries = permitted.may_change and layer is None
        return pages.page("verdict.html", {"verdict": verdict, "error": None, "tries": tries})

    @router.post("/query/try")
    def attempt(form: Form, permitted: ScopedService = of_caller) -> Response:
        """Return a part of the form: the number of the last records that a predicate would have accepted."""
        try:
            stream = permitted.stream_of(form.get("stream") or None)
            found = tried(permitted, stream, form.get("where", ""), _TRIED, 0, as_typed=True)
        except AscError as error:
            return pages.page("trial.html", {"error": said(error)})
        return pages.page("trial.html", {"found": found, "error": None, "stream": stream.name})


def _add_changes(router: APIRouter, pages: Pages, of_caller: Any) -> None:
    def refused(permitted: ScopedService, form: Form, query_id: str | None, error: AscError) -> Response:
        status = http_status(error)
        values = {**_form_values(permitted, form, query_id), "title": refusal_title(status), "error": said(error)}
        return pages.page("query_form.html", values, status)

    def made(permitted: ScopedService, change: Change, verb: str, form: Form, query_id: str | None) -> Response:
        """Apply a change, and return a redirection to the query's page. If the change is refused, return the form
        again, with the error. ``verb``: the verb for the audit. ``query_id``: the query that the form changes; None for
        a new query.
        """
        try:
            permitted.apply([change], verb).raised()
        except AscError as error:
            return refused(permitted, form, query_id, error)
        return _to_query(change.query_id)

    @router.post("/query/new")
    def add(form: Form, permitted: ScopedService = of_caller) -> Response:
        try:
            body = valid_body(QueryBody, new_fields(form))
            change = Put(new_query(body, permitted.stream_name(body.stream)), replaces=False)
        except AscError as error:
            return refused(permitted, form, None, error)
        return made(permitted, change, "register", form, None)

    @router.post("/query/edit/{query_id:path}")
    def change(query_id: str, form: Form, permitted: ScopedService = of_caller) -> Response:
        return made(permitted, altered(query_id, form), "change", form, query_id)

    @router.post("/query/pause/{query_id:path}")
    def pause(query_id: str, form: Form, permitted: ScopedService = of_caller) -> Response:
        paused = {"paused": form.get("paused") == "yes"}
        permitted.apply([alteration(query_id, lambda _: paused)], "change").raised()
        return _to_query(query_id)

    @router.post("/query/remove/{query_id:path}")
    def remove(query_id: str, permitted: ScopedService = of_caller) -> Response:
        permitted.apply([Remove(query_id)], "remove").raised()
        return RedirectResponse(f"{CONSOLE}/queries", 303)


def _to_query(query_id: str) -> Response:
    return RedirectResponse(f"{CONSOLE}/queries/{quoted_part(query_id)}", 303)


def _form_values(permitted: ScopedService, form: Form, query_id: str | None) -> dict[str, Any]:
    streams = {name: stream.fields.ddl() for name, stream in sorted(permitted.streams().items())}
    fields = {name: form.get(name, "") for name in FIELDS}
    may_change = permitted.may_change
    return {"form": fields, "streams": streams, "query_id": query_id, "error": None, "may_change": may_change}


def _constructs(permitted: ScopedService, query: RegisteredQuery) -> str | None:
    """Return a text about the constructs that a query uses, or the reason why there is none. Return None if the caller
    may not see the constructs. Return None for a join, because each shape has separate constructs.
    """
    if not permitted.sees_whole_streams or query.join is not None:
        return None
    try:
        return str(explained(permitted, query.id, None)["text"])
    except AscError as error:
        return str(error)


def _reader(permitted: ScopedService, query: RegisteredQuery) -> dict[str, Any] | None:
    """Return the state of the operator of a query's kind on the query's stream. The numbers are for all queries of this
    kind together.

    The field ``reads_feed`` says whether the kind reads a feed. Return None if the caller may not see the numbers, if
    the query has no operator, or if the stream has no state of this kind.
    """
    stream = permitted.streams().get(query.stream)
    if query.operator is None or stream is None or not permitted.sees_whole_streams:
        return None
    found = described_operators(stream).get(query.operator.name)
    return None if found is None else {**found, "reads_feed": _reads_feed(query)}


def _reads_feed(query: RegisteredQuery) -> bool:
    return query.operator is not None and kind_of(query.operator).handoff == "feed"
