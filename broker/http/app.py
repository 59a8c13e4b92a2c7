"""The FastAPI application of the HTTP API. Endpoints only parse requests, call :class:`ScopedService` and format
answers; the service makes all decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from asc.errors import AscError
from broker.access.access import Access
from broker.access.audit import Audit
from broker.access.sessions import Sessions
from broker.answers.block import Block
from broker.answers.plan import Plans, Timeline
from broker.answers.predicate import Trial
from broker.answers.query import Applied, Deliveries, Loads
from broker.answers.stream import Streams
from broker.cancellation import Cancellation
from broker.config.sections import ApiConfig
from broker.errors import BrokerError, BulkRefusedError, QueryError, http_status
from broker.failure import one_line
from broker.http.blocks import described_block
from broker.http.bulk import load_lines
from broker.http.combinations import combinations_of, registered_together
from broker.http.conditional import replaces
from broker.http.console.operators.routes import kind_links
from broker.http.console.pages import Pages
from broker.http.console.routes import console_routes
from broker.http.guards import CONSOLE, NDJSON, Caller, Guards, content_type, is_console
from broker.http.join_routes import join_routes
from broker.http.layer_routes import layer_routes
from broker.http.metrics import METRICS_TYPE, permitted_exposition
from broker.http.models import (
    CheckBody,
    CheckedModel,
    ErrorModel,
    ExplainBody,
    QueryBody,
    QueryChange,
    QueryModel,
    QueryPage,
    ReadyModel,
    RegisteredModel,
    RemovedModel,
    TraceBody,
    TrialBody,
    asked_operators,
    body_error,
    changed_body,
    new_query,
    plain_error,
    plain_line,
    plain_offsets,
    valid_body,
)
from broker.http.openapi import HEALTH, DescribedApp, reference
from broker.http.operators.routes import operator_routes
from broker.http.part_loads import PartLoads, part_load_routes
from broker.http.registration import registration_answer
from broker.http.request_metrics import CountedRequests, RequestCounts
from broker.http.scoped_service import ScopedService, Service
from broker.http.stream_rates import described_deliveries, described_timeline
from broker.http.trace_models import ExplanationModel, TraceModel
from broker.http.traces import traced_record
from broker.http.trial import tried
from broker.http.views import checked, described_plans, described_streams, explained, shown
from broker.queries.change import Alter, Put, Remove
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import unknown_query

_PAGE_MAX = 1_000
_METRICS_PATH = "/metrics"
_RETRY_AFTER_S = "1"
"""The seconds in the header Retry-After of an answer that refuses a request, because too much work is in progress."""

_REFUSALS = {
    400: "The request is refused: it changed nothing.",
    401: "The bearer token is missing or wrong.",
    403: "Outside what the token is limited to; without a token, only this host is answered.",
    404: "There is no such query, record or block, or no such address.",
    412: "The query is registered already, and If-None-Match says not to replace it.",
    408: "The body comes too slowly.",
    413: "The body is larger than 2 MiB or, of a bulk load, than api.max_body_bytes, or its parts api.max_load_bytes.",
    415: "The body is neither JSON nor NDJSON, or of a look-up neither CSV nor Parquet.",
    429: "Too many requests a second, or connections of one host: wait as long as Retry-After says.",
    500: "It failed in a way nobody foresaw: see the daemon's log.",
    503: "The daemon is not ready or has too many connections, or Kafka does not answer: try again.",
}

_HEALTH_REFUSALS = (403, 408, 413, 429, 500, 503)
"""The error statuses of an endpoint that needs no token and whose requests have no body."""


def create_app(
    service: Service, access: Access, api: ApiConfig, audit: Audit, stopping: Cancellation | None = None
) -> FastAPI:
    """Return the application of the API and the console. When the daemon stops, it cancels ``stopping``, and so the
    work of all requests.

    If tokens are configured, every request needs a token, except the health checks, the login page and static files.
    Without tokens, the API answers only requests that name ``api.host`` or a loopback address in the header Host. It
    also refuses requests that a page of another site makes a browser send.
    """

    def permitted(request: Request) -> ScopedService:
        caller: Caller = request.state.caller
        return ScopedService(service, caller.scope, caller.host, audit, caller.cancellation)

    app = DescribedApp(
        title="asc-broker",
        description="Standing SQL predicates over Kafka streams.",
        version="1",
        bodies=(QueryBody,),
        asks_for_token=access.asks_for_token,
    )
    sessions, pages = Sessions(access), Pages(logs_in=access.asks_for_token, links=kind_links())
    console, addresses = console_routes(pages, permitted, access, sessions)
    health = _health(service)
    part_loads = part_load_routes(permitted, PartLoads(api.max_load_bytes))
    more = (join_routes(permitted), layer_routes(permitted), *operator_routes(permitted), part_loads)
    checked_routers = (_query_changes(permitted), _query_views(permitted), *more, _views(permitted))
    requests = RequestCounts([*_paths((health, *checked_routers)), _METRICS_PATH, *addresses])
    app.add_middleware(Guards, access=access, api=api, sessions=sessions, page_of=pages.refused, stopping=stopping)
    # Starlette puts a middleware that is added later outside of the former ones, so this one also counts requests that
    # the guards refuse.
    app.add_middleware(CountedRequests, counts=requests)
    _add_error_answers(app, pages)
    refusals = _described(_REFUSALS)
    app.include_router(health)
    for router in checked_routers:
        app.include_router(router, responses=refusals, dependencies=[Depends(_check_parameters)])
    app.include_router(_metrics(permitted, requests, api.metrics_top_queries), responses=refusals)
    app.include_router(console)
    return app


def _paths(routers: Iterable[APIRouter]) -> Iterator[str]:
    """Yield the path of each endpoint of the routers, as the OpenAPI document spells it. The paths are read from the
    routes, because the generation of the document would take longer.
    """
    for router in routers:
        yield from {route.path_format: None for route in router.routes if isinstance(route, APIRoute)}


async def _check_parameters(request: Request) -> None:
    """Raise QueryError for a query parameter that the endpoint does not have. FastAPI would ignore such a parameter,
    and the caller would believe that the parameter was applied.
    """
    known = _parameters(request.scope["route"].dependant)
    for name in request.query_params:
        if name not in known:
            said = f"known are {', '.join(sorted(known))}" if known else "this endpoint has none"
            raise QueryError("parameter", name[:100], f"is not known: {said}")


def _parameters(dependant: Any) -> set[str]:
    """Return the names of the query parameters of an endpoint and of its dependencies."""
    inner = (_parameters(one) for one in dependant.dependencies)
    return {one.alias for one in dependant.query_params}.union(*inner)


def _meanings(request: Request) -> dict[str, str]:
    """Return the descriptions of an endpoint's query parameters, by the name of the parameter. ``request``: a request
    to this endpoint.
    """
    dependant = getattr(request.scope.get("route"), "dependant", None)
    fields = [] if dependant is None else dependant.query_params
    return {own.alias: own.field_info.description for own in fields if own.field_info.description}


def _described(refusals: Iterable[int]) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": ErrorModel, "description": _REFUSALS[status]} for status in refusals}


def _health(service: Service) -> APIRouter:
    router = APIRouter(tags=[HEALTH], responses=_described(_HEALTH_REFUSALS))
    unready = {"model": ReadyModel | ErrorModel, "description": "It is not ready."}

    # Neither endpoint waits for anything. Both are coroutines, which need no thread, because other requests may occupy
    # all threads.
    @router.get("/healthz")
    async def healthz() -> dict[str, str]:
        """Return the status ``ok``, as a sign that the process answers requests."""
        return {"status": "ok"}

    @router.get("/readyz", response_model=ReadyModel, responses={503: unready})
    async def readyz(response: Response) -> dict[str, Any]:
        """Return whether the daemon is ready: the job of every stream runs, and queries can be registered. If not, the
        status is 503, and the answer has the reason.
        """
        reason = service.readiness()
        response.status_code = 200 if reason is None else 503
        return {"ready": reason is None, "reason": reason}

    return router


async def _posted(request: Request) -> tuple[bool, bytes]:
    return content_type(request) == NDJSON, await request.body()


_ScopedServiceOf = Callable[[Request], ScopedService]
_POSTED = Depends(_posted)
_REPLACES = Depends(replaces)
_POST_SCHEMA = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": reference(QueryBody)},
            NDJSON: {"schema": {"type": "string", "description": 'one query a line, or {"remove": "ID"}'}},
        },
    }
}


def _query_changes(permitted_of: _ScopedServiceOf) -> APIRouter:
    router = APIRouter(prefix="/v1/queries", tags=["queries"])
    of_caller = Depends(permitted_of)

    def query_of(permitted: ScopedService, body: QueryBody) -> RegisteredQuery:
        return new_query(body, permitted.stream_name(body.stream))

    @router.post(
        "",
        openapi_extra=_POST_SCHEMA,
        response_model=RegisteredModel | Applied,
        responses={201: {"model": RegisteredModel}},
    )
    def post(
        *,
        response: Response,
        keep_going: bool = False,
        dry_run: bool = False,
        posted: tuple[bool, bytes] = _POSTED,
        replaces: bool = _REPLACES,
        permitted: ScopedService = of_caller,
    ) -> dict[str, Any]:
        """Register a query, or replace the registered query with the same id. The answer comes when the running plan
        contains the query.

        A body of NDJSON has one query a line, and all are registered in one step: all or none. With ``keep_going``, the
        valid lines are registered, and the answer lists the refused lines. A line ``{"remove": "ID"}`` removes a query
        in the same step. With ``dry_run``, the lines are only validated. With ``If-None-Match: *``, no query is
        replaced: a registered id is refused, and the status is 412 if the body has only one query. If the operator has
        lists of values, and its kind allows them, each combination of values defines a new query. All of these are
        registered, or none.
        """
        is_lines, content = posted
        if is_lines:
            return load_lines(permitted, content, keep_going=keep_going, replaces=replaces, is_rehearsal=dry_run)
        if dry_run:
            raise QueryError(
                "parameter dry_run", "true", "goes with application/x-ndjson; /v1/check takes one predicate"
            )
        several = [valid_body(QueryBody, each) for each in combinations_of(plain_line(content))]
        if len(several) > 1:
            return registered_together(permitted, [query_of(permitted, each) for each in several], response)
        change = Put(query_of(permitted, several[0]), replaces)
        return registration_answer(permitted, change, "register", response)

    @router.put("/{query_id}", response_model=RegisteredModel, responses={201: {"model": RegisteredModel}})
    def change(
        query_id: str,
        body: QueryChange,
        response: Response,
        replaces: bool = _REPLACES,
        permitted: ScopedService = of_caller,
    ) -> dict[str, Any]:
        """Register or replace a query if the body is complete. Otherwise change the given fields of a registered query,
        such as ``{"paused": true}``.

        With ``If-None-Match: *``, a registered query is not changed, and the status is 412.
        """
        if body.id is not None and body.id != query_id:
            raise QueryError("field id", body.id[:250], f"differs from the address, {query_id[:250]!r}")
        given = body.model_dump(exclude_unset=True)

        def altered(standing: RegisteredQuery | None) -> RegisteredQuery:
            # If two requests change different fields at the same time, the second change applies to the result of the
            # first one.
            if standing is not None and standing.unreadable is None:
                return query_of(permitted, changed_body(standing, given))
            if body.where is None and standing is not None:
                raise QueryError("query", query_id[:250], f"is not to be changed in part: {standing.unreadable}")
            if body.where is None:
                raise unknown_query(query_id)
            return query_of(permitted, valid_body(QueryBody, {**given, "id": query_id}))

        return registration_answer(permitted, Alter(query_id, altered, replaces), "change", response)

    # The path accepts any key of the registry topic, also with slashes, so that this endpoint can remove unreadable
    # records too.
    @router.delete("/{query_id:path}", response_model=RemovedModel)
    def delete(query_id: str, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Remove a query. The answer comes when no later record can be delivered for the query."""
        outcome = permitted.apply([Remove(query_id)], "remove").raised()
        offsets = outcome.effective_offsets.get(outcome.removed[0].stream, {})
        return {"version": outcome.version, "effective_offsets": plain_offsets(offsets)}

    return router


