"""``asc query``: the registry through a daemon, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import Result

from cli.query import refused_line

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


def test_a_bulk_file_is_all_or_none_or_goes_on(asc: Asc, tmp_path: Path) -> None:
    path = tmp_path / "queries.ndjson"
    queries = [("bulk-a", "delay > 1"), ("bulk-b", "dely > 1"), ("bulk-a", "delay > 2"), ("bulk-c", "flight = 1")]
    path.write_text(
        "\n".join(json.dumps({"id": name, "where": where, "stream": "flights"}) for name, where in queries),
        encoding="utf-8",
    )
    refused = asc("query", "apply", path)
    assert refused.exit_code == 1
    *errors, hint = refused.stderr.splitlines()
    assert [line.split(":")[1] for line in errors] == [" line 2 (bulk-b)", " line 3 (bulk-a)"]
    assert hint == "nothing was registered: mend what is refused, or register the rest with --keep-going"
    assert "did you mean 'delay'?" in errors[0]
    assert "duplicate id" in errors[1]
    assert asc.json("query", "list", "--prefix", "bulk-") == []
    kept = asc("query", "apply", "--keep-going", path)
    assert kept.exit_code == 1
    assert kept.stdout.startswith("2 registered, 2 refused, version ")
    assert [q["id"] for q in asc.json("query", "list", "--prefix", "bulk-")] == ["bulk-a", "bulk-c"]
    from_stdin = asc("query", "apply", "-", stdin='{"id": "bulk-d", "where": "delay = 3", "stream": "flights"}\n')
    assert from_stdin.exit_code == 0
    assert from_stdin.stdout.startswith("1 registered, version ")


def test_replacing_is_told_apart_and_can_be_refused(asc: Asc, tmp_path: Path) -> None:
    def add(where: str, *options: str) -> Result:
        return asc("query", "add", "standing", "--where", where, "--stream", "flights", *options)

    assert add("delay > 1", "--no-replace").stdout.startswith("registered standing -> asc.standing, version ")
    assert add("delay > 2").stdout.startswith("replaced standing -> asc.standing, version ")
    same = asc.json("query", "add", "standing", "--where", "delay > 2", "--stream", "flights")
    assert (same["change"], same["version"]) == ("unchanged", asc.json("query", "show", "standing")["version"])
    refused = add("delay > 3", "--no-replace")
    assert (refused.exit_code, refused.stdout, len(refused.stderr.splitlines())) == (1, "", 1)
    assert "query 'standing': stands already and is not to be replaced" in refused.stderr
    path = tmp_path / "queries.toml"
    wanted = {"new": "delay > 1", "standing": "delay > 4"}
    tables = [f'[{name}]\nwhere = "{where}"\nstream = "flights"\n' for name, where in wanted.items()]
    path.write_text("\n".join(tables), encoding="utf-8")
    all_or_none = asc("query", "apply", "--no-replace", path)
    assert (all_or_none.exit_code, all_or_none.stdout) == (1, "0 registered, 1 refused\n")
    assert all_or_none.stderr.startswith("error: query 2 (standing): query 'standing': stands already")
    some = asc("query", "apply", "--no-replace", "--keep-going", path)
    assert (some.exit_code, some.stdout.startswith("1 registered, 1 refused, version ")) == (1, True)
    assert asc.json("query", "show", "standing")["where"] == "delay > 2"
    assert asc("query", "apply", path).stdout.startswith("1 replaced, 1 unchanged, version ")
    assert asc("query", "remove", "standing", "new").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--where", "dely > 1", "--stream", "flights"], "did you mean 'delay'?"),
        (["--where", "delay > 1", "--stream", "trains"], "unknown stream 'trains'"),
        (["--where", "delay > 1"], "name one of flights, lines"),
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


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        ({"line": 3, "id": "late", "error": {"message": "no"}}, "error: line 3 (late): no"),
        ({"line": 1, "id": None, "error": {"message": "no"}}, "error: query 1: no"),
        ({"line": 2, "error": "no"}, "error: query 2: no"),
        ({"line": None, "error": "no"}, "error: line None: no"),
    ],
)
def test_a_refused_line_is_one_line(refused: dict[str, Any], said: str) -> None:
    assert refused_line(refused, ["query 1", "query 2"]) == said
