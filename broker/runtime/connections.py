"""The connections of an HTTP client, recorded so that another thread can close them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from weakref import WeakSet

Trace = Callable[[str, Mapping[str, Any]], None]
"""The callback of httpcore's extension ``trace``: it receives an event of a request, and its details."""


class Connections:
    """The open connections, whichever request uses them. A connection is removed when the client closes it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sockets: WeakSet[socket.socket] = WeakSet()
        self._ended = False

    @contextmanager
    def traced(self) -> Iterator[Trace]:
        """Yield the ``trace`` callback for a request within the ``with`` block."""
        with ExitStack() as request:

            def trace(event: str, info: Mapping[str, Any]) -> None:
                if event.endswith("connect_tcp.complete"):
                    connected = info["return_value"].get_extra_info("socket")
                    self._add(connected)
                    # TLS takes over the descriptor, and returns no socket before the handshake is complete. So keep a
                    # duplicate.
                    self._add(request.enter_context(connected.dup()))
                elif event.endswith("start_tls.complete"):
                    self._add(info["return_value"].get_extra_info("socket"))

            yield trace

    def end(self) -> None:
        """Close all connections, and later ones as soon as they are opened. May be called from any thread."""
        with self._lock:
            self._ended = True
            for connection in self._sockets:
                _end(connection)

    def _add(self, connection: socket.socket) -> None:
        with self._lock:
            self._sockets.add(connection)
            if self._ended:
                _end(connection)


def _end(connection: socket.socket) -> None:
    # Not the method of the TLS socket: it would wait for the other side, or fail in the reading thread.
    with suppress(OSError):
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
