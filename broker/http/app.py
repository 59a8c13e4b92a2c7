"""The HTTP API: what the command line and programs talk to. Endpoints parse, call and answer; they decide nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Depends, FastAPI, Header, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.exceptions import HTTPException

from asc.errors import AscError
from broker.errors import (
    BrokerError,
    BulkRefusedError,
    QueryError,
    UnknownQueryError,
    http_status,
)
from broker.failure import one_line
from broker.http.bulk import load_lines
from broker.http.guards import NDJSON, Guards, content_type
from broker.http.metrics import METRICS_TYPE, exposition
from broker.http.models import (
    CheckBody,
    ExplainBody,
    QueryBody,
    QueryChange,
    QueryModel,
    QueryPage,
    RegisteredModel,
    RemovedModel,
    body_error,
    changed_body,
    new_query,
    parse_line,
    plain_error,
    plain_offsets,
    plain_registered,
    valid_body,
)
from broker.http.views import checked, described_plans, described_streams, explained, shown
from broker.queries.change import Alter, Change, Put, Remove
from broker.queries.query import RegisteredQuery
from broker.queries.registrar import Registrar
from broker.stream.stream import Stream

_PAGE_MAX = 1_000


class Service(Protocol):
    """What the API needs of the daemon."""

    def readiness(self) -> str | None:
        """Why the daemon is not ready; None when it is."""

    def registrar(self) -> Registrar:
        """What changes and holds the standing queries; BrokerError before they are loaded."""

    def streams(self) -> Mapping[str, Stream]:
        """The streams by name; BrokerError before they are there."""

    def bootstrap_servers(self) -> str:
        """Where Kafka is; BrokerError before it is reached."""


def create_app(service: Service, token: str | None, max_body_bytes: int, host: str = "127.0.0.1") -> FastAPI:
    """The application. With a token, everything but the health of the process asks for it; without one, it answers
    only requests that were sent to ``host`` or a loopback address, and by no foreign web page.
    """
    app = FastAPI(title="asc-broker", description="Standing SQL predicates over Kafka streams.", version="1")
    app.add_middleware(Guards, token=token, max_body_bytes=max_body_bytes, host=host)
    _add_error_answers(app)
    app.include_router(_health(service))
    app.include_router(_query_changes(service))
    app.include_router(_query_views(service))
    app.include_router(_views(service))
    app.include_router(_metrics(service))
    return app


def _health(service: Service) -> APIRouter:
    router = APIRouter(tags=["health"])

    @router.get("/healthz")
    def healthz() -> dict[str, str]:
        """Whether the process answers."""
        return {"status": "ok"}

    @router.get("/readyz")
    def readyz(response: Response) -> dict[str, Any]:
        """Whether every stream's job runs and queries can be registered; 503 and the reason where not."""
        reason = service.readiness()
        response.status_code = 200 if reason is None else 503
        return {"ready": reason is None, "reason": reason}

    return router


async def _posted(request: Request) -> tuple[bool, bytes]:
    return content_type(request) == NDJSON, await request.body()


def _replaces(if_none_match: Annotated[str | None, Header()] = None) -> bool:
    """Whether a query may be put in place of another; QueryError for a header that means something else."""
    if if_none_match is not None and if_none_match.strip() != "*":
        raise QueryError("header If-None-Match", if_none_match[:200], "send * so that no query is replaced")
    return if_none_match is None


_POSTED = Depends(_posted)
_REPLACES = Depends(_replaces)
_POST_SCHEMA = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": QueryBody.model_json_schema()},
            NDJSON: {"schema": {"type": "string", "description": "one query a line"}},
        },
    }
}


def _query_changes(service: Service) -> APIRouter:
    router = APIRouter(prefix="/v1/queries", tags=["queries"])

    def query_of(body: QueryBody) -> RegisteredQuery:
        return new_query(body, service.registrar().stream_of(body.stream).name)

    def registered(change: Change, response: Response) -> dict[str, Any]:
        found = service.registrar().apply([change]).raised().registered[0]
        response.status_code = 201 if found.is_new else 200
        return plain_registered(found)

    @router.post("", openapi_extra=_POST_SCHEMA, responses={201: {"model": RegisteredModel}})
    def post(
        response: Response,
        keep_going: bool = False,
        posted: tuple[bool, bytes] = _POSTED,
        replaces: bool = _REPLACES,
    ) -> dict[str, Any]:
        """Register a query, or replace the one of the same id in one step; answered when it is in the running plan.

        NDJSON registers one query a line: all or none, or with ``keep_going`` the valid ones and a list of the others.
        With ``If-None-Match: *`` no query is replaced: an id that stands is refused, with 412 where it is the only one.
        """
        is_lines, content = posted
        if is_lines:
            return load_lines(service.registrar(), content, keep_going=keep_going, replaces=replaces)
        return registered(Put(query_of(parse_line(content)), replaces), response)

    @router.put("/{query_id}", response_model=RegisteredModel, responses={201: {"model": RegisteredModel}})
    def change(query_id: str, body: QueryChange, response: Response, replaces: bool = _REPLACES) -> dict[str, Any]:
        """Register or replace a query (whole body), or change the given fields of one, as ``{"paused": true}``.

        With ``If-None-Match: *`` a query that stands is left as it is, and the answer is 412.
        """
        if body.id is not None and body.id != query_id:
            raise QueryError("field id", body.id[:250], f"differs from the address, {query_id[:250]!r}")
        given = body.model_dump(exclude_unset=True)

        def altered(standing: RegisteredQuery | None) -> RegisteredQuery:
            # Two changes of different fields at a time: the second one is made to what the first one left.
            if standing is not None and standing.unreadable is None:
                return query_of(changed_body(standing, given))
            if body.where is None and standing is not None:
                raise QueryError("query", query_id[:250], f"is not to be changed in part: {standing.unreadable}")
            if body.where is None:
                raise UnknownQueryError("unknown query", query_id[:250], "'asc query list' shows the registered ones")
            return query_of(valid_body({**given, "id": query_id}))

        return registered(Alter(query_id, altered, replaces), response)

    @router.delete("/{query_id}", response_model=RemovedModel)
    def delete(query_id: str) -> dict[str, Any]:
        """Remove a query. Answered when no later record can reach it."""
        outcome = service.registrar().apply([Remove(query_id)]).raised()
        offsets = outcome.effective_offsets.get(outcome.removed[0].stream, {})
        return {"version": outcome.version, "effective_offsets": plain_offsets(offsets)}

    return router


