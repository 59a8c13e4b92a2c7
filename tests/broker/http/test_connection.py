"""Slow clients, and too many of them, against a real server: they are cut, and others are served meanwhile."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.http import connection
from broker.http.connection import TimedProtocol
from broker.http.guards import _JSON_AT_ONCE, _LOADS_AT_ONCE

POST = b"POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
CUT_S = 20.0
"""No test waits for so long where clients are cut: nothing but a hang takes it."""


def rest_of(client: socket.socket) -> bytes:
    """What comes until the other side ends; TimeoutError where it does not."""
    client.settimeout(CUT_S)
    found = b""
    with contextlib.suppress(ConnectionResetError, BrokenPipeError):
        while chunk := client.recv(65536):
            found += chunk
    return found


def trickled(client: socket.socket, content: bytes) -> bool:
    """Whether the other side let all of it be sent, a byte at a time."""
    client.settimeout(CUT_S)
    try:
        for byte in content:
            client.sendall(bytes([byte]))
            time.sleep(0.05)
            client.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                if client.recv(1) == b"":
                    return False
            client.setblocking(True)
    except (ConnectionResetError, BrokenPipeError):
        return False
    return True


HEAD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
SLOW = {
    "says nothing": b"",
    "half of a head": HEAD[:10],
    "a head without its end": HEAD,
    "half of a body": POST + b"Content-Length: 100\r\n\r\n{",
    "half of a chunk": POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
}


@pytest.mark.parametrize("kind", SLOW)
def test_a_client_that_stops_in_the_middle_is_cut(kind: str, served: Callable[..., tuple[str, int]]) -> None:
    address = served()
    with socket.create_connection(address) as client:
        client.sendall(SLOW[kind])
        answer = rest_of(client)
    if "body" in kind or "chunk" in kind:
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"comes too slowly: send it within 0.5 s" in answer
    else:
        assert answer == b""


def test_a_client_that_does_not_finish_the_handshake_is_cut(
    served: Callable[..., tuple[str, int]], certificates: Callable[..., tuple[Path, Path]]
) -> None:
    certificate, key = certificates("handshake")
    address = served(tls_cert_file=str(certificate), tls_key_file=str(key))
    for beginning in (b"", b"\x16\x03\x01\x02"):
        with socket.create_connection(address) as client:
            client.sendall(beginning)
            assert rest_of(client) == b""


@pytest.mark.nightly
@pytest.mark.parametrize("before", [b"", HEAD + b"\r\n"], ids=["first", "kept alive"])
@pytest.mark.parametrize("start", [HEAD + b"X-Slow: ", POST + b"Content-Length: 200\r\n\r\n"], ids=["head", "body"])
def test_a_client_that_sends_byte_by_byte_is_cut(
    before: bytes, start: bytes, served: Callable[..., tuple[str, int]]
) -> None:
    address = served()
    with socket.create_connection(address) as client:
        if before:
            client.sendall(before)
            assert client.recv(65536).startswith(b"HTTP/1.1 200")
        client.sendall(start)
        assert not trickled(client, b"a" * 200)


def test_a_refused_body_is_not_waited_for(served: Callable[..., tuple[str, int]]) -> None:
    """It was answered before it was read: 415."""
    with socket.create_connection(served()) as client:
        client.sendall(b"POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10000000\r\n\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 415")
        assert not trickled(client, b"a" * 400)


def test_a_body_that_comes_at_some_pace_is_taken(served: Callable[..., tuple[str, int]]) -> None:
    host, port = served()

    def content() -> Iterator[bytes]:
        for _ in range(8):
            time.sleep(0.1)
            yield b" " * 100_000

    headers = {"content-type": "application/json"}
    answer = httpx.post(f"http://{host}:{port}/v1/check", content=content(), headers=headers, timeout=60)
    assert answer.status_code == 400


@pytest.mark.parametrize(
    "sent",
    [
        b"\x00\xff\r\n\r\n",
        pytest.param(b"GET / HTTP/9.9\r\n\r\n", marks=pytest.mark.nightly),
        HEAD + b"X: " + b"a" * 100_000,
        HEAD + b"Content-Length: -1\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhelloworld\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        HEAD + b"Upgrade: websocket\r\nConnection: upgrade, close\r\n\r\n",
        HEAD + b"\r\n" + b"\x00" * 100,
    ],
)
def test_what_is_no_http_ends_the_connection_and_fills_no_log(
    sent: bytes, served: Callable[..., tuple[str, int]], caplog: pytest.LogCaptureFixture
) -> None:
    address = served()
    with socket.create_connection(address) as client:
        client.sendall(sent)
        rest_of(client)
    host, port = address
    assert httpx.get(f"http://{host}:{port}/healthz").status_code == 200
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_slow_clients_keep_nobody_from_being_served(served: Callable[..., tuple[str, int]]) -> None:
    host, port = served(receive_timeout_s=60)
    with contextlib.ExitStack() as stack:
        for number in range(200):
            client = stack.enter_context(socket.create_connection((host, port)))
            client.sendall(list(SLOW.values())[number % len(SLOW)])
        assert httpx.get(f"http://{host}:{port}/healthz", timeout=10).status_code == 200


@pytest.mark.parametrize(
    ("path", "kind", "at_once"),
    [("/v1/check", "application/json", _JSON_AT_ONCE), ("/v1/queries", "application/x-ndjson", _LOADS_AT_ONCE)],
)
def test_bodies_that_are_too_large_together_are_refused(
    path: str, kind: str, at_once: int, served: Callable[..., tuple[str, int]]
) -> None:
    host, port = served(max_body_bytes=100_000, receive_timeout_s=20)
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\nContent-Length: 100000\r\n\r\n"

    def is_crowded() -> bool:
        answer = httpx.post(f"http://{host}:{port}{path}", content=b" " * 50_000, headers={"content-type": kind})
        return answer.status_code == 503 and "others are as large" in answer.text

    with contextlib.ExitStack() as stack:
        for _ in range(at_once):
            client = stack.enter_context(socket.create_connection((host, port)))
            client.sendall(head.encode() + b" " * 99_999)
        # The bodies are held once the next connection is answered, or soon after.
        deadline = time.monotonic() + CUT_S
        while not is_crowded():
            assert time.monotonic() < deadline
    deadline = time.monotonic() + CUT_S
    while is_crowded():
        assert time.monotonic() < deadline


def test_bodies_that_need_no_token_take_nothing_from_others(served: Callable[..., tuple[str, int]]) -> None:
    host, port = served(max_body_bytes=100_000, receive_timeout_s=60)
    with contextlib.ExitStack() as stack:
        for size_bytes in [99_999, 16_000] * 16:
            client = stack.enter_context(socket.create_connection((host, port)))
            client.settimeout(CUT_S)
            client.sendall(HEAD + b"Content-Length: 100000\r\n\r\n" + b" " * size_bytes)
            if size_bytes > 16_384:
                assert client.recv(65536).startswith(b"HTTP/1.1 413 ")
        headers = {"content-type": "application/json"}
        answer = httpx.post(f"http://{host}:{port}/v1/check", content=b" " * 100_000, headers=headers)
        assert answer.status_code == 400


@pytest.mark.parametrize("close", [b"", b"Connection: close\r\n"], ids=["kept alive", "closed"])
def test_a_client_that_does_not_read_is_cut(close: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_READS_S", 0.3)
    size_bytes = 30_000_000
    asked = threading.Event()

    async def large(_: Request) -> Response:
        asked.set()
        return Response(b"x" * size_bytes)

    def made(*arguments: Any, **settings: Any) -> TimedProtocol:
        return TimedProtocol(*arguments, receive_timeout_s=60, refusal_of=lambda descriptor: None, **settings)

    protocol: Any = made
    settings = uvicorn.Config(Starlette(routes=[Route("/", large)]), http=protocol, log_config=None, ws="none")
    server = uvicorn.Server(settings)
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as thread:
        serving = thread.submit(server.run, [listener])
        address = listener.getsockname()
        try:
            with socket.create_connection(address) as client:
                client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n" + close + b"\r\n")
                # Its connection is there by now, however soon it is cut.
                assert asked.wait(CUT_S)
                deadline = time.monotonic() + CUT_S
                while server.server_state.connections:
                    assert time.monotonic() < deadline
                    time.sleep(0.01)
                assert len(rest_of(client)) < size_bytes
            # One that reads slowly, and reads, has all of it: it is looked at some times, and not so often that a busy
            # machine keeps it from reading in between.
            monkeypatch.setattr(connection, "_READS_S", 1.5)
            with socket.create_connection(address) as client:
                client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                read = 0
                client.settimeout(CUT_S)
                while chunk := client.recv(1 << 20):
                    read += len(chunk)
                    time.sleep(len(chunk) / 10e6)
                assert read > size_bytes
        finally:
            server.should_exit = True
            serving.result(timeout=CUT_S)