def _query_views(permitted_of: _ScopedServiceOf) -> APIRouter:
    router = APIRouter(prefix="/v1/queries", tags=["queries"])
    of_caller = Depends(permitted_of)

    @router.get("", response_model=QueryPage)
    def page(
        *,
        prefix: str = "",
        label: str | None = None,
        stream: str | None = None,
        operator: str | None = None,
        layer: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
        permitted: ScopedService = of_caller,
    ) -> dict[str, Any]:
        """Return a page of the registered queries that satisfy all filters, ordered by id.

        ``prefix``: the beginning of the ids. ``label``: a label, as ``key=value``. ``operator``: the name of a kind, or
        ``route`` for queries without an operator. ``layer``: only joins over this layer. ``cursor``: the cursor of the
        preceding page.
        """
        if not 1 <= limit <= _PAGE_MAX:
            raise QueryError("limit", limit, f"use 1 to {_PAGE_MAX}")
        key, equals, value = (label or "").partition("=")
        if label is not None and not equals:
            raise QueryError("label", label[:200], "write key=value")
        wanted = (key, value) if label is not None else None
        found, more = permitted.page(prefix, wanted, stream, cursor, limit, operator=operator, layer=layer)
        return {
            "queries": [shown(permitted, query, is_brief=True) for query in found],
            "cursor": found[-1].id if more else None,
        }

    @router.get("/{query_id}", response_model=QueryModel)
    def show(query_id: str, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Return the registered query with an id, and the state of its operator."""
        return shown(permitted, permitted.get(query_id))

    @router.get("/{query_id}/deliveries", response_model=Deliveries)
    def deliveries(query_id: str, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Return the number of records that a query received since the daemon started, and the number in each minute of
        the last hour.
        """
        return described_deliveries(permitted, permitted.get(query_id))

    # To explain a join, the path also names one of its shapes, as ``JOIN/SHAPE``. The id of a shape may contain any
    # character.
    @router.post("/{query_id:path}/explain", response_model=ExplanationModel)
    def explain(query_id: str, body: ExplainBody, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Return the constructs that a query uses, with their positions in the sequence of the block.

        If the body has a tuple, return instead whether the query accepts the tuple, and which terms of the predicate
        are true. With ``with_sequence``, also return the path of the tuple through the sequence.
        """
        return explained(permitted, query_id, body.tuple, whole=body.with_sequence)

    return router


def _views(permitted_of: _ScopedServiceOf) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["views"])
    of_caller = Depends(permitted_of)

    @router.post("/check", response_model=CheckedModel, response_model_exclude_unset=True)
    def check(body: CheckBody, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Return the normal form of a query's predicate, the expressions of its operator, and the warnings that a
        registration would give.

        Nothing is registered. For a join, the normal form is that of the predicate for the first shape of the layer.
        """
        layer = None if body.join is None else body.join.layer
        return checked(permitted, permitted.stream_of(body.stream), body.where, layer, asked_operators(body.operator))

    @router.post("/test", response_model=Trial)
    def test(body: TrialBody, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Return how many of the last records of a stream a predicate would have accepted. Nothing is registered."""
        return tried(permitted, permitted.stream_of(body.stream), body.where, body.last, body.show)

    @router.get("/streams", response_model=Streams)
    def streams(permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Return the configured streams, and the addresses and the security protocol of their Kafka cluster."""
        return {
            "streams": described_streams(permitted),
            "kafka": {
                "bootstrap_servers": permitted.bootstrap_servers(),
                "security_protocol": permitted.security_protocol(),
            },
        }

    @router.get("/streams/{name}/timeline", response_model=Timeline)
    def timeline(name: str, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Return the number of read and written records, the dead letters and the latency of a stream, by intervals of
        the last hour.

        Intervals in which no batch finished are omitted.
        """
        return described_timeline(permitted, permitted.stream_of(name))

    @router.get("/loads", response_model=Loads)
    def loads(permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Return the changes in progress. Each has the number of its queries, the number of queries read so far, and
        the last completed step.
        """
        return {"loads": permitted.loads()}

    @router.get("/plan", response_model=Plans)
    def plan(permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Return the running plan of every stream, with the measurements of its monitor and the sequences that the
        monitor has replaced.
        """
        return {"streams": described_plans(permitted)}

    @router.get("/plan/{stream}/blocks/{number}", response_model=Block)
    def block(stream: str, number: int, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Return one block of a stream's running plan. ``number``: the number of the block, from 0.

        The answer has the constructs of the block with their regions, the sequence of the constructs, and the
        micro-arrows.
        """
        return described_block(permitted, permitted.stream_of(stream), number)

    @router.post("/trace", response_model=TraceModel)
    def trace(body: TraceBody, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Return the path of a tuple, or of a record of a source topic, through the running plan. With ``query``, also
        return the verdict of this query.

        The path shows why the record is accepted or rejected: it names the constructs that exclude queries. The verdict
        has the value of each term of the query's predicate.
        """
        return traced_record(permitted, body)

    return router


def _metrics(permitted_of: _ScopedServiceOf, requests: RequestCounts, queries_max: int) -> APIRouter:
    router = APIRouter(tags=["metrics"])
    of_caller = Depends(permitted_of)

    @router.get(_METRICS_PATH, response_class=Response, responses={200: {"content": {"text/plain": {}}}})
    def metrics(permitted: ScopedService = of_caller) -> Response:
        """Return the metrics of the streams, of the API's requests and of the process, in the text format of
        Prometheus.

        While the daemon starts or stops, the answer has no metrics of streams.
        """
        text = permitted_exposition(permitted, requests, queries_max)
        return PlainTextResponse(text, media_type=METRICS_TYPE)

    return router


def _add_error_answers(app: FastAPI, pages: Pages) -> None:
    def error_response(error: AscError, status: int, request: Request) -> Response:
        if is_console(request):
            return pages.refused(error, status, request)
        headers = {"Retry-After": _RETRY_AFTER_S} if status == HTTPStatus.TOO_MANY_REQUESTS else None
        return JSONResponse({"error": plain_error(error)}, status, headers)

    @app.exception_handler(AscError)
    def asc_error(request: Request, error: AscError) -> Response:
        return error_response(error, http_status(error), request)

    @app.exception_handler(BulkRefusedError)
    def bulk_refused(_: Request, error: BulkRefusedError) -> JSONResponse:
        return JSONResponse({"error": plain_error(error), "errors": error.errors}, http_status(error))

    @app.exception_handler(RequestValidationError)
    def validation_error(request: Request, error: RequestValidationError) -> Response:
        return error_response(body_error(*error.errors(), meanings=_meanings(request)), 400, request)

    @app.exception_handler(HTTPException)
    def http_error(request: Request, error: HTTPException) -> Response:
        # For a console page, the error links to the console's first page, because a browser with a console login may
        # not have the right to read /docs.
        help_page = f"the first page is {CONSOLE}/" if is_console(request) else "see /docs"
        wrong = BrokerError("request", f"{request.method} {request.url.path}", f"{error.detail}: {help_page}")
        return error_response(wrong, error.status_code, request)

    @app.exception_handler(Exception)
    def unforeseen(request: Request, error: Exception) -> Response:
        wrong = BrokerError(
            "request", f"{request.method} {request.url.path}", f"failed: {one_line(error)}; see the log"
        )
        return error_response(wrong, 500, request)
