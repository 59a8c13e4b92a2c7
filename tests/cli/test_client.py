"""How a command reaches the daemon: its options, and proxies of the environment."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from broker.client.client import Client
from broker.config.config import parse_config
from broker.daemon.daemon import Daemon
from broker.http.server import ApiServer
from cli.client import kafka_of, stream_of
from cli.failure import CommandError
from cli.main import main

if TYPE_CHECKING:
    from conftest import Address

ROOT = Path(__file__).parents[2]

Run = Callable[..., Result]


def listed(server: str, *arguments: object) -> Result:
    command = ["query", "list", "--server", server, *map(str, arguments)]
    return CliRunner().invoke(main, command)


@pytest.mark.parametrize(
    "command",
    [
        ("query", "add", "late", "--where", "n > 1"),
        ("query", "test", "--where", "n > 1"),
        ("join", "check", "--layer", "zones", "--where", "n > zones.high"),
        ("events", "add", "low", "--where", "n > 1", "--key", "n"),
        ("near", "add", "close", "--key", "n", "--distance", "9", "--window", "3s", "--every", "1s"),
    ],
    ids=" ".join,
)
def test_a_stream_that_is_missing_is_named_with_its_option(
    address: Address, run: Run, command: tuple[str, ...]
) -> None:
    # The daemon says it in a field: its words are its own.
    error = {"message": "no stream", "subject": "stream", "value": None, "remedy": "name it", "streams": ["a", "b"]}
    for path in ("/v1/queries", "/v1/test", "/v1/check"):
        address.answers[path] = [(400, json.dumps({"error": error}))]
    result = run(*command, "--server", address.url)
    assert result.stderr == "error: stream: name one with --stream; the daemon's streams: a, b\n"
    assert result.exit_code == 1


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


def test_the_only_stream_needs_no_name(address: Address) -> None:
    with Client(address.url) as client:
        assert stream_of(client, None) == stream_of(client, "s")
        assert kafka_of(client, None).bootstrap_servers == "127.0.0.1:9"
        with pytest.raises(CommandError, match="unknown stream 't': the daemon's streams: s"):
            stream_of(client, "t")
        address.answers["/v1/streams"] = [(200, json.dumps({"streams": [], "kafka": {"bootstrap_servers": ""}}))]
        with pytest.raises(CommandError, match="stream: name one with --stream; the daemon's streams: none"):
            stream_of(client, None)


@pytest.mark.parametrize("query_id", ["", ".", ".."])
def test_an_id_that_would_lead_elsewhere_is_one_line(run: Run, address: Address, query_id: str) -> None:
    for command in (["query", "show"], ["query", "pause"], ["query", "explain"], ["subscribe"]):
        result = run(*command, query_id, "--server", address.url)
        assert result.exit_code == 1
        assert result.stderr == f"error: query id '{query_id}': is none: 'asc query list' shows those that there are\n"
    assert [path for path in address.asked if path != "/v1/streams"] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["query", "list"],
        ["query", "add", "late", "--where", "a > 1"],
        ["query", "remove", "late"],
        ["status"],
        ["status", "--wait", "0.5"],
        ["subscribe", "asc.late"],
    ],
)
def test_no_daemon_is_one_line(run: Run, arguments: list[str]) -> None:
    result = run(*arguments, "--server", "http://127.0.0.1:9")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "error: no daemon answers at 'http://127.0.0.1:9': "
        "start one with 'asc serve', or give another address (--server)"
    ]


@pytest.mark.parametrize("server", ["127.0.0.1:8750", "ftp://127.0.0.1", "http://[::1", "http://127.0.0.1:99999999"])
def test_an_address_that_is_none_is_one_line(run: Run, server: str) -> None:
    result = run("query", "list", "--server", server)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert "unexpected" not in result.stderr


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A daemon that has not started, over TLS, and its certificate."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not on this machine")
    folder = tmp_path_factory.mktemp("tls")
    made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key", "-out", "pem"]
    named = ["-subj", "/CN=asc", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    subprocess.run(["openssl", "req", "-x509", *made, *named], cwd=folder, check=True, capture_output=True)
    config = parse_config(
        {
            "api": {"port": 0, "tls_cert_file": str(folder / "pem"), "tls_key_file": str(folder / "key")},
            "spark": {"checkpoint_dir": str(folder)},
            "streams": {"s": {"topic": "s", "format": "json", "schema": "n INT"}},
        }
    )
    server = ApiServer(config, Daemon(config))
    yield server.start(), folder / "pem"
    server.stop()


def test_over_tls_the_daemon_is_asked_where_its_certificate_is_trusted(tls: tuple[str, Path]) -> None:
    server, certificate = tls
    result = listed(server, "--ca-file", certificate)
    assert result.stderr.startswith("error: daemon not ready, it is 'starting'")
    command = ["query", "list", "--server", server]
    result = CliRunner().invoke(main, command, env={"ASC_CA_FILE": str(certificate)})
    assert result.stderr.startswith("error: daemon not ready")


def test_what_is_wrong_with_tls_is_one_line(tls: tuple[str, Path], tmp_path: Path) -> None:
    server, certificate = tls
    no_pem = tmp_path / "no.pem"
    no_pem.write_text("nothing")
    port = server.rpartition(":")[2]
    for arguments, said in (
        ((server,), f"error: the certificate is not trusted of '{server}': "),
        ((f"https://localhost:{port}", "--ca-file", certificate), "error: the certificate is not trusted of"),
        ((server, "--ca-file", no_pem), "error: CA file '"),
        ((f"http://127.0.0.1:{port}",), "begins with https"),
    ):
        result = listed(*arguments)
        assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1), result.stderr
        assert said in result.stderr


def test_an_address_without_tls_is_told_so(address: Address) -> None:
    result = listed(f"https{address.url.removeprefix('http')}")
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert "no TLS is spoken at" in result.stderr


def test_the_command_line_speaks_http_through_the_client_alone() -> None:
    """What the import contract says, of modules of the standard library as well."""
    clients = {"httpx", "requests", "urllib3", "urllib.request", "http.client", "aiohttp", "socket"}
    for path in (ROOT / "cli").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not clients.intersection(names), path
