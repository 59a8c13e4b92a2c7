"""A connection of the API that waits for no client for ever."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_READS_S = 10.0
"""How often it is looked at whether a client reads its answer."""

_LEAST_READ_BYTES = 64 * 1024
"""Of the answer, or all that is left of it, in that time: what is slower is cut."""


class TimedProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn has it, with an end to waiting.

    A request has ``receive_timeout_s`` from the connection, or from its first byte where the connection served one
    before, until its head is there (its body is timed by :class:`broker.http.guards.Guards`, which reads it); an answer
    has to be read at some pace. What is no HTTP has its answer, and leaves no trace in the log.
    """

    def __init__(self, *arguments: Any, receive_timeout_s: float, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._receive_timeout_s = receive_timeout_s
        self._awaiting: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None
        self._left_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Serve it."""
        super().connection_made(transport)
        self._await_request()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; the time of a head begins with its first byte, and ends when it is there."""
        before = self.cycle
        if before is None or before.response_complete:
            self._await_request()
        super().data_received(data)
        if self.cycle is not before:
            _cancel(self._awaiting)
            self._awaiting = None

    def on_response_complete(self) -> None:
        """Await the next request, or the end."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._watch_reading()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection."""
        super().timeout_keep_alive_handler()
        self._watch_reading()

    def pause_writing(self) -> None:
        """The client has not read what was sent so far."""
        super().pause_writing()
        self._watch_reading()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, and have no other answer sent to it."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:
            # Another answer has begun.
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection, and its timers."""
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
