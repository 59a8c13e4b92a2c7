"""The checks of every request before its endpoint: the token, the rate of requests, the origin, and the type and size
of the body.
"""

from __future__ import annotations

import asyncio
import ipaddress
import math
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from fastapi import Request
from fastapi.responses import JSONResponse, Response
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from asc.errors import AscError
from broker.access.access import Access
from broker.access.concurrency_limit import ConcurrencyLimit
from broker.access.rate import RequestRate, network_of
from broker.access.scope import Scope as AccessScope
from broker.access.scope import unlimited
from broker.access.sessions import COOKIE, Sessions
from broker.cancellation import Cancellation
from broker.config.sections import ApiConfig
from broker.errors import BrokerError, CancelledError, http_status
from broker.files.media_types import CSV_TYPE, PARQUET_TYPE
from broker.http.connection import REFUSAL
from broker.http.models import JSON_MAX_BYTES, plain_error
from broker.operators.kinds import OPERATORS

NDJSON = "application/x-ndjson"
_KINDS = ("application/json", NDJSON)
_TABLE_KINDS = (CSV_TYPE, PARQUET_TYPE)
_FORM = "application/x-www-form-urlencoded"
_OPEN_PATHS = ("/healthz", "/readyz")

CONSOLE = "/console"
LOGIN = f"{CONSOLE}/login"
_OPEN_FOLDER = f"{CONSOLE}/static/"
_ANONYMOUS = unlimited("anonymous")

_LEAST_BYTES_PER_S = 100_000
"""The least rate in bytes per second at which the body of a request must arrive: the time limit is
``api.receive_timeout_s`` plus the received bytes divided by this rate. A slower request is refused.
"""

_TABLE_PATH = re.compile(rf"/v1/(?:{'|'.join(OPERATORS)})/[^/]+/[^/]+")
"""The paths to which a client uploads a table, such as ``/v1/cube/lookups/NAME``. The part after ``/v1/`` is the name
of an operator kind.
"""
_BULK_PATH = re.compile(r"/v1/queries|/v1/layers/[^/]+/shapes|/v1/loads/[^/]+/parts/[0-9]+")

_CALLERS_AT_ONCE = 16
"""The most requests of one caller that are processed concurrently. All callers share the threads of the server, forty
by default.
"""

_LOADS_AT_ONCE = 4
_JSON_AT_ONCE = 16
"""The limits of memory for all concurrent request bodies: that of bulk loads is ``_LOADS_AT_ONCE`` times the largest
load, that of other bodies ``_JSON_AT_ONCE`` times the largest of them.
"""

_OPEN_MAX_BYTES = 16 << 10
"""The largest body of a request that needs no token, such as the form of the login."""


@dataclass(slots=True)
class _Held:
    """The memory account of one kind of request bodies: the limit in bytes for one body, the limit for all concurrent
    bodies together, and the bytes in use. ``remedy``: the advice in the refusal of a body that is too large.
    """

    body_max_bytes: int
    max_bytes: int
    remedy: str
    held_bytes: int = 0


