"""A question over HTTP ends in time, in whatever part its answer comes slowly."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

import httpx
import pytest

from broker.formats.bounded_question import Line, answer_within

SLOW = {
    "head": (b"HTTP/1.1 200 OK\r\nX: ", b"x", b"\r\nContent-Length: 2\r\n\r\n[]"),
    "body": (b"HTTP/1.1 200 OK\r\nContent-Length: 42\r\n\r\n", b" ", b"[]"),
    "chunk": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;", b"x", b"\r\n[]\r\n0\r\n\r\n"),
    "interim": (b"", b"HTTP/1.1 102 Processing\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"),
}
"""The beginning of an answer, the piece that comes twenty times with a pause, and its end."""

Serve = Callable[[str], str]


@pytest.fixture
def cut() -> threading.Event:
    """Set once a server finds its connection ended."""
    return threading.Event()


@pytest.fixture
def slowly(cut: threading.Event) -> Iterator[Serve]:
    """Return the address of a server that answers its one question slowly."""
    with contextlib.ExitStack() as opened:

        def serve(part: str) -> str:
            listening = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
            listening.settimeout(10)
            thread = threading.Thread(target=_answer, args=(listening, SLOW[part], cut))
            thread.start()
            opened.callback(thread.join)
            return f"http://127.0.0.1:{listening.getsockname()[1]}"

        yield serve


def _answer(listening: socket.socket, answer: tuple[bytes, bytes, bytes], cut: threading.Event) -> None:
    beginning, piece, end = answer
    connection, _ = listening.accept()
    with connection:
        connection.recv(10_000)
        try:
            connection.sendall(beginning)
            for _ in range(20):
                time.sleep(0.05)
                connection.sendall(piece)
            connection.sendall(end)
        except OSError:
            cut.set()


def asking(url: str) -> Callable[[Line], str]:
    def ask(line: Line) -> str:
        with httpx.Client(timeout=5, trust_env=False) as client:
            return client.get(url, extensions={"trace": line.traced}).text.strip()

    return ask


@pytest.mark.parametrize("part", SLOW)
def test_a_slow_answer_is_given_up_and_its_connection_cut(part: str, slowly: Serve, cut: threading.Event) -> None:
    assert answer_within(0.2, asking(slowly(part))) is None
    assert cut.wait(60)


def test_an_answer_in_time_is_returned_and_an_error_raised(slowly: Serve) -> None:
    assert answer_within(60, asking(slowly("head"))) == "[]"
    with pytest.raises(httpx.ConnectError):
        answer_within(60, asking("http://127.0.0.1:1"))


def test_a_connection_that_is_made_too_late_is_cut(cut: threading.Event, slowly: Serve) -> None:
    line = Line()
    line.cut()
    with pytest.raises(httpx.TransportError):
        asking(slowly("body"))(line)
    assert cut.wait(60)
