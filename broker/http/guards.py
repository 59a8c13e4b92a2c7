"""What stands before every request: which addresses and pages may ask, the bearer token, kind and size of a body."""

from __future__ import annotations

import ipaddress
import secrets
from urllib.parse import urlsplit

from fastapi import Request
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from broker.errors import BrokerError
from broker.http.models import plain_error

NDJSON = "application/x-ndjson"
_KINDS = ("application/json", NDJSON)
_OPEN_PATHS = ("/healthz", "/readyz")


class Guards:
    """Refuses a request before it reaches an endpoint.

    A web page of anywhere can have a browser post to 127.0.0.1, but only as a form or plain text, and it says where it
    comes from; a name that was rebound to 127.0.0.1 stands in the header Host. So a body has to be JSON or NDJSON and,
    where no token is asked for, Host and Origin have to name a loopback address or the one the API is bound to.
    """

    def __init__(self, app: ASGIApp, token: str | None, max_body_bytes: int, host: str) -> None:
        self._app = app
        self._token = token
        self._max_body_bytes = max_body_bytes
        self._host = host.strip("[]").lower()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        refusal = self._refusal(request)
        body = bytearray()
        if refusal is None:
            async for chunk in request.stream():
                body += chunk
                if len(body) > self._max_body_bytes:
                    refusal = self._too_large()
                    break
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await self._app(scope, _replay(bytes(body), receive), send)

    def _refusal(self, request: Request) -> JSONResponse | None:
        if self._token is None:
            foreign = self._foreign(request)
            if foreign is not None:
                remedy = "is no loopback address and not that of the API: use one, or set a token"
                return _refused(403, BrokerError(f"header {foreign}", request.headers[foreign][:200], remedy))
        elif request.url.path not in _OPEN_PATHS and not self._authorised(request):
            fault = "is wrong" if "authorization" in request.headers else "is missing"
            remedy = f"{fault}: asc takes it from ASC_TOKEN or --token-file, HTTP as header Authorization: Bearer TOKEN"
            wrong = BrokerError("bearer token", "", remedy)
            return _refused(401, wrong, {"WWW-Authenticate": "Bearer"})
        kind = content_type(request)
        if request.method in ("POST", "PUT") and kind not in _KINDS:
            return _refused(415, BrokerError("header Content-Type", kind[:200], f"send {' or '.join(_KINDS)}"))
        return None

    def _foreign(self, request: Request) -> str | None:
        """The header that names an address other than this one's."""
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

    def _authorised(self, request: Request) -> bool:
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and secrets.compare_digest(given.strip().encode(), (self._token or "").encode())

    def _too_large(self) -> JSONResponse:
        wrong = BrokerError(
            "body", f"over {self._max_body_bytes} bytes", "send it in parts, or raise api.max_body_bytes"
        )
        return _refused(413, wrong, {"Connection": "close"})


def content_type(request: Request) -> str:
    """The media type of a body, in lower case and without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _refused(status: int, wrong: BrokerError, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": plain_error(wrong)}, status, headers)


def _replay(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
