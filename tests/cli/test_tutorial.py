"""docs/tutorial.md: what it has one save is saved, and every command of it is run, in order, in an empty folder."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.ports import free_port

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
SAVED = dict(re.findall(r"^Save this as `([^`]+)`.*?^```\w+\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
SHOWN = [
    line for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL) for line in block.splitlines()
]
ANSWERS = {
    "cat orders.ddl": "amount DOUBLE",
    "asc query test": "1 of the last 5 records",
    "asc subscribe large": "Dan",
    "asc subscribe nordic-express": "Cleo",
    "asc subscribe no-amount": "Eve",
    "asc trace --source": "NULL",
    "asc trace --stream": "nordic-express",
    "asc query list": "no-amount",
    "asc cube query": re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[-1],
}
AGAIN_S = 120
"""How long what the page has one ask again is asked, until the answer is there."""


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """What a reader's terminal has, with a port that is free."""
    command = tmp_path / "bin" / "asc"
    command.parent.mkdir()
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from cli.main import main; main(prog_name='asc')"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -c {shlex.quote(start)} "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ASC_")}
    port = free_port()
    return {
        **kept,
        "PATH": f"{command.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "ASC__API__PORT": str(port),
        "ASC_SERVER": f"http://127.0.0.1:{port}",
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Empty but for what the page has one save."""
    empty = tmp_path / "empty"
    empty.mkdir()
    for name, text in SAVED.items():
        (empty / name).write_text(text, encoding="utf-8")
    return empty


@pytest.fixture
def started(folder: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Who runs until Ctrl-C, and gets it in the end."""
    running: list[subprocess.Popen[bytes]] = []
    yield running
    for process in running:
        if process.poll() is None:
            process.kill()
            process.wait()


def typed(line: str, folder: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a line as a reader's terminal does."""
    return subprocess.run(
        line, shell=True, cwd=folder, env=variables, capture_output=True, text=True, timeout=180, check=False
    )


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.kafka
def test_the_tutorial_can_be_followed(
    folder: Path, variables: dict[str, str], started: list[subprocess.Popen[bytes]]
) -> None:
    assert set(SAVED) == {"orders.csv", "asc.toml"}
    asked = set()
    for line in SHOWN:
        if line.startswith("asc serve"):
            with (folder / "log").open("wb") as log:
                started.append(subprocess.Popen(shlex.split(line), cwd=folder, env=variables, stdout=log, stderr=log))
            continue
        done = typed(line, folder, variables)
        give_up = time.monotonic() + AGAIN_S
        while line.startswith("asc cube query") and ANSWERS["asc cube query"] not in done.stdout:
            assert time.monotonic() < give_up, f"{line}: {done.stdout}{done.stderr}"
            done = typed(line, folder, variables)
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}{(folder / 'log').read_text('utf-8')[-2000:]}"
        for beginning, answer in ANSWERS.items():
            if line.startswith(beginning):
                asked.add(beginning)
                assert answer in done.stdout, f"{line}: {done.stdout}"
    assert asked == set(ANSWERS)
    (daemon,) = started
    daemon.send_signal(signal.SIGINT)
    assert daemon.wait(60) in (0, 130)
    assert (folder / "asc-data").is_dir()
