"""How a command reaches the daemon: proxies of the environment, and the token."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from cli.client import Client, NoAnswerError, ServerError
from cli.failure import CommandError
from cli.main import main

if TYPE_CHECKING:
    from conftest import Address

Run = Callable[..., Result]


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


def test_pages_of_queries_are_put_together(address: Address) -> None:
    pages = [{"queries": [{"id": "a"}], "cursor": "a&b"}, {"queries": [{"id": "b"}], "cursor": None}]
    address.answers["/v1/queries"] = [(200, json.dumps(page)) for page in pages]
    with closing(Client(f"{address.url}/")) as client:
        assert client.queries(prefix="x y", label=None) == [{"id": "a"}, {"id": "b"}]
    first, second = address.asked
    assert first == "/v1/queries?limit=1000&prefix=x+y"
    assert second == f"{first}&cursor=a%26b"


def test_the_only_stream_needs_no_name(address: Address) -> None:
    with closing(Client(address.url)) as client:
        assert client.stream(None) == client.stream("s")
        assert client.kafka().bootstrap_servers == "127.0.0.1:9"
        with pytest.raises(CommandError, match="unknown stream 't': the daemon's streams: s"):
            client.stream("t")
        address.answers["/v1/streams"] = [(200, json.dumps({"streams": [], "kafka": {"bootstrap_servers": ""}}))]
        with pytest.raises(CommandError, match="stream '': name one with --stream; the daemon's streams: none"):
            client.stream(None)


def test_a_refusal_keeps_the_words_of_the_daemon(address: Address) -> None:
    error = {"message": "two\nlines", "subject": "q", "value": 1, "remedy": "r", "caret": "a > 1\n^"}
    address.answers["/v1/plan"] = [(400, json.dumps({"error": error, "errors": [{"line": 2, "error": error}]}))]
    with closing(Client(address.url)) as client, pytest.raises(ServerError) as caught:
        client.plan()
    assert (caught.value.status, str(caught.value), caught.value.caret_text) == (400, "two\nlines", "a > 1\n^")
    assert caught.value.lines == [{"line": 2, "error": error}]


@pytest.mark.parametrize("query_id", ["", ".", ".."])
def test_an_id_that_would_lead_elsewhere_is_one_line(run: Run, address: Address, query_id: str) -> None:
    for command in (["query", "show"], ["query", "remove"], ["query", "explain"], ["subscribe"]):
        result = run(*command, query_id, "--server", address.url)
        assert result.exit_code == 1
        assert result.stderr == f"error: query id '{query_id}': is none: 'asc query list' shows the registered ones\n"
    assert [path for path in address.asked if path != "/v1/streams"] == []


def test_an_address_that_hangs_up_gives_no_answer(address: Address) -> None:
    address.answers["/v1/plan"] = [None]
    with closing(Client(address.url)) as client, pytest.raises(NoAnswerError, match="ends without an answer"):
        client.plan()


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
        "error: no daemon answers at 'http://127.0.0.1:9': start one with 'asc serve', or name another with --server"
    ]


@pytest.mark.parametrize("server", ["127.0.0.1:8750", "ftp://127.0.0.1", "http://[::1", "http://127.0.0.1:99999999"])
def test_an_address_that_is_none_is_one_line(run: Run, server: str) -> None:
    result = run("query", "list", "--server", server)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert "unexpected" not in result.stderr
