"""How a command reaches the daemon: proxies of the environment, and the token."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.main import main


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A proxy that the environment names, and that answers 501 to whatever goes through it."""
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        for name in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.delenv(name, raising=False)
        for name in ("HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{server.server_port}")
        yield
        server.shutdown()
        thread.join()


def listed(server: str, *arguments: object) -> Result:
    command = ["query", "list", "--server", server, *map(str, arguments)]
    return CliRunner().invoke(main, command)


@pytest.mark.usefixtures("proxy")
@pytest.mark.parametrize("server", ["http://127.0.0.1:9", "http://localhost:9", "http://[::1]:9"])
def test_a_loopback_address_is_not_asked_through_a_proxy(server: str) -> None:
    result = listed(server)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: no daemon answers at '{server}'")


@pytest.mark.usefixtures("proxy")
def test_another_address_is_asked_through_the_proxy() -> None:
    result = listed("http://broker.invalid:8750")
    assert result.exit_code == 1
    assert "answers 501" in result.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\xff\xfe", "not UTF-8 text"),
        ("schlüssel".encode(), "visible ASCII"),
        (b"two words", "visible ASCII"),
        (b"two\nlines", "visible ASCII"),
    ],
)
def test_a_token_file_that_holds_no_token_is_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "token"
    path.write_bytes(content)
    result = listed("http://127.0.0.1:9", "--token-file", path)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert said in result.stderr
    assert "unexpected" not in result.stderr


def test_a_token_in_the_environment_that_no_header_takes_is_one_line_and_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ASC_TOKEN", "schlüssel")
    result = listed("http://127.0.0.1:9")
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert "visible ASCII" in result.stderr
    assert "schl" not in result.stderr
