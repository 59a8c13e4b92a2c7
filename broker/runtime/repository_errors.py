"""Errors of a Maven repository, each in one line with a remedy."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from typing import TypeVar

import httpx

from broker.errors import RuntimeMissingError
from broker.runtime.locked_jars import Jar

_ELSEWHERE = "or bring the jars with 'asc runtime load' (or a filled folder in ASC_CACHE_DIR)"
_MIRROR = f"name another repository in ASC_MAVEN_URL, {_ELSEWHERE}"
_Error = TypeVar("_Error", bound=BaseException)
_PROXY_STATUS = 407
_TOO_MANY_REQUESTS = 429


class WrongBytesError(Exception):
    """The repository returned bytes that differ from the lock."""

    def __init__(self, jar: Jar, received_bytes: int) -> None:
        super().__init__(jar, received_bytes)
        self.jar = jar
        self.received_bytes = received_bytes


def is_transient(error: Exception) -> bool:
    """Return whether the same request may succeed in a moment, because the server was overloaded or the connection
    broke. The connection may also break during the TLS handshake.

    A handshake that is refused is not transient; one that breaks off is.
    """
    if isinstance(error, WrongBytesError):
        return error.received_bytes < error.jar.size_bytes
    if isinstance(error, httpx.HTTPStatusError):
        status = error.response.status_code
        return status >= httpx.codes.INTERNAL_SERVER_ERROR or status == _TOO_MANY_REQUESTS
    if isinstance(error, (httpx.ProxyError, httpx.UnsupportedProtocol)):
        return False
    tls = _cause(error, ssl.SSLError)
    if isinstance(error, httpx.ConnectError) and tls is not None and not isinstance(tls, ssl.SSLEOFError):
        return False
    unknown = _cause(error, socket.gaierror)
    return isinstance(error, httpx.TransportError) and (unknown is None or unknown.errno == socket.EAI_AGAIN)


def missing_error(error: Exception, url: str) -> RuntimeMissingError:
    """Return the broker's exception for an error of HTTP, TLS or the lock. ``url`` contains no password."""
    if isinstance(error, WrongBytesError):
        got = f"{error.received_bytes:,} bytes where {error.jar.size_bytes:,} are locked"
        if error.received_bytes == error.jar.size_bytes:
            got = f"bytes whose SHA-256 is not the locked {error.jar.sha256[:12]}..."
        return RuntimeMissingError("jar", url, f"the answer is {got}: something between changes it; {_MIRROR}")
    if isinstance(error, httpx.HTTPStatusError):
        return RuntimeMissingError("jar", url, _refused(error.response))
    certificate = _cause(error, ssl.SSLCertVerificationError)
    if certificate is not None:
        reason = certificate.verify_message or str(certificate)
        remedy = f"({reason}); name the CA of your network's proxy, or of your mirror, as a PEM file in SSL_CERT_FILE"
        return RuntimeMissingError("the certificate of", url, f"is not trusted {remedy}")
    if isinstance(error, httpx.ProxyError):
        reason = _refusal_of_proxy(str(error))
        return RuntimeMissingError("the proxy on the way to", url, f"{reason} in HTTPS_PROXY (HTTP_PROXY)")
    if _cause(error, socket.gaierror) is not None:
        remedy = f"its host, or the proxy's, is not known here; name your proxy in HTTPS_PROXY, {_MIRROR}"
        return RuntimeMissingError("jar", url, remedy)
    reason = str(error).strip() or type(error).__name__
    return RuntimeMissingError(
        "jar", url, f"cannot be fetched ({reason}); try again, name your proxy in HTTPS_PROXY, {_MIRROR}"
    )


def _refused(response: httpx.Response) -> str:
    status = response.status_code
    said = f"is answered with {status} {response.reason_phrase}".rstrip()
    if status == httpx.codes.NOT_FOUND:
        return f"{said}: this repository does not have it; {_MIRROR}"
    if status == _PROXY_STATUS:
        return f"{said}: write name and password as http://name:password@host:port in HTTPS_PROXY (HTTP_PROXY)"
    if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        return f"{said}: write name and password as https://name:password@host/path in ASC_MAVEN_URL, {_ELSEWHERE}"
    return f"{said}; try again later, {_MIRROR}"


def _refusal_of_proxy(said: str) -> str:
    if said.startswith(str(_PROXY_STATUS)):
        return f"answers {said}: write name and password as http://name:password@host:port"
    return f"fails ({said}): name the right one"


def _cause(error: BaseException, kind: type[_Error]) -> _Error | None:
    return next((cause for cause in _causes(error) if isinstance(cause, kind)), None)


def _causes(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or current.__context__
