"""``asc config``: what it prints is TOML that says the same."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Run = Callable[..., Result]


def test_config_prints_what_can_be_read_again(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "asc.toml"
    path.write_text(
        '[kafka.options]\n"ssl.key.password" = "hunter2"\n\n'
        '[streams.flights]\ntopic = "flights"\nformat = "json"\nschema = "delay INT"\n',
        encoding="utf-8",
    )
    result = run("config", "--config", path)
    assert result.exit_code == 0
    assert "hunter2" not in result.stdout
    printed = tomllib.loads(result.stdout)
    assert printed["streams"]["flights"]["schema"] == "delay INT"
    again = tmp_path / "again.toml"
    again.write_text(result.stdout, encoding="utf-8")
    assert tomllib.loads(run("config", "--config", again).stdout) == printed
    as_json = json.loads(run("config", "--config", path, "--json").stdout)
    assert as_json["api"]["port"] == printed["api"]["port"]


def test_each_value_says_where_it_is_from(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "asc.toml"
    path.write_text(
        '[api]\nport = 9000\nhost = "localhost"\n'
        '[streams.flights]\ntopic = "flights"\nformat = "json"\nschema = "delay INT"\n',
        encoding="utf-8",
    )
    monkeypatch.setenv("ASC__API__PORT", "9001")
    monkeypatch.setenv("ASC__KAFKA__OPTIONS__CLIENT_ID", "asc")
    lines = run("config", "--config", path).stdout.splitlines()
    assert "port = 9001  # ASC__API__PORT" in lines
    assert 'host = "localhost"  # asc.toml' in lines
    assert '"client.id" = "asc"  # ASC__KAFKA__OPTIONS__CLIENT_ID' in lines
    assert "max_connections = 500" in lines
    as_json = json.loads(run("config", "--config", path, "--json").stdout)
    assert as_json["origins"]["api.port"] == "ASC__API__PORT"
    assert as_json["origins"]["streams.flights.topic"] == "asc.toml"
    assert "api.max_connections" not in as_json["origins"]


def test_a_variable_that_is_wrong_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASC__API__PORT", "99999")
    result = run("config")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ASC__API__PORT: configuration key api.port 99999: give a number of at most")
    assert result.stderr.count("\n") == 1


def test_a_wrong_configuration_key_is_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "asc.toml"
    stream = '[streams.flights]\ntopic = "flights"\nformat = "json"\nschema = "delay INT"\n'
    path.write_text(f"[api]\nprot = 8750\n{stream}", encoding="utf-8")
    for command in ("config", "serve"):
        result = run(command, "--config", path)
        assert result.exit_code == 1
        assert result.stderr.splitlines() == ["error: unknown configuration key 'api.prot': did you mean 'port'?"]


def test_of_many_faults_twenty_have_a_line_each(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "asc.toml"
    path.write_text("[api]\n" + "".join(f"key{i} = 1\n" for i in range(22)), encoding="utf-8")
    for command in ("config", "serve"):
        result = run(command, "--config", path)
        assert (result.exit_code, result.stdout) == (1, "")
        *lines, last = result.stderr.splitlines()
        assert [line.partition(":")[2].partition(":")[0] for line in lines] == [
            f" unknown configuration key 'api.key{i}'" for i in range(20)
        ]
        assert last == "error: and 3 more of these"
