"""HTTP requests with a bound on their total time, however slowly the answer arrives."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any, TypeVar

_Answer = TypeVar("_Answer")

_CONNECTED = ("connect_tcp.complete", "start_tls.complete")
"""The ends of the names of httpx ``trace`` events that report a new connection."""


class Line:
    """The connections of one request. Another thread can close them, and the request then fails."""

    def __init__(self) -> None:
        self._sockets: list[socket.socket] = []
        self._is_cut = False

    def traced(self, event: str, info: Mapping[str, Any]) -> None:
        """Record a new connection; httpx calls this method as its extension ``trace``."""
        if event.endswith(_CONNECTED):
            self._sockets.append(info["return_value"].get_extra_info("socket"))
            if self._is_cut:
                self.cut()

    def cut(self) -> None:
        """Close the connections, also those that are opened later."""
        self._is_cut = True
        for own in self._sockets:
            # TLS replaces the TCP socket, so one of the sockets may be closed already.
            with suppress(OSError):
                own.shutdown(socket.SHUT_RDWR)


def answer_within(whole_s: float, ask: Callable[[Line], _Answer]) -> _Answer | None:
    """Return the answer to a request, or raise its error. Return None if the answer takes too long.

    A separate thread sends the request. The timeouts of httpx would not suffice: they apply to single reads, and do not
    bound a header that arrives byte by byte. Cost: one thread per request, which ends soon after the time.
    """
    line, answer = Line(), Future[_Answer]()

    def run() -> None:
        try:
            answer.set_result(ask(line))
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=run, name="asc-question", daemon=True).start()
    if wait([answer], whole_s).done:
        return answer.result()
    line.cut()
    return None
