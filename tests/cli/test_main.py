"""The commands: all there, each with examples, and quick to start."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import Result

import cli
from broker.operators.kinds import OPERATORS
from cli.main import main
from cli.operators.commands import OPERATOR_COMMANDS

Run = Callable[..., Result]

ROOT = Path(cli.__file__).parent.parent


def commands(command: click.Command, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = [path]
    if isinstance(command, click.Group):
        for name, child in command.commands.items():
            found += commands(child, (*path, name))
    return found


def found_command(path: tuple[str, ...]) -> click.Command:
    """The command of a path."""
    found: click.Command = main
    for name in path:
        assert isinstance(found, click.Group)
        found = found.commands[name]
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


def called(line: str) -> list[list[str]]:
    """The calls of asc in a line for a shell: the words of each, as far as they are not the shell's."""
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    words.commenters = "#"
    calls: list[list[str]] = [[]]
    is_file = False
    for word in words:
        if set(word) <= set("|;&()"):
            calls.append([])
        elif is_file or set(word) <= set("<>"):
            is_file = not is_file
        else:
            calls[-1].append(word)
    return [call[1:] for call in calls if call[:1] == ["asc"]]


def parse(command: click.Command, words: list[str], parent: click.Context | None = None) -> None:
    """Read the words as the command would, but for files, which need not be there; UsageError for what it refuses."""
    # The first context of a command decides for good how its help spells the option of help.
    context = click.Context(command, parent=parent, info_name=command.name, **command.context_settings)
    given, rest, _ = command.make_parser(context).parse_args(list(words))
    if given.get("help"):
        return
    if isinstance(command, click.Group):
        if not rest and command.invoke_without_command:
            return
        _, inner, more = command.resolve_command(context, rest)
        assert inner is not None
        parse(inner, more, context)
        return
    assert not rest, f"too many arguments: {rest}"
    for one in command.params:
        value = given.get(one.name or "")
        # Click has a mark of its own for an argument that is not there, not the same in each of its versions.
        is_given = value is not None and value != () and type(value).__name__ != "Sentinel"
        assert is_given or not one.required, f"{one.name} is missing"
        if is_given and not isinstance(one.type, (click.Path, click.File)):
            one.type_cast_value(context, value)


EXAMPLES = [
    (" ".join(path) or "asc", call)
    for path in commands(main)
    for line in (found_command(path).epilog or "").splitlines()
    for call in called(line if "asc " in line else "")
]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("path", commands(main), ids=" ".join)
def test_the_examples_of_a_command_are_of_it_and_can_be_typed(path: tuple[str, ...]) -> None:
    own = [call for name, call in EXAMPLES if name == (" ".join(path) or "asc")]
    # What one does next may follow.
    assert own
    assert tuple(own[0][: len(path)]) == path
    for call in own:
        parse(main, call)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_on_the_pages_can_be_typed(page: Path) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for line in "\n".join(blocks).replace("\\\n", " ").splitlines():
        if "asc " in line:
            for call in called(line):
                parse(main, call)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["query", "ad"], "No such command"),
        (["query", "show", "late", "--tuple", "{}"], "No such option"),
        (["query", "show"], "query_id is missing"),
        (["query", "show", "a", "b"], "too many arguments"),
        (["status", "--wait", "soon"], "not a valid float"),
        (["query", "list", "--format", "xml"], "is not one of"),
    ],
    ids=["command", "option", "missing", "surplus", "number", "choice"],
)
def test_an_example_that_is_wrong_would_be_seen(words: list[str], said: str) -> None:
    with pytest.raises((click.UsageError, AssertionError)) as caught:
        parse(main, words)
    assert said in str(getattr(caught.value, "message", caught.value))


def test_the_calls_in_a_line_are_found() -> None:
    line = "zcat a.gz | asc publish --where \"a > 'b|c'\" - > late.txt  # asc nothing"
    assert called(line) == [["publish", "--where", "a > 'b|c'", "-"]]


def test_the_specified_commands_are_there() -> None:
    wanted = (
        "demo serve query layer join publish subscribe dead-letter match schema bench config functions runtime status "
        "token completion trace version help"
    )
    assert set(main.commands) == {*wanted.split(), *OPERATORS}
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


def test_the_help_lists_the_groups_of_all_kinds(run: Run) -> None:
    names = ", ".join(str(group.name) for group in OPERATOR_COMMANDS)
    assert f"query, join, {names}, layer" in " ".join(run("--help").output.split())