@dataclass(frozen=True, slots=True)
class _Refusal:
    """The refusal of a request: the HTTP status, the error and further headers. It is sent as a page to a browser, and
    as JSON to other clients.
    """

    status: int
    error: AscError
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request: the scope of its token, which limits what the answer may contain, and the sender's host.

    ``cancellation`` is cancelled when the sender disconnects or the daemon stops.
    """

    scope: AccessScope
    host: str
    cancellation: Cancellation = field(default_factory=Cancellation)


class Guards:
    """The middleware that checks each request, and refuses invalid ones before they reach an endpoint.

    Any web page can make a browser post to 127.0.0.1, but only as a form or plain text, and with the page's origin. If
    an attacker's DNS name is rebound to 127.0.0.1, the header Host contains this name. So a body must be JSON or
    NDJSON, which foreign pages cannot send. If no token is required, Host and Origin must name a loopback address or
    the address to which the API is bound.

    The console is for browsers. A cookie, which is valid only for console pages, identifies a caller who has entered a
    token. Forms must come from the console's own pages, as the header Origin shows. If no token is required, requests
    that another site triggered get at most the first page. So an image on a foreign page cannot cause a read from
    Kafka. ``page_of`` returns the page that refuses a console request; its arguments are the error, the status and the
    request.

    A request that passes all checks gets its :class:`Caller` in ``state["caller"]``, and its whole body. If the client
    disconnects, or ``stopping`` is cancelled, the work of the request is cancelled. The rate of requests is limited for
    each token. For requests without a valid token, it is limited for each network. The number of concurrent requests of
    a caller is also limited; further requests wait. A bulk load by a caller that may change something may have a body
    of ``api.max_body_bytes``. Any other body is limited to ``JSON_MAX_BYTES``, or to ``_OPEN_MAX_BYTES`` on paths that
    need no token.
    """

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        api: ApiConfig,
        sessions: Sessions,
        page_of: Callable[[AscError, int, Request], Response],
        *,
        stopping: Cancellation | None = None,
    ) -> None:
        self._app = app
        self._stopping = stopping
        self._page_of = page_of
        self._access = access
        self._sessions = sessions
        self._api = api
        self._host = api.host.strip("[]").lower()
        self._rate = RequestRate(api.requests_per_s)
        self._concurrency = ConcurrencyLimit(_CALLERS_AT_ONCE)
        most = api.max_body_bytes
        self._loads = _Held(most, _LOADS_AT_ONCE * most, "send it in parts, or raise api.max_body_bytes")
        least = min(JSON_MAX_BYTES, most)
        remedy = self._loads.remedy if least == most else "send a smaller one"
        self._jsons = _Held(least, _JSON_AT_ONCE * least, remedy)
        # Paths without a token have a separate account, so that clients without a token cannot use up the memory of
        # clients with one.
        self._opens = _Held(_OPEN_MAX_BYTES, api.max_connections * _OPEN_MAX_BYTES, "send a smaller one")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        host = request.client.host if request.client is not None else "unknown"
        bearer = self._bearer(request)
        crowded = request.scope.get("state", {}).get(REFUSAL)
        if crowded is not None:
            send = _closing(send)
        early = _turned_away(request, crowded) or self._hurried(request, bearer, host)
        refusal = early or self._refusal(request, bearer)
        body = bytearray()
        held = self._held(request, bearer)
        try:
            if refusal is None:
                # A table cannot be sent in parts, because it is one file, so its remedy is different.
                remedy = "leave out rows or columns" if _has_table(request) else held.remedy
                refusal = await self._read(receive, body, held, remedy)
            if refusal is not None:
                await self._refusal_response(request, refusal)(scope, receive, send)
                return
            # On a path that needs no token, ``bearer`` may be None.
            cancellation = Cancellation(self._stopping)
            scope.setdefault("state", {})["caller"] = None if bearer is None else Caller(bearer, host, cancellation)
            async with _watched(receive, cancellation) as gone, self._turn(request, bearer, host):
                cancellation.check()
                await self._app(scope, _replay(bytes(body), gone), send)
        except (ClientDisconnect, CancelledError):
            pass
        finally:
            held.held_bytes -= len(body)

    def _held(self, request: Request, bearer: AccessScope | None) -> _Held:
        """Return the memory account of a request's body: bulk loads have one account, requests to paths without a token
        another, and all other requests a third.
        """
        if _is_open(request):
            return self._opens
        return self._loads if _is_load(request, bearer) else self._jsons

    def _refusal_response(self, request: Request, refusal: _Refusal | Response) -> Response:
        if isinstance(refusal, Response):
            return refusal
        if not is_console(request):
            return JSONResponse({"error": plain_error(refusal.error)}, refusal.status, dict(refusal.headers))
        page = self._page_of(refusal.error, refusal.status, request)
        page.headers.update(refusal.headers)
        return page

    def _bearer(self, request: Request) -> AccessScope | None:
        if not self._access.asks_for_token:
            return _ANONYMOUS
        if is_console(request) and "authorization" not in request.headers:
            return self._sessions.scope(request.cookies.get(cookie_name(request), ""))
        return self._access.bearer(request.headers.get("authorization", ""))

    async def _read(self, receive: Receive, body: bytearray, held: _Held, too_large_remedy: str) -> _Refusal | None:
        """Read the body of a request into ``body``. Return a refusal if the body arrives too slowly, is too large, or
        exceeds the memory of its account ``held``. Raise ClientDisconnect if the client disconnects.
        """
        start_s = time.monotonic()
        more = True
        while more:
            until = start_s + self._api.receive_timeout_s + len(body) / _LEAST_BYTES_PER_S
            try:
                message = await asyncio.wait_for(receive(), max(0.001, until - time.monotonic()))
            except asyncio.TimeoutError:
                remedy = f"comes too slowly: send it within {self._api.receive_timeout_s:g} s"
                wrong = BrokerError("body", f"{len(body)} bytes", f"{remedy} and a second for each 100 kB")
                return _refused(408, wrong, {"Connection": "close"})
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            chunk = message.get("body", b"")
            body += chunk
            held.held_bytes += len(chunk)
            more = message.get("more_body", False)
            if len(body) > held.body_max_bytes:
                wrong = BrokerError("body", f"over {held.body_max_bytes} bytes", too_large_remedy)
                return _refused(413, wrong, {"Connection": "close"})
            # A request without a body, such as a health check, is not refused for the memory that other bodies use.
            if chunk and held.held_bytes > held.max_bytes:
                wrong = BrokerError("body", f"{len(body)} bytes", "others are as large: send it again in a moment")
                return _refused(503, wrong, {"Connection": "close", "Retry-After": "1"})
        return None

    def _turn(self, request: Request, bearer: AccessScope | None, host: str) -> AbstractAsyncContextManager[None]:
        # Health checks do not wait for other requests of the same caller.
        return nullcontext() if _is_health(request) else self._concurrency.of(_name_of(bearer, host))

    def _hurried(self, request: Request, bearer: AccessScope | None, host: str) -> _Refusal | None:
        # Health checks have a separate rate limit, so that other requests cannot use it up.
        is_health = _is_health(request)
        is_known = bearer is not None and bearer is not _ANONYMOUS and not is_health
        wait_s = self._rate.wait_s(f"health {network_of(host)}" if is_health else _name_of(bearer, host))
        if not wait_s:
            return None
        seconds = math.ceil(wait_s)
        remedy = f"are more than {self._api.requests_per_s:g} a second: wait {seconds} s, or raise api.requests_per_s"
        subject = f"requests of token '{bearer.name}'" if bearer is not None and is_known else "requests from"
        wrong = BrokerError(subject, None if is_known else host, remedy)
        return _refused(429, wrong, {"Retry-After": str(seconds)})

    def _refusal(self, request: Request, bearer: AccessScope | None) -> _Refusal | Response | None:
        if bearer is _ANONYMOUS:
            foreign = self._foreign(request)
            if foreign is not None:
                remedy = "is no loopback address and not that of the API: use one, or set a token"
                return _refused(403, BrokerError(f"header {foreign}", request.headers[foreign][:200], remedy))
            if is_console(request) and _is_from_elsewhere(request):
                wrong = BrokerError("header Sec-Fetch-Site", "cross-site", "is not the console's: open its first page")
                return _refused(403, wrong)
        elif bearer is None and is_console(request):
            if not _is_open(request):
                return _to_login(request)
        elif bearer is None and not _is_open(request):
            fault = "is wrong" if "authorization" in request.headers else "is missing"
            remedy = f"{fault}: asc takes it from ASC_TOKEN or --token-file, HTTP as header Authorization: Bearer TOKEN"
            wrong = BrokerError("bearer token", "********" if fault == "is wrong" else None, remedy)
            return _refused(401, wrong, {"WWW-Authenticate": "Bearer"})
        if request.method == "POST" and is_console(request):
            return _not_a_form(request)
        kind, kinds = content_type(request), _TABLE_KINDS if _has_table(request) else _KINDS
        if request.method in ("POST", "PUT") and kind not in kinds:
            return _refused(415, BrokerError("header Content-Type", kind[:200], f"send {' or '.join(kinds)}"))
        return None

    def _foreign(self, request: Request) -> str | None:
        """Return the name of the request header that contains a foreign address: ``host`` or ``origin``. Return None if
        both headers are missing or name the API or a loopback address.
        """
        headers = request.headers
        if "host" in headers and not self._is_own(f"//{headers['host']}"):
            return "host"
        if "origin" in headers and not self._is_own(headers["origin"]):
            return "origin"
        return None

    def _is_own(self, url: str) -> bool:
        try:
            name = urlsplit(url).hostname or ""
        except ValueError:
            return False
        if name in ("localhost", self._host):
            return True
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False


def _name_of(bearer: AccessScope | None, host: str) -> str:
    # The prefix distinguishes the name of a token from the name of a network.
    return network_of(host) if bearer is None or bearer is _ANONYMOUS else f"token {bearer.name}"


def _is_health(request: Request) -> bool:
    return request.scope["path"] in _OPEN_PATHS


def _turned_away(request: Request, crowded: BrokerError | None) -> _Refusal | None:
    """Return the refusal of a request on a spare connection, which is beyond the limits. ``crowded``: the error about
    the exceeded limit; None on a regular connection. Return None for a health check and for a regular connection.
    """
    if crowded is None or _is_health(request):
        return None
    return _refused(int(http_status(crowded)), crowded, {"Retry-After": "1"})


def _closing(send: Send) -> Send:
    """Return a function that sends an answer as ``send`` does, and closes the connection afterwards."""

    async def closing(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
        await send(message)

    return closing


def _is_load(request: Request, bearer: AccessScope | None) -> bool:
    may_change = bearer is not None and not bearer.read_only
    is_bulk = _BULK_PATH.fullmatch(request.scope["path"]) is not None and content_type(request) == NDJSON
    return may_change and (is_bulk or _has_table(request))


def _has_table(request: Request) -> bool:
    """Return True for the upload of a table, whose body is a file. A web page of another site cannot send the upload,
    because browsers ask the server first (preflight request) and the API does not permit it.
    """
    return request.method == "PUT" and _TABLE_PATH.fullmatch(request.scope["path"]) is not None


def is_console(request: Request) -> bool:
    """Return True if a request is for a page of the console. A refusal of such a request is sent as a page, any other
    refusal as JSON.
    """
    path = request.scope["path"]
    return path in ("/", CONSOLE) or path.startswith(f"{CONSOLE}/")


def _is_from_elsewhere(request: Request) -> bool:
    """Return True if a page of another site made the browser send this request. Return False for the one case that is
    permitted: the user follows a link to the console's first page.
    """
    if request.headers.get("sec-fetch-site") != "cross-site":
        return False
    is_window = (
        request.headers.get("sec-fetch-mode") == "navigate" and request.headers.get("sec-fetch-dest") == "document"
    )
    is_first_page = request.scope["path"] in ("/", CONSOLE, f"{CONSOLE}/")
    return not (is_window and is_first_page and request.method == "GET")


def _is_open(request: Request) -> bool:
    path = request.scope["path"]
    return _is_health(request) or path == LOGIN or path.startswith(_OPEN_FOLDER)


def _to_login(request: Request) -> _Refusal | Response:
    """Return a redirection to the login page, which leads to the requested page after the login. Return a refusal if
    the request is not a GET.
    """
    if "hx-request" in request.headers:
        return Response(status_code=401, headers={"HX-Redirect": LOGIN})
    if request.method != "GET":
        return _refused(401, BrokerError("session", None, f"is over: log in at {LOGIN}"))
    path, query = request.scope["path"], request.scope.get("query_string", b"").decode("latin-1")
    wanted = quote(f"{path}?{query}" if query else path, safe="")
    return Response(status_code=303, headers={"Location": f"{LOGIN}?next={wanted}"})


def _not_a_form(request: Request) -> _Refusal | None:
    """Return a refusal if the body of a request is no form, or if no page of the console sent it. Otherwise return
    None.
    """
    kind = content_type(request)
    if kind != _FORM:
        return _refused(415, BrokerError("header Content-Type", kind[:200], f"send {_FORM}"))
    origin = request.headers.get("origin", "")
    try:
        is_own = bool(origin) and urlsplit(origin).netloc == request.headers.get("host")
    except ValueError:
        is_own = False
    if not is_own:
        return _refused(403, BrokerError("header Origin", origin[:200], "is not the console's: use its own pages"))
    return None


def cookie_name(request: Request) -> str:
    """Return the name of the cookie of the console's sessions. The name contains the port of the API. A browser sends
    the cookies of a host to all ports, so two daemons on one host need different names.
    """
    server = request.scope.get("server")
    return COOKIE if server is None else f"{COOKIE}_{server[1]}"


def content_type(request: Request) -> str:
    """Return the media type of a body, in lower case and without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _refused(status: int, wrong: BrokerError, headers: Mapping[str, str] | None = None) -> _Refusal:
    return _Refusal(status, wrong, headers or {})


@asynccontextmanager
async def _watched(receive: Receive, cancellation: Cancellation) -> AsyncIterator[asyncio.Event]:
    """Enter a context in which the work of a request is cancelled if its client disconnects. The yielded event is set
    when this happens. The body must have been read before, because the context reads all further messages.
    """
    gone = asyncio.Event()

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        cancellation.cancel("its client is gone")
        gone.set()

    watching = asyncio.create_task(watch())
    try:
        yield gone
    finally:
        watching.cancel()


def _replay(body: bytes, gone: asyncio.Event) -> Receive:
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            await gone.wait()
            return {"type": "http.disconnect"}
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
