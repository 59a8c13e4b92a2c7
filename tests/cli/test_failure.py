"""Failures as one line and an exit code, whatever went wrong."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from asc.errors import PredicateError
from cli.failure import CommandError, FailureGroup, failure_text, one_line

Run = Callable[..., Result]


@pytest.mark.parametrize(
    "arguments",
    [
        ["query", "check", "--where", "a > 1"],
        ["query", "add", "late"],
        ["query", "add", "late", "--where", "a > 1", "--label", "nonsense"],
        ["query", "explain", "late", "--tuple", "{"],
        ["query", "explain", "late", "--tuple", "[1]"],
        ["query", "frobnicate"],
        ["subscribe", "topic", "--max", "0"],
        ["nonsense"],
    ],
)
def test_wrong_use_ends_with_2(run: Run, arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert line.endswith(" --help' shows how")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["completion"], "missing argument 'SHELL': give bash, zsh or fish"),
        (["status", "--wait", "abc"], "--wait 'abc': give a number from 0 on"),
        (["status", "--watch", "0.1"], "--watch '0.1': give a number from 0.5 to 86,400"),
        (["subscribe", "hot", "--max", "0"], "--max '0': give an integer from 1 on"),
        (["dead-letter", "list", "--max", "many"], "--max 'many': give an integer from 1 to 10,000"),
        (["status", "--sever", "x"], "no such option '--sever'. Did you mean '--server'?"),
    ],
)
def test_wrong_use_names_value_and_remedy(run: Run, arguments: list[str], said: str) -> None:
    assert run(*arguments).stderr.startswith(f"error: {said}: '")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["query", "check", "--where", "a", "--schema", "/no/such/file"], "--schema '/no/such/file' does not exist"),
        (["serve", "--config", "/no/such/file"], "--config '/no/such/file' does not exist"),
        (["publish", "/no/such/file.csv"], "FILE '/no/such/file.csv' does not exist"),
        (["match", "--queries", "/no/such/file"], "--queries '/no/such/file' does not exist"),
        (["match", "--queries", __file__, "--schema", __file__, "none.csv"], "INPUT 'none.csv' does not exist"),
    ],
)
def test_a_file_that_is_not_there_is_named_with_the_remedy(run: Run, arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (2, f"error: {said}: check the path\n")


def test_a_folder_in_place_of_a_file_is_named_with_the_remedy(run: Run) -> None:
    said = "error: --schema '/' is a directory: name a file\n"
    assert run("query", "check", "--where", "a", "--schema", "/").stderr == said


def test_the_caret_stands_under_the_place(run: Run, schema_file: Path) -> None:
    result = run("query", "check", "--where", "dest = 'SFO' AND arr_dely > 60", "--schema", schema_file)
    _, line, caret = result.stderr.splitlines()
    assert line[caret.index("^") : caret.rindex("^") + 1] == "arr_dely"


def test_debug_lets_the_exception_through(run: Run, schema_file: Path) -> None:
    result = run("--debug", "query", "check", "--where", "nope > 1", "--schema", schema_file)
    assert type(result.exception).__name__ == "PredicateError"


def failing(error: BaseException) -> Result:
    """A command that raises it."""
    group = FailureGroup("asc", params=[click.Option(["--debug"], is_flag=True)])

    @group.command()
    def fail() -> None:
        raise error

    return CliRunner().invoke(group, ["fail"])


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (CommandError("file", "a.csv", "mend it"), "error: file 'a.csv': mend it"),
        (CommandError("stream", None, "name one"), "error: stream: name one"),
        (CommandError("file", "a\n\x1b[2Jb", "mend\nit"), "error: file 'a\\n\\x1b[2Jb': mend"),
        (FileNotFoundError(errno.ENOENT, "No such file", "a.csv"), "error: No such file 'a.csv': check the path"),
        (OSError(errno.ENOSPC, "No space left"), "error: No space left: free space on the disk, then try again"),
        (OSError(errno.EIO, "Broken"), "error: Broken: mend that, then try again"),
        (OSError("no number"), "error: unexpected OSError: no number (asc --debug shows where)"),
        (ValueError("\n two\tlines\nof it"), "error: unexpected ValueError: two lines (asc --debug shows where)"),
    ],
)
def test_any_exception_is_one_line_and_ends_with_1(error: Exception, said: str) -> None:
    result = failing(error)
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", f"{said}\n")


def test_ctrl_c_is_no_failure() -> None:
    result = failing(KeyboardInterrupt())
    assert (result.exit_code, result.stderr) == (130, "interrupted\n")


def test_the_caret_lines_of_a_predicate_follow_the_line() -> None:
    error = PredicateError("unknown column", "dely", "look", text="a > 1\nAND dely > 3", start=10, end=14)
    first, *caret = failure_text(error).splitlines()
    assert first == "error: unknown column 'dely': look"
    assert caret == ["  AND dely > 3", "      ^^^^"]


@pytest.mark.parametrize(("text", "line"), [("", ""), ("\n \n", ""), ("\n a\0b \nc", "a b"), ("é\u2028x", "é")])
def test_the_first_line_that_says_something(text: str, line: str) -> None:
    assert one_line(text) == line
