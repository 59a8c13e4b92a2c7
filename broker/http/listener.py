"""The socket that the API listens on: it admits no more connections than may be open at a time."""

from __future__ import annotations

import errno
import json
import logging
import resource
import socket
import time
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from broker.errors import BrokerError
from broker.http.models import plain_error

LOG = logging.getLogger("asc.api")

_BACKLOG = 2048
_NONE_LEFT = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_RETRIED_S = 0.5
"""The pause before accepting again where there was no descriptor: less than asyncio's second."""


class Listener(socket.socket):
    """A listening socket whose connections are counted from ``accept`` to ``close``, those in a handshake as well.

    Beyond ``max_connections`` the newest connection is closed at once, before anything is made of it. Without TLS it
    gets an answer (503), with TLS none, for the client would not understand one. Half of the descriptors that the
    process may have are left to the rest of the daemon, whatever ``max_connections`` is. ``accept`` then raises
    ConnectionAbortedError, which asyncio takes for a client that has gone.
    """

    def __init__(self, family: int, kind: int, protocol: int, *, max_connections: int, speaks_tls: bool) -> None:
        super().__init__(family, kind, protocol)
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._max_connections = max_connections
        if descriptors != resource.RLIM_INFINITY and max_connections > descriptors // 2:
            self._max_connections = max(1, descriptors // 2)
            told = "api.max_connections %d: %d are let in, half of the files that may be open (ulimit -n)"
            LOG.warning(told, max_connections, self._max_connections)
        self._answer = b"" if speaks_tls else _too_many(self._max_connections)
        self._open: WeakSet[_Connection] = WeakSet()
        self._exhausted_at_s = -_RETRIED_S

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next connection, and the address that it comes from."""
        try:
            accepted, address = super().accept()
        except OSError as error:
            if error.errno not in _NONE_LEFT:
                raise
            now_s = time.monotonic()
            if now_s - self._exhausted_at_s < _RETRIED_S:
                # asyncio would try and log it for all that wait, some thousand times.
                raise BlockingIOError from error
            self._exhausted_at_s = now_s
            raise
        if len(self._open) >= self._max_connections:
            with accepted, suppress(OSError):
                accepted.setblocking(False)
                accepted.send(self._answer)
            raise ConnectionAbortedError(errno.ECONNABORTED, "too many connections")
        connection = _Connection(self._open, accepted)
        return connection, address


class _Connection(socket.socket):
    """A connection that is counted as open until it is closed, or forgotten."""

    def __init__(self, still_open: WeakSet[_Connection], accepted: socket.socket) -> None:
        super().__init__(accepted.family, accepted.type, accepted.proto, fileno=accepted.detach())
        self._still_open = still_open
        still_open.add(self)

    def close(self) -> None:
        self._still_open.discard(self)
        super().close()


def listen(host: str, port: int, *, max_connections: int, speaks_tls: bool) -> Listener:
    """Listen on an address; BrokerError where it cannot be had."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise BrokerError("api.host", host, f"is not an address of this machine: {error.strerror}") from error
    listener = Listener(family, kind, protocol, max_connections=max_connections, speaks_tls=speaks_tls)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        # A client that comes before the loop runs waits for it.
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        remedy = f"cannot be bound ({error.strerror}): stop what listens there, or set another api.port"
        raise BrokerError("API address", f"{host}:{port}", remedy) from error
    return listener


def _too_many(connections: int) -> bytes:
    wrong = BrokerError("connections", connections, "are open: try again in a moment, or raise api.max_connections")
    body = json.dumps({"error": plain_error(wrong)})
    head = (
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return f"{head}{body}".encode()
