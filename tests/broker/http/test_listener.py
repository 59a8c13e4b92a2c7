"""More connections than are let in: they are turned away at the door, and the process keeps its descriptors."""

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


def test_of_too_many_connections_the_newest_is_refused(served: Served) -> None:
    host, port = served(max_connections=5, receive_timeout_s=2)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(socket.create_connection((host, port))) for _ in range(5)]
        # Those before it are there when it comes: they are taken in order.
        answer = httpx.get(f"http://{host}:{port}/healthz")
        assert answer.status_code == 503
        assert answer.headers["Retry-After"] == "1"
        assert answer.json()["error"]["message"] == (
            "connections 5: are open: try again in a moment, or raise api.max_connections"
        )
        assert all(map(is_closed, clients))
    assert httpx.get(f"http://{host}:{port}/healthz").status_code == 200


def test_those_in_the_handshake_count(served: Served, certificates: Certificates) -> None:
    certificate, key = certificates("handshakes")
    files = {"tls_cert_file": str(certificate), "tls_key_file": str(key)}
    host, port = served(max_connections=5, receive_timeout_s=3600, **files)
    with contextlib.ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(socket.create_connection((host, port)))
        with socket.create_connection((host, port)) as newest:
            assert is_closed(newest)
    trusting = ssl.create_default_context(cafile=certificate)
    deadline = time.monotonic() + CUT_S
    while True:
        with contextlib.suppress(httpx.TransportError):
            assert httpx.get(f"https://{host}:{port}/healthz", verify=trusting).status_code == 200
            break
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
sys.stdin.readline()
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
        with contextlib.ExitStack() as stack:
            for _ in range(400):
                last = stack.enter_context(socket.create_connection(address))
            assert is_closed(last)
            child.stdin.write("count\n")
            assert 100 < int(child.stdout.readline()) < 150
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
        trusting = ssl.create_default_context(cafile=certificate)
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
    for _ in range(20):
        deadline = time.monotonic() + CUT_S
        while httpx.get(f"http://[{host}]:{port}/healthz" if ":" in host else f"http://{host}:{port}/healthz").is_error:
            assert time.monotonic() < deadline
