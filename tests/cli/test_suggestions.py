"""What is suggested behind a TAB: what the daemon has, and nothing, without a word, where none answers."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
import pytest
from click.shell_completion import ShellComplete

from cli.main import main
from cli.suggestions import suggested_streams

if TYPE_CHECKING:
    from conftest import Address

QUERIES = [{"id": "late", "where": "delay\n> 60 AND " + "x" * 90}, {"id": "later", "where": "delay > 90"}]


@pytest.fixture
def at(address: Address, monkeypatch: pytest.MonkeyPatch) -> Address:
    """An address with two queries, which the environment names."""
    monkeypatch.setenv("ASC_SERVER", address.url)
    address.answers["/v1/queries"] = [(200, json.dumps({"queries": QUERIES, "cursor": None}))]
    return address


def suggested(words: str) -> dict[str, str | None]:
    """What may follow, after a space or as the rest of the last word, with what is said of it."""
    *whole, incomplete = words.split(" ")
    found = ShellComplete(main, {}, "asc", "_ASC_COMPLETE").get_completions(whole, incomplete)
    return {item.value: item.help for item in found}


@pytest.mark.parametrize("command", ["show", "explain", "remove", "pause", "resume"])
def test_queries_are_asked_for_by_what_is_typed(at: Address, command: str) -> None:
    assert list(suggested(f"query {command} la")) == ["late", "later"]
    assert at.asked == ["/v1/queries?limit=100&prefix=la"]


def test_a_topic_may_be_a_query_s_and_its_predicate_is_told_in_one_line(at: Address) -> None:
    assert suggested("subscribe la") == {"late": "delay > 60 AND " + "x" * 45, "later": "delay > 90"}


def test_what_is_given_is_not_suggested_again(at: Address) -> None:
    assert list(suggested("query remove late ")) == ["later"]


@pytest.mark.parametrize(
    "words", ["query add x --stream ", "query list --stream ", "query check --stream ", "publish --stream "]
)
def test_streams_are_asked_for(at: Address, words: str) -> None:
    assert suggested(words) == {"s": "topic s"}
    assert suggested(f"{words}t") == {}


def test_the_server_that_the_line_names_is_asked(at: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASC_SERVER", "http://127.0.0.1:9")
    assert suggested("query show ") == {}
    assert list(suggested(f"query show --server {at.url} ")) == ["late", "later"]


@pytest.mark.parametrize("answer", [None, (200, "<html>"), (401, "{}"), (200, '{"queries": [7]}')], ids=str)
def test_what_is_no_answer_is_passed_over_in_silence(
    at: Address, answer: tuple[int, str] | None, capfd: pytest.CaptureFixture[str]
) -> None:
    at.answers["/v1/queries"] = [answer]
    assert suggested("query show la") == {}
    assert capfd.readouterr() == ("", "")


def test_a_daemon_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("ASC_SERVER", f"http://127.0.0.1:{silent.getsockname()[1]}")
        start_s = time.monotonic()
        assert suggested("query show la") == {}
        assert time.monotonic() - start_s > 0.9
        assert silent.accept()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("help quer", ["query"]),
        ("help query re", ["remove", "resume"]),
        ("help query show ", []),
        ("help nonsense ", []),
        ("dead-l", ["dead-letter"]),
        ("query apply --pr", ["--prune", "--prefix"]),
        ("completion ", ["bash", "zsh", "fish"]),
    ],
    ids=["command", "inner", "leaf", "none", "first", "option", "choice"],
)
def test_commands_and_options_are_suggested(words: str, found: list[str]) -> None:
    assert list(suggested(words)) == found


def test_every_option_that_names_a_stream_of_the_daemon_suggests_them() -> None:
    def commands(of: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
        if not isinstance(of, click.Group):
            yield name, of
            return
        for inner, command in of.commands.items():
            yield from commands(command, f"{name} {inner}".strip())

    found = {
        name: {param.name: param for param in command.params}
        for name, command in commands(main, "")
        if {"server", "stream"} <= {param.name for param in command.params}
    }
    assert {"trace", "publish", "query add"} <= found.keys()
    silent = [
        name for name, params in found.items() if params["stream"]._custom_shell_complete is not suggested_streams
    ]
    assert silent == []
