"""``asc config``: what it prints is TOML that says the same."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.config import toml_lines

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


def test_a_wrong_configuration_key_is_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "asc.toml"
    path.write_text("[api]\nprot = 8750\n", encoding="utf-8")
    for command in ("config", "serve"):
        result = run(command, "--config", path)
        assert result.exit_code == 1
        assert result.stderr.splitlines() == ["error: unknown configuration key 'api.prot': did you mean 'port'?"]


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
values = st.booleans() | st.integers(-(2**63), 2**63 - 1) | texts | st.lists(texts, max_size=3)
tables = st.recursive(
    st.dictionaries(texts, values, max_size=3),
    lambda inner: st.dictionaries(texts, values | inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None)
@given(tables)
def test_any_table_is_read_back(table: dict[str, Any]) -> None:
    assert tomllib.loads("\n".join(toml_lines(table))) == table


def test_a_key_without_a_value_is_a_comment() -> None:
    lines = list(toml_lines({"api": {"token_file": None}}))
    assert tomllib.loads("\n".join(lines)) == {"api": {}}
    assert "# token_file is not set" in lines
