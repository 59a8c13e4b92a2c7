"""More connections than are served: they are told so, health is told to all, and the process keeps its descriptors."""

from __future__ import annotations

import contextlib
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from broker.http.listener import _SPARE_CONNECTIONS

Served = Callable[..., tuple[str, int]]
Certificates = Callable[..., tuple[Path, Path]]

CUT_S = 120.0


def is_closed(client: socket.socket) -> bool:
    """Whether the other side has ended it without a word; TimeoutError where it keeps it."""
    client.settimeout(CUT_S)
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


CROWDED = "connections 5: are open: try again in a moment, or raise api.max_connections"


def of_host(number: int) -> httpx.Client:
    """A client at another address of this machine."""
    return httpx.Client(transport=httpx.HTTPTransport(local_address=f"127.0.0.{number}"))


def test_of_too_many_connections_the_newest_are_told_so_and_health(served: Served) -> None:
    host, port = served(max_connections=5, receive_timeout_s=3600)
    with contextlib.ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(socket.create_connection((host, port)))
        # Those before it are there when it comes: they are taken in order.
        answer = httpx.get(f"http://{host}:{port}/v1/streams")
        assert answer.status_code == 503
        assert answer.headers["Retry-After"] == "1"
        assert answer.headers["Connection"] == "close"
        assert answer.json()["error"]["message"] == CROWDED
        page = httpx.get(f"http://{host}:{port}/console/")
        assert (page.status_code, "connections 5: are open" in page.text) == (503, True)
        health = httpx.get(f"http://{host}:{port}/healthz")
        assert (health.status_code, health.headers["Connection"]) == (200, "close")
    health = httpx.get(f"http://{host}:{port}/healthz")
    assert (health.status_code, "Connection" in health.headers) == (200, False)


def test_one_host_leaves_connections_to_the_others(served: Served) -> None:
    host, port = served(max_connections=5, max_connections_per_host=3, receive_timeout_s=3600)
    url = f"http://{host}:{port}"
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(socket.create_connection((host, port)))
        answer = httpx.get(f"{url}/v1/streams")
        assert (answer.status_code, answer.headers["Retry-After"]) == (429, "1")
        message = "connections of 127.0.0.1 3: are open: close some, or raise api.max_connections_per_host"
        assert answer.json()["error"]["message"] == message
        with of_host(2) as other:
            assert "daemon not ready" in other.get(f"{url}/v1/streams").text
            assert "daemon not ready" in other.get(f"{url}/v1/streams").text
            # With this one, and that of the other client, five are open.
            stack.enter_context(socket.create_connection((host, port), source_address=("127.0.0.3", 0)))
            with of_host(4) as last:
                assert last.get(f"{url}/v1/streams").json()["error"]["message"] == CROWDED


HEAD = b"GET /v1/streams HTTP/1.1\r\nHost: 127.0.0.1\r\n"
POST = b"POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
SLOW = (b"", HEAD[:10], HEAD, POST + b"Content-Length: 100\r\n\r\n{", HEAD + b"\r\n")
"""The beginnings of clients that say nothing, stop in a head or a body, and stay when they are answered."""


