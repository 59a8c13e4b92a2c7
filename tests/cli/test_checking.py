"""The options of checks: a daemon or a schema file, and not both."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.checking import Check, checked_offline
from cli.main import main


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    path = tmp_path / "s.ddl"
    path.write_text("n INT, t TIMESTAMP", "utf-8")
    return path


def test_a_check_by_a_schema_has_the_expressions_of_the_operator(schema: Path) -> None:
    found = checked_offline("n > 1", {"name": "events", "key": "n", "time": "t"}, schema, "UTC")
    assert found["conjuncts"] == [[{"attribute": "n", "constraint": "n > 1"}]]
    assert [one["sql"] for one in found["expressions"]] == ["CAST(n AS STRING)", "unix_micros(t)"]
    assert checked_offline("n > 1", {"name": "route"}, schema, "UTC")["expressions"] == []
    assert checked_offline("n > 1", None, schema, "UTC")["expressions"] == []


def test_the_estimate_of_any_kind_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    check = Check(None, "s", None, ("http://127.0.0.1:9", None, None), as_json=False)
    found = {"text": "true", "expressions": [], "estimate": {"name": "any", "text": "it has 7 things\x1b", "things": 7}}
    check.show_found(found)
    assert capsys.readouterr().out.splitlines() == ["true", "it has 7 things·"]
    # A daemon of an earlier version gives figures alone.
    check.show_found({**found, "estimate": {"things": 7}})
    assert capsys.readouterr().out.splitlines() == ["true"]


COMMANDS = {"query": ("query", "check"), "events": ("events", "check", "x", "--key", "n")}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "give --stream, or --schema to check without a daemon"),
        (("--schema", "{schema}", "--stream", "s"), "give --stream or --schema, not both"),
        (("--stream", "s", "--time-zone", "UTC"), "--time-zone goes with --schema"),
    ],
    ids=["none", "both", "zone"],
)
def test_the_means_of_a_check_are_one(command: str, given: tuple[str, ...], said: str, schema: Path) -> None:
    arguments = [each.format(schema=schema) for each in given]
    ran = CliRunner().invoke(main, [*COMMANDS[command], "--where", "n > 1", *arguments])
    assert ran.exit_code == 2
    assert said in ran.output
