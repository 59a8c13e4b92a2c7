"""HTTP requests to one daemon, and the client's exceptions for their errors."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from broker.client.errors import (
    InvalidRequestError,
    NoAnswerError,
    TimedOutError,
    TlsError,
    UnreadableAnswerError,
)
from broker.client.refused import NOT_A_DAEMON, object_of, refused
from broker.client.tls import trusted

if TYPE_CHECKING:
    import httpx

_EXAMPLE = "http://127.0.0.1:8750"
_HEADER_TEXT = re.compile(r"[!-~]+")
_PAGE_MAX = 1_000
_PORT_MAX = 65_535


class Connection:
    """A pool of connections to one daemon. Threads may share it.

    Requests go through the proxies that environment variables such as ``HTTPS_PROXY`` name. Requests to a loopback
    address go directly, because no proxy could reach it. ``token``: the bearer token; None or an empty text sends none.
    ``ca_file``: see :func:`trusted`. ``timeout_s``: the timeout of a request without a separate timeout, in seconds.
    """

    def __init__(self, url: str, token: str | None, ca_file: Path | None, timeout_s: float) -> None:
        import httpx

        if token and not _HEADER_TEXT.fullmatch(token):
            remedy = "an HTTP header takes only visible ASCII characters, without spaces: choose another token"
            raise InvalidRequestError("bearer token", "********", remedy)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            parsed = httpx.URL(url.rstrip("/"))
            if parsed.port is not None and parsed.port > _PORT_MAX:
                raise httpx.InvalidURL(f"no port has the number {parsed.port}")
            self.url = str(parsed.copy_with(userinfo=b"")).rstrip("/")
            self._http: httpx.Client = httpx.Client(
                base_url=parsed,
                headers=headers,
                timeout=timeout_s,
                trust_env=not is_loopback(parsed.host),
                verify=trusted(ca_file) if parsed.scheme == "https" else True,
            )
        except httpx.InvalidURL as error:
            raise InvalidRequestError("server address", url, f"{error}; write it as {_EXAMPLE}") from None
        self.timeout_s = timeout_s

    def close(self) -> None:
        """Close all connections of the pool."""
        self._http.close()

    def asked(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        """Send one request, and return the JSON object of the answer. ``options``: keyword arguments of httpx's
        ``request``. Raise ClientError if the daemon refuses the request, or if no answer arrives.
        """
        response = self.sent(method, path, **options)
        if response.is_success:
            return object_of(response)
        raise refused(response)

    def items(self, path: str, key: str, filters: Mapping[str, str | None], page_size: int) -> Iterator[Any]:
        """Yield the items of all pages of a list in order. A page is requested when the items of the previous page are
        used up.

        ``key``: the field of a page that contains the items. ``filters``: request parameters; those with the value None
        are omitted. ``page_size``: the most items of a page.
        """
        params = {"limit": str(min(page_size, _PAGE_MAX))}
        params.update({name: value for name, value in filters.items() if value is not None})
        while True:
            page = self.asked("GET", path, params=params)
            yield from self.field(page, key, list)
            cursor = page.get("cursor")
            if not cursor:
                return
            params["cursor"] = str(cursor)

    def field(self, answer: Mapping[str, Any], name: str, kind: type[Any]) -> Any:
        """Return the field ``name`` of an answer, which has to be of the type ``kind``. Raise UnreadableAnswerError if
        the field is missing or has another type.
        """
        found = answer.get(name)
        if not isinstance(found, kind):
            raise UnreadableAnswerError(f"no field {name} answered by", self.url, NOT_A_DAEMON)
        return found

    def sent(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send one request, and return the answer with any status. Raise ClientError if no answer arrives."""
        with self._translated_errors(method):
            try:
                return self._http.request(method, path, **options)
            except (TypeError, ValueError, RecursionError) as error:
                raise InvalidRequestError("body", method, f"cannot be written as JSON: {error}") from None

    @contextmanager
    def streamed(self, path: str, timeout_s: float) -> Iterator[tuple[Iterator[bytes], int]]:
        """Yield the chunks of an answer that is not JSON, and its total size in bytes.

        Raise ClientError if no answer arrives, if the daemon refuses the request, or if the answer ends early.
        ``timeout_s``: the longest wait for the first chunk, and for each further chunk.
        """
        with self._translated_errors("GET"), self._http.stream("GET", path, timeout=timeout_s) as response:
            if not response.is_success:
                response.read()
                raise refused(response)
            try:
                size_bytes = int(response.headers["Content-Length"])
            except (KeyError, ValueError):
                raise UnreadableAnswerError("no length answered by", self.url, NOT_A_DAEMON) from None
            yield response.iter_raw(), size_bytes

    @contextmanager
    def _translated_errors(self, method: str) -> Iterator[None]:
        """Convert errors of httpx inside the context into subclasses of ClientError. ``method``: the HTTP method. After
        a timeout of a change, the error names the commands that show whether the change was applied.
        """
        import httpx

        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise self._unconnected(str(error)) from None
        except httpx.TimeoutException:
            remedy = "see its log, and try again"
            if method != "GET":
                remedy = "see its log; whether the change was made shows 'asc query list', or 'asc layer list'"
            raise TimedOutError("the daemon does not answer in time at", self.url, remedy) from None
        except (httpx.UnsupportedProtocol, httpx.InvalidURL):
            raise InvalidRequestError("server address", self.url, f"write it as {_EXAMPLE}") from None
        except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
            remedy = f"{type(error).__name__}: {error}; where the API has a certificate, the address begins with https"
            raise NoAnswerError("the connection ends without an answer, server", self.url, remedy) from None
        except httpx.HTTPError as error:
            remedy = f"{type(error).__name__}: {error}"
            raise UnreadableAnswerError("the daemon's answer cannot be read, server", self.url, remedy) from None

    def _unconnected(self, reason: str) -> NoAnswerError | TlsError:
        if "CERTIFICATE_VERIFY_FAILED" in reason:
            cause = reason.partition("failed: ")[2].partition(" (_ssl")[0] or reason
            remedy = f"{cause}: give its certificate, or its CA's, as ca_file (--ca-file, ASC_CA_FILE)"
            return TlsError("the certificate is not trusted of", self.url, remedy)
        if "SSL" in reason:
            return TlsError("no TLS is spoken at", self.url, "is it http://? An address without TLS has no s")
        remedy = "start one with 'asc serve', or give another address (--server)"
        return NoAnswerError("no daemon answers at", self.url, remedy)


def is_loopback(host: str) -> bool:
    """Return whether a host, as an address names it, is a loopback address of this machine.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.2", "::1", "broker", "10.0.0.1")]
    [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
