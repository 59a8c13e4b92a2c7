"""``asc completion``: its scripts in the shells themselves, as somebody has them who types at a terminal."""

from __future__ import annotations

import json
import os
import select
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import Result

from cli.completion import SHELLS

if TYPE_CHECKING:
    from conftest import Address

Run = Callable[..., Result]

STARTED = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
PATIENCE_S = 120.0


class Terminal:
    """A shell at a terminal: what is typed, and what it has shown."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.shown = ""

    def type(self, text: str, *, until: Callable[[str], bool]) -> None:
        """Type, and wait until what has been shown since is as it should be."""
        os.write(self._number, text.encode())
        before, deadline = len(self.shown), time.monotonic() + PATIENCE_S
        while not until(self.shown[before:]):
            ready, _, _ = select.select([self._number], [], [], 0.1)
            if ready:
                self.shown += os.read(self._number, 65_536).decode("utf-8", "replace")
            assert time.monotonic() < deadline, f"typed {text!r}, shown: {self.shown[before:]!r}"


@contextmanager
def started(shell: str, environment: dict[str, str]) -> Iterator[Terminal]:
    own, terminal = os.openpty()
    # Its controlling terminal: without one, fish does not begin.
    command = ["setsid", "--ctty", *STARTED[shell]]
    process = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment)
    os.close(terminal)
    try:
        yield Terminal(own)
    finally:
        process.kill()
        process.wait()
        os.close(own)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes_commands_options_and_queries(shell: str, run: Run, address: Address, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    address.answers["/v1/queries"] = [
        (200, json.dumps({"queries": [{"id": "late-flights", "where": "delay > 60"}], "cursor": None}))
    ]
    script, given, program = (tmp_path / name for name in ("script", "given", "asc"))
    script.write_text(run("completion", shell).stdout, encoding="utf-8")
    # The command line where a shell asks it for completions; else what it was called with is written down.
    python = f'exec {shlex.quote(sys.executable)} -c \'from cli.main import main; main(prog_name="asc")\' "$@"'
    written = f'printf "%s\\n" "$@" > {shlex.quote(str(given))}.new; mv {shlex.quote(str(given))}.new {given}'
    program.write_text(f'#!/bin/sh\n[ -n "$_ASC_COMPLETE" ] && {python}\n{written}\n', encoding="utf-8")
    program.chmod(0o755)
    environment = {
        **{"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path), "TERM": "dumb"},
        **{"PYTHONPATH": os.pathsep.join(sys.path), "ASC_SERVER": address.url, "LC_ALL": "C.UTF-8"},
    }
    with started(shell, environment) as terminal:
        prepare = "autoload -U compinit; compinit -u -D; " if shell == "zsh" else ""
        # Put together by the shell, so that what it echoes of the line is not what it says.
        ready = 'echo rea""dy'
        terminal.type(f"{prepare}source {script}; {ready}\r", until=lambda shown: "ready" in shown)
        terminal.type("asc query remo\t", until=lambda shown: "remove" in shown)
        terminal.type("--serv\t", until=lambda shown: "--server" in shown)
        terminal.type(f"{address.url} la\t", until=lambda shown: "late-flights" in shown)
        terminal.type("\r", until=lambda _: given.exists())
    assert given.read_text(encoding="utf-8").split() == [*("query", "remove", "--server", address.url, "late-flights")]


def test_another_shell_is_wrong_use(run: Run) -> None:
    result = run("completion", "tcsh")
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert "'bash', 'zsh', 'fish'" in result.stderr
