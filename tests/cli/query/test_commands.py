"""``asc query``: the registry through a daemon, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from click.testing import Result

if TYPE_CHECKING:
    from conftest import Asc

Run = Callable[..., Result]


def test_the_life_of_a_query(asc: Asc) -> None:
    assert asc("query", "add", "life", "--where", "delay > 1", "--stream", "flights").exit_code == 0
    registered = asc.json("query", "show", "life")
    assert (registered["where"], registered["topic"], registered["paused"]) == ("delay > 1", "asc.life", False)
    assert "delay > 1" in asc("query", "show", "life").stdout
    assert (
        asc.json("query", "add", "life", "--where", "delay > 2", "--stream", "flights")["query"]["where"] == "delay > 2"
    )
    assert asc("query", "pause", "life").stdout.startswith("paused life, version ")
    assert asc.json("query", "show", "life")["paused"]
    assert asc("query", "pause", "life").stdout.startswith("life is paused already, version ")
    assert asc("query", "resume", "life").stdout.startswith("resumed life, version ")
    assert asc("query", "resume", "life").stdout.startswith("life runs already, version ")
    assert not asc.json("query", "show", "life")["paused"]
    assert asc("query", "remove", "life").stdout.startswith("removed life, version ")
    gone = asc("query", "show", "life")
    assert (gone.exit_code, len(gone.stderr.splitlines())) == (1, 1)
    assert "unknown query 'life'" in gone.stderr


def test_removing_goes_on_after_an_unknown_id(asc: Asc) -> None:
    assert asc("query", "add", "one", "--where", "delay > 1", "--stream", "flights").exit_code == 0
    result = asc("query", "remove", "nope", "one")
    assert result.exit_code == 1
    assert "unknown query 'nope'" in result.stderr
    assert "removed one" in result.stdout


def test_replacing_is_told_apart_and_can_be_refused(asc: Asc) -> None:
    def add(where: str, *options: str) -> Result:
        return asc("query", "add", "standing", "--where", where, "--stream", "flights", *options)

    assert add("delay > 1", "--no-replace").stdout.startswith("registered standing -> asc.standing, version ")
    replaced = add("delay > 2").stdout.splitlines()
    assert replaced[0].startswith("replaced standing -> asc.standing, version ")
    assert replaced[1:] == ["in place of: delay > 1 -> asc.standing"]
    same = asc.json("query", "add", "standing", "--where", "delay > 2", "--stream", "flights")
    assert (same["change"], same["version"]) == ("unchanged", asc.json("query", "show", "standing")["version"])
    refused = add("delay > 3", "--no-replace")
    assert (refused.exit_code, refused.stdout, len(refused.stderr.splitlines())) == (1, "", 1)
    assert "query 'standing': is registered already, and is not to be replaced: take another id" in refused.stderr
    assert asc("query", "remove", "standing").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--where", "dely > 1", "--stream", "flights"], "did you mean 'delay'?"),
        (["--where", "delay > 1", "--stream", "trains"], "unknown stream 'trains'"),
        (["--where", "delay > 1"], "stream: name one with --stream; the daemon's streams: flights, lines"),
        (["--where", "delay > 1", "--stream", "flights", "--topic", "cli-flights"], "source topic"),
        (["--where", "delay > 1", "--stream", "flights", "--topic", "cli.queries"], "registry"),
        (["--where", "delay > 1", "--stream", "flights", "--topic", "a b"], "destination topic 'a b'"),
        (["--where", "delay > 1", "--stream", "flights", "--expires-at", "tomorrow"], "expires_at 'tomorrow'"),
    ],
)
def test_a_refused_registration_is_one_line_and_changes_nothing(asc: Asc, arguments: list[str], said: str) -> None:
    result = asc("query", "add", "refused", *arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert said in result.stderr.splitlines()[0]
    assert asc.json("query", "list", "--prefix", "refused") == []


def test_the_caret_comes_with_the_answer(asc: Asc) -> None:
    result = asc("query", "add", "refused", "--where", "dest = 'SFO' AND dely > 1", "--stream", "flights")
    assert result.stderr.splitlines()[1:] == ["  dest = 'SFO' AND dely > 1", "                   ^^^^"]


def test_an_illegal_id_is_one_line(asc: Asc) -> None:
    result = asc("query", "add", "late flights", "--where", "delay > 1", "--stream", "flights")
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert "query id 'late flights'" in result.stderr


def test_a_warning_is_printed_and_the_query_registered(asc: Asc) -> None:
    result = asc("query", "add", "never", "--where", "delay > 2 AND delay < 1", "--stream", "flights")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: ")
