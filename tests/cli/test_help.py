"""``asc help``: the same pages as ``--help``."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import Result

Run = Callable[..., Result]


@pytest.mark.parametrize("path", [[], ["query"], ["query", "add"], ["help"], ["serve"]])
def test_the_page_is_that_of_the_command(run: Run, path: list[str]) -> None:
    shown = run("help", *path)
    assert (shown.exit_code, shown.stdout) == (0, run(*path, "--help").stdout)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (["nonsense"], "no such command 'nonsense'"),
        (["query", "ad"], "no such command 'ad'. Did you mean 'add'?"),
        (["serve", "add"], "'main serve' has no commands of its own, so not 'add'"),
    ],
)
def test_a_command_that_is_not_there_is_one_line(run: Run, path: list[str], said: str) -> None:
    result = run("help", *path)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert result.stderr.startswith(f"error: {said}")
