"""Tokens are printed once, and the file they are put into is one that the daemon reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from broker.access.scope import Scope
from broker.access.secret import digest
from broker.access.tokens_file import parse_tokens

Run = Callable[..., Result]


def test_a_token_is_printed_with_the_entry_that_lets_its_bearer_in(run: Run) -> None:
    options = ["--id-prefix", "ops-", "--stream", "a", "--stream", "b", "--topic-prefix", "ops.", "--max-queries", 5]
    result = run("token", "new", "ops", *options, "--column", "Place.city", "--read-only")
    assert result.exit_code == 0, result.stderr
    secret, _, entry = result.stdout.partition("\n\n")
    assert secret not in entry
    assert parse_tokens(entry, Path("printed")) == {
        digest(secret): Scope(
            "ops",
            read_only=True,
            id_prefix="ops-",
            streams=frozenset({"a", "b"}),
            topic_prefixes=("ops.",),
            columns=frozenset({("place", "city")}),
            max_queries=5,
        )
    }


def test_entries_are_put_into_a_file_that_nobody_else_reads(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "tokens.toml"
    secrets = []
    for name in ("one", "two"):
        result = run("token", "new", name, "--append-to", path)
        assert result.exit_code == 0, result.stderr
        assert "send the daemon SIGHUP" in result.stderr
        secrets.append(result.stdout.strip())
    assert {key: scope.name for key, scope in parse_tokens(path.read_text(), path).items()} == {
        digest(secrets[0]): "one",
        digest(secrets[1]): "two",
    }
    assert not any(secret in path.read_text() for secret in secrets)
    assert path.stat().st_mode & 0o077 == 0
    before = path.read_text()
    again = run("token", "new", "two", "--append-to", path)
    assert again.exit_code == 1
    assert "token 'two': is in" in again.stderr
    assert path.read_text() == before
    path.write_text("# mine\n[tokens.x")
    assert run("token", "new", "three", "--append-to", path).exit_code == 1
    assert path.read_text() == "# mine\n[tokens.x"
    assert [file.name for file in tmp_path.iterdir()] == ["tokens.toml"]


def test_a_token_of_ones_own_is_hashed_and_not_printed(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("0123456789abcdef0123456789abcdef\n")
    found = json.loads(run("token", "new", "own", "--token-file", path, "--json").stdout)
    assert found["token"] is None
    assert digest("0123456789abcdef0123456789abcdef") in found["entry"]
    assert "0123456789abcdef0123456789abcdef" not in run("token", "new", "own", "--token-file", path).output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a b"], "token name 'a b': use 1 to 100 of"),
        (["daemon"], "is what the audit calls another"),
        (["ops", "--column", "a."], "token 'ops': columns: write a column"),
        (["ops", "--id-prefix", ""], "--id-prefix: is empty, which would be no limit"),
        (["ops", "--topic-prefix", ""], "token 'ops': topic_prefixes.0: "),
    ],
)
def test_what_is_wrong_is_one_line(run: Run, arguments: list[str], said: str) -> None:
    result = run("token", "new", *arguments)
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (1, "", 1)
    assert said in result.stderr


def test_a_short_token_is_refused_and_not_shown(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("hunter2-hunter2")
    result = run("token", "new", "ops", "--token-file", path)
    assert result.exit_code == 1
    assert "can be found by trying: 32 characters or more" in result.stderr
    assert "hunter2" not in result.output