def _query_views(service: Service) -> APIRouter:
    router = APIRouter(prefix="/v1/queries", tags=["queries"])

    @router.get("", response_model=QueryPage)
    def page(
        prefix: str = "",
        label: str | None = None,
        stream: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> dict[str, Any]:
        """The registered queries by id: those whose id begins with ``prefix``, with a label ``k=v``, of a stream."""
        if not 1 <= limit <= _PAGE_MAX:
            raise QueryError("limit", limit, f"use 1 to {_PAGE_MAX}")
        key, equals, value = (label or "").partition("=")
        if label is not None and not equals:
            raise QueryError("label", label[:200], "write key=value")
        registrar = service.registrar()
        if stream is not None:
            registrar.stream_of(stream)
        wanted = (key, value) if label is not None else None
        found, more = registrar.standing.page(prefix=prefix, label=wanted, stream=stream, after=cursor, limit=limit)
        return {
            "queries": [shown(registrar, service.streams(), query) for query in found],
            "cursor": found[-1].id if more else None,
        }

    @router.get("/{query_id}", response_model=QueryModel)
    def show(query_id: str) -> dict[str, Any]:
        """One registered query."""
        registrar = service.registrar()
        return shown(registrar, service.streams(), registrar.standing.get(query_id))

    @router.post("/{query_id}/explain")
    def explain(query_id: str, body: ExplainBody) -> dict[str, Any]:
        """The constructs a query uses and their place in the sequence; of a tuple, whether the query accepts it and
        which of its terms hold, with ``whole`` also its way through the sequence.
        """
        registrar = service.registrar()
        query = registrar.standing.get(query_id)
        return explained(registrar, service.streams(), query, body.tuple, whole=body.whole)

    return router


def _views(service: Service) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["views"])

    @router.post("/check")
    def check(body: CheckBody) -> dict[str, Any]:
        """A predicate's normal form and what is to be said about it, without registering it."""
        return checked(service.registrar().stream_of(body.stream), body.where)

    @router.get("/streams")
    def streams() -> dict[str, Any]:
        """The configured streams, and the Kafka they live in."""
        return {
            "streams": described_streams(service.registrar(), service.streams()),
            "kafka": {"bootstrap_servers": service.bootstrap_servers()},
        }

    @router.get("/plan")
    def plan() -> dict[str, Any]:
        """The running plan of every stream, and what its monitor measured and rearranged."""
        return {"streams": described_plans(service.streams())}

    return router


def _metrics(service: Service) -> APIRouter:
    router = APIRouter(tags=["metrics"])

    @router.get("/metrics", response_class=PlainTextResponse)
    def metrics() -> Response:
        """Counts of every stream in the text format of Prometheus."""
        return PlainTextResponse(exposition(service.streams()), media_type=METRICS_TYPE)

    return router


def _add_error_answers(app: FastAPI) -> None:
    @app.exception_handler(AscError)
    def asc_error(_: Request, error: AscError) -> JSONResponse:
        return JSONResponse({"error": plain_error(error)}, http_status(error))

    @app.exception_handler(BulkRefusedError)
    def bulk_refused(_: Request, error: BulkRefusedError) -> JSONResponse:
        return JSONResponse({"error": plain_error(error), "errors": error.errors}, http_status(error))

    @app.exception_handler(RequestValidationError)
    def validation_error(_: Request, error: RequestValidationError) -> JSONResponse:
        return JSONResponse({"error": plain_error(body_error(*error.errors()))}, 400)

    @app.exception_handler(HTTPException)
    def http_error(request: Request, error: HTTPException) -> JSONResponse:
        wrong = BrokerError("request", f"{request.method} {request.url.path}", f"{error.detail}: see /docs")
        return JSONResponse({"error": plain_error(wrong)}, error.status_code)

    @app.exception_handler(Exception)
    def unforeseen(request: Request, error: Exception) -> JSONResponse:
        wrong = BrokerError(
            "request", f"{request.method} {request.url.path}", f"failed: {one_line(error)}; see the log"
        )
        return JSONResponse({"error": plain_error(wrong)}, 500)
