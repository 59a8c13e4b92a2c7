"""The HTTP server of the API: its address, TLS, tokens, audit and thread."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from broker.access.access import Access
from broker.access.audit import Audit
from broker.cancellation import Cancellation
from broker.config.certificate import renew
from broker.config.config import Config
from broker.errors import ConfigError
from broker.failure import one_line
from broker.http.listener import listen

if TYPE_CHECKING:
    from broker.http.scoped_service import Service

LOG = logging.getLogger("asc.api")

_STOP_S = 5.0
_IDLE_S = 20
"""The seconds for which an idle connection is kept open for another request.

It is longer than clients keep their connections open (httpx 5 s, aiohttp 15 s). So idle connections are usually closed
by clients, and no client sends a request while the server closes the connection.
"""
_LOGGED_EVERY_S = 60.0
"""The least number of seconds between two log lines about asyncio errors of one kind."""


class ApiServer:
    """The HTTP server of the API, which serves from :meth:`start` until :meth:`stop`.

    ``audit``: the audit log, which records the changes by requests and by the daemon itself. ``stopping``: see
    :func:`create_app`. Raises BrokerError if the address is not available, and ConfigError for an invalid token,
    certificate or audit file.
    """

    def __init__(self, config: Config, service: Service, stopping: Cancellation | None = None) -> None:
        self._config = config
        self._service = service
        self._stopping = stopping
        self._token = config.token()
        self._access = Access(self._token, config.named_tokens(self._token))
        self._tls = config.tls()
        self.audit = Audit(config.api.audit_file)
        self._server: Any = None
        self._thread: threading.Thread | None = None

    def start(self) -> str:
        """Start to serve in a new thread, and return the address as a URL."""
        import uvicorn

        from broker.http.app import create_app
        from broker.http.connection import TimedProtocol

        api = self._config.api
        self.audit.check()
        if self._tls is None and not api.is_loopback:
            LOG.warning("the API listens on %s without TLS: tokens can be read on the way", api.host)
        listener = listen(api)
        protocol: Any = partial(TimedProtocol, receive_timeout_s=api.receive_timeout_s, refusal_of=listener.refusal_of)
        settings = uvicorn.Config(
            create_app(self._service, self._access, api, self.audit, self._stopping),
            http=protocol,
            ws="none",
            log_config=None,
            # A log line for each request that is not valid HTTP would let any client fill the log.
            log_level="error",
            access_log=False,
            # uvicorn must not take the client's address from the header X-Forwarded-For, because any sender could write
            # a wrong address.
            proxy_headers=False,
            timeout_keep_alive=_IDLE_S,
            timeout_graceful_shutdown=3,
        )
        settings.load()
        settings.ssl = self._tls
        self._server = uvicorn.Server(settings)
        self._thread = threading.Thread(target=self._serve, args=(listener,), name="api", daemon=True)
        self._thread.start()
        host, port = listener.getsockname()[:2]
        scheme = "http" if self._tls is None else "https"
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    def reload(self) -> None:
        """Read the tokens file and the certificate again, independently of each other, and log the result.

        If the file or the certificate is invalid, the former tokens or certificate remain in use, and the error is
        logged.
        """
        for read, kept in ((self._reload_tokens, "the tokens stay"), (self._reload_certificate, "it stays")):
            try:
                read()
            except ConfigError as error:
                LOG.error("%s; %s as before", error, kept)

    def _reload_tokens(self) -> None:
        # The token that was configured at the start remains valid, even if its file now has another token.
        named = self._config.named_tokens(self._token)
        if named is not None:
            self._access.replace(named)
            LOG.info("tokens file read again: %d tokens", len(named))

    def _reload_certificate(self) -> None:
        certificate, key = self._config.api.tls_cert_file, self._config.api.tls_key_file
        if self._tls is not None and certificate is not None and key is not None:
            renew(self._tls, certificate, key)
            LOG.info("certificate read again: %s", certificate)

    def stop(self) -> None:
        """Wait some seconds for running requests, then close the socket. Further calls do nothing."""
        if self._server is not None:
            self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(timeout=_STOP_S)

    def _serve(self, listener: socket.socket) -> None:
        loop = _Loop(self._config.api.receive_timeout_s)
        try:
            loop.run_until_complete(self._server.serve(sockets=[listener]))
        except Exception as error:
            LOG.error("the API has ended: %s", one_line(error))
        finally:
            # The loop has to run the remaining tasks of the server's end, such as the end of the threads that ran
            # endpoints.
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()
            listener.close()


class _Loop(asyncio.SelectorEventLoop):
    """An event loop whose servers disconnect a client that does not complete the TLS handshake in time.

    It writes at most one log line in ``_LOGGED_EVERY_S`` for each class of asyncio errors outside of requests, so that
    no client can fill the log.
    """

    def __init__(self, handshake_s: float) -> None:
        super().__init__()
        self._handshake_s = handshake_s
        self._logged_at_s: dict[str, float] = {}
        self.set_exception_handler(self._log_fault)

    async def create_server(self, *arguments: Any, **settings: Any) -> asyncio.Server:
        """Return an asyncio server. If it uses TLS, each handshake has the time limit ``handshake_s`` of the event
        loop.
        """
        if settings.get("ssl") is not None:
            settings["ssl_handshake_timeout"] = self._handshake_s
        return await super().create_server(*arguments, **settings)

    def _log_fault(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        kind = type(error).__name__
        if self.time() - self._logged_at_s.get(kind, -_LOGGED_EVERY_S) >= _LOGGED_EVERY_S:
            self._logged_at_s[kind] = self.time()
            said = "" if error is None else f": {one_line(error)}"
            LOG.error("%s%s (logged once in %.0f s)", one_line(context["message"]), said, _LOGGED_EVERY_S)
