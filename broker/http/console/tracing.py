"""The console page of a trace. The user types a record, or selects one of the source topic, and the page shows the path
of the record along the sequence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from markupsafe import Markup

from asc.errors import AscError
from broker.errors import QueryError, http_status
from broker.http.console.pages import Form, Pages, said
from broker.http.models import TraceBody, valid_body
from broker.http.record_json import shown_record
from broker.http.scoped_service import ScopedService
from broker.http.traces import traced_record
from broker.kafka.last_records import last_records
from broker.kafka.source_record import Place
from broker.pages.page import STYLE
from broker.pages.trace_page import trace_fragment

_PICKED_FROM = 20
_BYTES_MAX = 8 << 20
_WITHIN_S = 5.0


def trace_routes(pages: Pages, permitted_of: Callable[[Request], ScopedService]) -> APIRouter:
    """Return the routes of ``/console/trace``.

    A page for a record of the source topic can be linked, because its URL names the record. A page for a typed record
    cannot, because the form posts the record.
    """
    router = APIRouter()
    of_caller = Depends(permitted_of)

    @router.get("/static/trace.css")
    def style() -> Response:
        return Response(STYLE, media_type="text/css", headers={"Cache-Control": "max-age=3600"})

    @router.get("/trace")
    def of_source(
        stream: str = "", source: str = "", query: str = "", permitted: ScopedService = of_caller
    ) -> Response:
        form = {"stream": stream, "source": source, "query": query, "tuple": ""}
        return _traced(pages, permitted, form)

    @router.post("/trace")
    def of_form(form: Form, permitted: ScopedService = of_caller) -> Response:
        return _traced(pages, permitted, {name: form.get(name, "") for name in ("stream", "source", "query", "tuple")})

    @router.get("/trace/records")
    def records(stream: str = "", query: str = "", permitted: ScopedService = of_caller) -> Response:
        """Return a part of the page: the last records of a stream's source topic, from which the user selects one.

        ``query``: the id of the query whose verdict the trace of the selected record shows; empty for none.
        """
        permitted.check_sees_whole_streams("records of stream", "ask one who may")
        permitted.check_sees_records("records of stream", "ask one who may")
        query = query.strip()
        source_stream = permitted.stream_of(_stream_of(permitted, stream, query) or None)
        topic = source_stream.config.topic
        last = last_records(source_stream.kafka, topic, _PICKED_FROM, most_bytes=_BYTES_MAX, within_s=_WITHIN_S)
        last.sort(key=lambda record: (record.timestamp, record.partition, record.offset), reverse=True)
        shown = [
            {
                **shown_record(record),
                "source": str(Place(topic, record.partition, record.offset)),
                "source_timestamp_ms": record.timestamp,
            }
            for record in last
        ]
        empty, command = f"Topic {topic} has no records.", f"asc publish FILE --stream {source_stream.name}"
        values = {"records": shown, "query_id": query, "empty": empty, "command": command, "link": None}
        return pages.page("records.html", values)

    return router


def _traced(pages: Pages, permitted: ScopedService, form: Mapping[str, str]) -> Response:
    fields = {name: text.strip() for name, text in form.items() if text.strip()}
    values: dict[str, Any] = {
        "title": "Trace",
        "form": {**form, "stream": _stream_of(permitted, form["stream"], form["query"].strip())},
        "streams": sorted(permitted.streams()),
        "error": None,
        "trace": None,
        "picks": permitted.sees_whole_streams and permitted.reads_whole_records,
    }
    status = 200
    if "source" in fields or "tuple" in fields:
        try:
            values["trace"] = Markup(trace_fragment(traced_record(permitted, _body(fields))))
        except AscError as error:
            values["error"], status = said(error), http_status(error)
    return pages.page("trace.html", values, status)


def _stream_of(permitted: ScopedService, stream: str, query: str) -> str:
    """Return the name of the stream of a query that the caller sees. Without such a query, return ``stream``. If this
    is empty too, return the first stream by name that the caller sees.
    """
    try:
        own = permitted.get(query).stream if query else ""
    except AscError:
        own = ""
    return own or stream or next(iter(sorted(permitted.streams())), "")


def _body(form: Mapping[str, str]) -> TraceBody:
    if "source" in form or "query" in form:
        # A source or a query determines the stream, so ignore the stream that the form always sends.
        form = {name: text for name, text in form.items() if name != "stream"}
    fields: dict[str, Any] = dict(form)
    if "tuple" in form:
        try:
            fields["tuple"] = json.loads(form["tuple"])
        except (ValueError, RecursionError) as error:
            raise QueryError("record", form["tuple"][:100], f"is no JSON: {str(error)[:200]}") from None
    return valid_body(TraceBody, fields)
