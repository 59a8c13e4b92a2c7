"""Whoever waits for a server that says nothing can be ended: at every stage of a connection."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from broker.errors import RuntimeMissingError
from broker.runtime.locked_jars import JarSet
from broker.runtime.repository import Repository

if TYPE_CHECKING:
    from conftest import Authority, Mirror


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """Takes connections, and is never heard of again."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def _fetching(repository: Repository, jar_set: JarSet, folder: Path, raised: list[Exception]) -> threading.Thread:
    """A thread that fetches the first jar, and for which no timeout does what only `abort` should."""
    repository.client.timeout = None

    def fetch() -> None:
        try:
            repository.fetch(jar_set.jars[0], folder, lambda by_bytes: None)
        except RuntimeMissingError as error:
            raised.append(error)

    thread = threading.Thread(target=fetch, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_one_that_waits_for_the_first_byte_is_ended(
    silent: socket.socket, scheme: str, small: JarSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer over HTTP, the handshake of TLS."""
    monkeypatch.setenv("ASC_MAVEN_URL", f"{scheme}://127.0.0.1:{silent.getsockname()[1]}")
    raised: list[Exception] = []
    with Repository() as repository:
        thread = _fetching(repository, small, tmp_path, raised)
        connection, _ = silent.accept()
        with connection:
            assert connection.recv(1)
            repository.abort()
            thread.join(60)
            assert not thread.is_alive()
    assert "cannot be fetched" in str(raised[0])


def test_one_that_waits_behind_a_proxy_is_ended(
    silent: socket.socket, small: JarSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The handshake with the server, through a proxy that says it is there."""
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{silent.getsockname()[1]}")
    monkeypatch.setenv("ASC_MAVEN_URL", "https://repository.invalid/maven2")
    raised: list[Exception] = []
    with Repository() as repository:
        thread = _fetching(repository, small, tmp_path, raised)
        connection, _ = silent.accept()
        with connection:
            while b"\r\n\r\n" not in connection.recv(65536, socket.MSG_PEEK):
                pass
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            assert connection.recv(1)
            repository.abort()
            thread.join(60)
            assert not thread.is_alive()
    assert "cannot be fetched" in str(raised[0])


@pytest.fixture(params=["mirror", "tls_mirror"])
def any_mirror(request: pytest.FixtureRequest, authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Mirror:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    mirror: Mirror = request.getfixturevalue(request.param)
    return mirror


def test_one_that_waits_on_a_connection_used_before_is_ended(any_mirror: Mirror, small: JarSet, tmp_path: Path) -> None:
    name = small.jars[0].file_name
    raised: list[Exception] = []
    with Repository() as repository:
        repository.fetch(small.jars[1], tmp_path, lambda by_bytes: None)
        any_mirror.unanswered[name] = threading.Event()
        thread = _fetching(repository, small, tmp_path, raised)
        assert any_mirror.reached.wait(60)
        repository.abort()
        thread.join(60)
        assert not thread.is_alive()
    assert len(any_mirror.clients) == 1
    assert "cannot be fetched" in str(raised[0])


def test_one_that_comes_too_late_is_ended_as_well(
    silent: socket.socket, small: JarSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASC_MAVEN_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
    raised: list[Exception] = []
    with Repository() as repository:
        repository.abort()
        thread = _fetching(repository, small, tmp_path, raised)
        thread.join(60)
        assert not thread.is_alive()
    assert "cannot be fetched" in str(raised[0])
