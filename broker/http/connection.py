"""HTTP connections of the API, with a time limit on every wait for the client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from broker.errors import BrokerError
from broker.http.request_head import StrictConnection

_READS_S = 10.0
"""The seconds between two checks whether a client still reads its answer."""

_LEAST_READ_BYTES = 64 * 1024
"""The least number of bytes that a client has to read between two such checks (``_READS_S``). A client that reads less
is disconnected, except if it has read the whole answer.
"""

REFUSAL = "connection_refusal"
"""The key in the state of a request under which the error of a spare connection is stored. All requests on a spare
connection, except health checks, are refused with this error. On a regular connection, the value is None.
"""


class TimedProtocol(H11Protocol):
    """The HTTP/1.1 protocol of uvicorn with a time limit on every wait for the client.

    The head of a request has to be complete within ``receive_timeout_s``. For the first request, this time begins with
    the connection. For a later request on the same connection, it begins with the first byte of the request.
    :class:`broker.http.guards.Guards` reads the body, with a separate time limit. A client has to read an answer at a
    minimum pace. Bytes that are not HTTP are answered with an error, without an entry in the log, so that no client can
    fill the log. ``refusal_of``: a function that gets the file descriptor of a connection. It returns the error for
    requests on a spare connection, or None for a regular one. The state of each request contains the result under the
    key ``REFUSAL``.
    """

    def __init__(
        self,
        *arguments: Any,
        receive_timeout_s: float,
        refusal_of: Callable[[int], BrokerError | None],
        **settings: Any,
    ) -> None:
        super().__init__(*arguments, **settings)
        self.conn = StrictConnection(h11.SERVER)
        self._receive_timeout_s = receive_timeout_s
        self._refusal_of = refusal_of
        self._awaiting: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None
        self._left_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to serve a new connection, with the time limit for the head of its first request."""
        super().connection_made(transport)
        refusal = self._refusal_of(transport.get_extra_info("socket").fileno())
        self.app_state = {**self.app_state, REFUSAL: refusal}
        self._await_request()

    def data_received(self, data: bytes) -> None:
        """Parse received bytes, and start or end the time limit for the head of a request.

        The time limit for the head of a request starts with the head's first byte and ends when the head is complete.
        """
        before = self.cycle
        if before is None or before.response_complete:
            self._await_request()
        super().data_received(data)
        if self.cycle is not before:
            _cancel(self._awaiting)
            self._awaiting = None

    def on_response_complete(self) -> None:
        """Wait for the next request, or let the connection close. While it closes, check that the client reads the rest
        of the answer.
        """
        super().on_response_complete()
        if self.transport.is_closing():
            self._watch_reading()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that was idle for too long, and check that the client reads the rest of the answer."""
        super().timeout_keep_alive_handler()
        self._watch_reading()

    def pause_writing(self) -> None:
        """Start the checks that the client reads, because the bytes that it has not read fill the write buffer."""
        super().pause_writing()
        self._watch_reading()

    def send_400_response(self, msg: str) -> None:
        """Send an error answer for bytes that are not HTTP. A request in progress on this connection is treated as
        disconnected, so that its endpoint sends no second answer.
        """
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:
            # Another answer has been started, so no error answer can follow: close the connection.
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers of a connection that has ended."""
        _cancel(self._awaiting)
        _cancel(self._reading)
        super().connection_lost(exc)

    def _await_request(self) -> None:
        if self._awaiting is None:
            self._awaiting = self.loop.call_later(self._receive_timeout_s, self.transport.abort)

    def _watch_reading(self) -> None:
        if self._reading is None:
            self._left_bytes = self.transport.get_write_buffer_size()
            self._reading = self.loop.call_later(_READS_S, self._look_whether_it_reads)

    def _look_whether_it_reads(self) -> None:
        self._reading = None
        left_bytes = self.transport.get_write_buffer_size()
        if left_bytes and self._left_bytes - left_bytes < _LEAST_READ_BYTES:
            self.transport.abort()
        elif left_bytes:
            self._watch_reading()


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
