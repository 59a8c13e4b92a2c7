"""Heads and bodies that two readers could take for different requests, over a raw socket: 400, and the end."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable

import h11
import pytest

from broker.http import request_head

END_S = 60.0
GET = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
POST = b"POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
CODED = POST + b"Transfer-Encoding: chunked\r\n"
REFUSED = {
    "length and coding": POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "coding and length": CODED + b"content-length: 5\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "two lengths": POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
    "two equal lengths": POST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "a list of lengths": POST + b"Content-Length: 2, 2\r\n\r\n{}",
    "a length with plus": POST + b"Content-Length: +2\r\n\r\n{}",
    "a length with minus": POST + b"Content-Length: -2\r\n\r\n{}",
    "a length with an underscore": POST + b"Content-Length: 0_2\r\n\r\n{}",
    "a length with a space": POST + b"Content-Length: 0 2\r\n\r\n{}",
    "a length of other digits": POST + "Content-Length: \u0662\r\n\r\n{}".encode(),
    "a length in hexadecimal": POST + b"Content-Length: 0x2\r\n\r\n{}",
    "no length": POST + b"Content-Length: \r\n\r\n{}",
    "a space before the colon": POST + b"Content-Length : 2\r\n\r\n{}",
    "a folded line": GET + b"X: a\r\n b\r\n\r\n",
    "a folded coding": POST + b"Transfer-Encoding:\r\n\tchunked\r\n\r\n0\r\n\r\n",
    "a fold at the start": b"GET /healthz HTTP/1.1\r\n X: a\r\nHost: 127.0.0.1\r\n\r\n",
    "bare line feeds": GET.replace(b"\r\n", b"\n") + b"\n",
    "a bare line feed": GET + b"X: a\nContent-Length: 5\r\n\r\n",
    "a bare line feed at the end": GET + b"\n",
    "a bare carriage return": GET + b"X: a\rY: b\r\n\r\n",
    "a zero byte": GET + b"X: a\x00b\r\n\r\n",
    "a coding that is not known": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "a coding that looks known": POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "two codings": CODED + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a coding in HTTP/1.0": CODED.replace(b"1.1", b"1.0") + b"\r\n2\r\n{}\r\n0\r\n\r\n",
    "a chunk of size -2": CODED + b"\r\n-2\r\n{}\r\n0\r\n\r\n",
    "a chunk of size +2": CODED + b"\r\n+2\r\n{}\r\n0\r\n\r\n",
    "a chunk of size 0x2": CODED + b"\r\n0x2\r\n{}\r\n0\r\n\r\n",
    "a chunk of size 0_2": CODED + b"\r\n0_2\r\n{}\r\n0\r\n\r\n",
    "a chunk of a long size": CODED + b"\r\n" + b"0" * 20 + b"2\r\n{}\r\n0\r\n\r\n",
    "a chunk without a size": CODED + b"\r\n\r\n{}\r\n0\r\n\r\n",
    "a chunk with bare line feeds": CODED + b"\r\n2\n{}\n0\n\n",
    "a chunk longer than its size": CODED + b"\r\n2\r\n{}XX0\r\n\r\n",
    "an extension with a line feed": CODED + b"\r\n2;a\nb\r\n{}\r\n0\r\n\r\n",
    "two hosts": GET + b"Host: other\r\n\r\n",
    "a head without an end": GET + b"X: " + b"a" * request_head.HEAD_MAX_BYTES,
    "a chunk's head without an end": CODED + b"\r\n2;" + b"a" * request_head.HEAD_MAX_BYTES,
}
"""Requests of which each is followed by another one."""


def answered(address: tuple[str, int], *parts: bytes) -> bytes:
    """Return all bytes that come until the other side ends; raise TimeoutError where it does not.

    A server that refuses the first parts may end the connection before the last ones are sent: its answer is read then.
    """
    received = b""
    with socket.create_connection(address) as client:
        client.settimeout(END_S)
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            for part in parts:
                client.sendall(part)
        with contextlib.suppress(ConnectionResetError):
            while chunk := client.recv(65536):
                received += chunk
    return received


def test_what_may_be_read_in_two_ways_is_refused_and_ends_the_connection(
    served: Callable[..., tuple[str, int]],
) -> None:
    address = served(receive_timeout_s=3600)
    wrong = {}
    for name, request in REFUSED.items():
        answer = answered(address, request + GET + b"\r\n")
        # What follows is no request, whoever took it for one.
        is_refused = answer.startswith(b"HTTP/1.1 400 ") and b"Invalid HTTP" in answer
        if not is_refused or answer.count(b"HTTP/1.1 ") != 1:
            wrong[name] = answer
    assert wrong == {}


def test_it_is_found_in_parts_and_behind_another_request(served: Callable[..., tuple[str, int]]) -> None:
    address = served(receive_timeout_s=3600)
    for name in ("length and coding", "a folded line", "a bare line feed", "two equal lengths"):
        request = REFUSED[name]
        single = answered(address, *(bytes([byte]) for byte in request))
        assert single.startswith(b"HTTP/1.1 400 "), name
        behind = answered(address, GET + b"\r\n" + request)
        assert behind.count(b"HTTP/1.1 200 ") == behind.count(b"HTTP/1.1 400 ") == 1, name


def test_a_head_that_comes_byte_by_byte_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = []
    monkeypatch.setattr(request_head, "_ambiguity", judged.append)
    head = GET + b"X: " + b"a" * 8_000 + b"\r\n\r\n"
    connection = request_head.StrictConnection(h11.SERVER)
    for byte in head[:-1]:
        connection.receive_data(bytes([byte]))
        assert connection.next_event() is h11.NEED_DATA
    connection.receive_data(head[-1:])
    assert isinstance(connection.next_event(), h11.Request)
    assert judged == [head]


def test_bodies_are_no_heads(served: Callable[..., tuple[str, int]]) -> None:
    body = b'{"stream":\n "s", "where":\n "n > 1"}\n\nContent-Length: 1\nContent-Length: 2\n'
    close = b"Connection: close\r\n"
    chunks = b"\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    address = served()
    for request in (POST + close + b"Content-Length: %d\r\n\r\n" % len(body) + body, CODED + close + chunks):
        answer = answered(address, request)
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b"Invalid HTTP" not in answer


@pytest.mark.parametrize("body", [b"Content-Length: 0\r\n", b"Content-Length:\t0\t\r\n", b"X: \xff, b\r\n", b""])
def test_what_is_read_in_one_way_is_answered(body: bytes, served: Callable[..., tuple[str, int]]) -> None:
    assert answered(served(), GET + b"Connection: close\r\n" + body + b"\r\n").startswith(b"HTTP/1.1 200 ")
