"""The commands: all there, each with examples, and quick to start."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import click
import pytest
from click.testing import Result

from cli.main import main

Run = Callable[..., Result]


def commands(command: click.Command, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = [path]
    if isinstance(command, click.Group):
        for name, child in command.commands.items():
            found += commands(child, (*path, name))
    return found


@pytest.mark.parametrize("path", commands(main), ids=" ".join)
def test_every_command_has_help_with_examples(run: Run, path: tuple[str, ...]) -> None:
    result = run(*path, "--help")
    assert result.exit_code == 0
    assert "Examples:\n  asc " in result.output


@pytest.mark.parametrize("path", commands(main), ids=" ".join)
def test_every_command_that_prints_a_result_prints_it_as_json(run: Run, path: tuple[str, ...]) -> None:
    is_group = any(other[: len(path)] == path != other for other in commands(main))
    prints_none = is_group or path in [("serve",), ("help",), ("completion",), ("runtime", "prepare")]
    assert ("--json" in run(*path, "--help").output.split()) != prints_none


def test_the_specified_commands_are_there() -> None:
    wanted = (
        "demo serve query publish subscribe dead-letter match schema bench config functions runtime status token "
        "completion trace version help"
    )
    assert set(main.commands) == set(wanted.split())
    query = main.commands["query"]
    assert isinstance(query, click.Group)
    assert set(query.commands) == {
        "add",
        "apply",
        "list",
        "show",
        "remove",
        "pause",
        "resume",
        "check",
        "test",
        "explain",
    }


@pytest.mark.parametrize("arguments", [["--help"], ["query", "check", "--help"]])
def test_help_loads_neither_spark_nor_numba_nor_kafka(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom cli.main import main\n"
        f"main({arguments!r}, standalone_mode=False)\n"
        "loaded = {'pyspark', 'numba', 'kafka', 'pandas', 'httpx', 'fastapi'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {loaded}' if loaded else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