@pytest.mark.parametrize("hosts", [1, 200])
def test_slow_clients_never_keep_health_from_anybody(served: Served, hosts: int) -> None:
    host, port = served(receive_timeout_s=3600)
    url = f"http://{host}:{port}"
    with contextlib.ExitStack() as stack:
        probe = stack.enter_context(httpx.Client(timeout=CUT_S))
        assert probe.get(f"{url}/healthz").status_code == 200
        for number in range(600):
            source = (f"127.0.0.{number % hosts + 2}", 0)
            client = stack.enter_context(socket.create_connection((host, port), source_address=source))
            with contextlib.suppress(OSError):
                client.sendall(SLOW[number // hosts % len(SLOW)])
            if number % 40 == 0:
                # One that stays, and others: of a new host, and of one of the slow ones.
                assert probe.get(f"{url}/healthz").status_code == 200
                with of_host(250) as other, of_host(2) as slow:
                    assert other.get(f"{url}/healthz", timeout=CUT_S).status_code == 200
                    assert slow.get(f"{url}/readyz", timeout=CUT_S).json()["ready"] is False
        served_still = probe.get(f"{url}/v1/streams")
        assert "daemon not ready" in served_still.text


def test_of_spare_connections_the_oldest_of_the_host_with_most_is_closed(served: Served) -> None:
    host, port = served(max_connections=1, receive_timeout_s=3600)
    with contextlib.ExitStack() as stack:

        def connected(number: int) -> socket.socket:
            source = (f"127.0.0.{number}", 0)
            return stack.enter_context(socket.create_connection((host, port), source_address=source))

        connected(2)
        patient = connected(3)
        many = [connected(2) for _ in range(_SPARE_CONNECTIONS - 1)]
        connected(4)
        assert is_closed(many[0])
        connected(2)
        assert is_closed(many[1])
        for client in (patient, many[-1]):
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert client.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_those_in_the_handshake_count(served: Served, certificates: Certificates) -> None:
    certificate, key = certificates("handshakes")
    files = {"tls_cert_file": str(certificate), "tls_key_file": str(key)}
    host, port = served(max_connections=5, receive_timeout_s=3600, **files)
    trusting = ssl.create_default_context(cafile=certificate)
    with contextlib.ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(socket.create_connection((host, port)))
        answer = httpx.get(f"https://{host}:{port}/v1/streams", verify=trusting, timeout=CUT_S)
        assert answer.json()["error"]["message"] == CROWDED
        assert httpx.get(f"https://{host}:{port}/healthz", verify=trusting, timeout=CUT_S).status_code == 200
    deadline = time.monotonic() + CUT_S
    while "daemon not ready" not in httpx.get(f"https://{host}:{port}/v1/streams", verify=trusting, timeout=CUT_S).text:
        assert time.monotonic() < deadline


_PROGRAM = """
import logging, os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
logging.basicConfig()
from broker.config.config import parse_config
from broker.daemon.daemon import Daemon
from broker.http.server import ApiServer

folder, certificate, key = sys.argv[1:]
config = parse_config({
    "api": {"port": 0, "receive_timeout_s": 3600, "tls_cert_file": certificate, "tls_key_file": key},
    "spark": {"checkpoint_dir": folder},
    "streams": {"s": {"topic": "s", "format": "json", "schema": "n INT"}},
})
server = ApiServer(config, Daemon(config))
print(server.start(), flush=True)
while sys.stdin.readline() == "count\\n":
    print(len(os.listdir("/proc/self/fd")), flush=True)
taken = []
try:
    while True:
        taken.append(os.dup(0))
except OSError:
    print("none left", flush=True)
sys.stdin.readline()
for descriptor in taken:
    os.close(descriptor)
print("given back", flush=True)
sys.stdin.readline()
server.stop()
"""


def test_silent_clients_leave_descriptors_to_the_daemon(certificates: Certificates, tmp_path: Path) -> None:
    """Under a limit of 200 files: twice as many clients, then a daemon that has none left for the next ones."""
    certificate, key = map(str, certificates("descriptors"))
    command = [sys.executable, "-c", _PROGRAM, str(tmp_path), certificate, key]
    log = tmp_path / "log"
    with log.open("w") as errors:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": errors}
        child = subprocess.Popen(command, text=True, bufsize=1, **pipes)  # type: ignore[call-overload]
    try:
        url = httpx.URL(child.stdout.readline().strip())
        address = (url.host, url.port)

        def counted() -> int:
            child.stdin.write("count\n")
            return int(child.stdout.readline())

        with contextlib.ExitStack() as stack:
            for _ in range(400):
                stack.enter_context(socket.create_connection(address))
            trusting = ssl.create_default_context(cafile=certificate)
            # After the first request the process imports some modules.
            for _ in range(2):
                assert httpx.get(url.join("/healthz"), verify=trusting, timeout=CUT_S).status_code == 200
            assert 100 < counted() < 150
        while counted() > 100:
            time.sleep(0.05)
        child.stdin.write("take\n")
        assert child.stdout.readline() == "none left\n"
        with contextlib.ExitStack() as stack:
            for _ in range(100):
                stack.enter_context(socket.create_connection(address))
            deadline = time.monotonic() + CUT_S
            while "out of system resource" not in log.read_text("utf-8"):
                assert time.monotonic() < deadline
                time.sleep(0.05)
            child.stdin.write("give back\n")
            assert child.stdout.readline() == "given back\n"
        deadline = time.monotonic() + CUT_S
        while True:
            with contextlib.suppress(httpx.TransportError):
                assert httpx.get(url.join("/healthz"), verify=trusting).status_code == 200
                break
            assert time.monotonic() < deadline
        child.communicate("stop\n", timeout=CUT_S)
        said = log.read_text("utf-8").splitlines()
    finally:
        child.kill()
        child.wait()
    assert "api.max_connections 500: 100 are let in, half of the files that may be open (ulimit -n)" in said[0]
    assert "out of system resource" in said[1]
    assert len(said) == 2


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_a_client_that_went_makes_room(served: Served, address: str) -> None:
    host, port = served(host=address, max_connections=1, receive_timeout_s=3600)
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    for _ in range(20):
        deadline = time.monotonic() + CUT_S
        while "daemon not ready" not in httpx.get(f"{url}/v1/streams").text:
            assert time.monotonic() < deadline
