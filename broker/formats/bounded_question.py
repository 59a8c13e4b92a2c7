"""A question over HTTP that is given up after a time, however its answer comes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any, TypeVar

_Answer = TypeVar("_Answer")

_CONNECTED = ("connect_tcp.complete", "start_tls.complete")
"""The ends of the names that httpx's ``trace`` gives what makes a connection."""


class Line:
    """The connections of one question, which another thread can cut: the question fails then."""

    def __init__(self) -> None:
        self._sockets: list[socket.socket] = []
        self._is_cut = False

    def traced(self, event: str, info: Mapping[str, Any]) -> None:
        """Take note of a connection: httpx's ``trace`` of the request."""
        if event.endswith(_CONNECTED):
            self._sockets.append(info["return_value"].get_extra_info("socket"))
            if self._is_cut:
                self.cut()

    def cut(self) -> None:
        """End the connections, those that are made later as well."""
        self._is_cut = True
        for own in self._sockets:
            # TLS takes the socket of TCP over, and one may be closed.
            with suppress(OSError):
                own.shutdown(socket.SHUT_RDWR)


def answer_within(whole_s: float, ask: Callable[[Line], _Answer]) -> _Answer | None:
    """Return the answer to a question, or raise its error; None where that takes too long.

    A separate thread asks it, for the timeouts of httpx are those of single reads: a head that comes byte by byte has
    none. Cost: a thread a question, which ends soon after the time.
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
