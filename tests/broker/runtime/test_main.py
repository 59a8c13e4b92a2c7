"""``python -m broker.runtime``: everything prepared, or one line that says what is missing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from broker.runtime.jars import is_complete
from broker.runtime.locked_jars import locked_sets

if TYPE_CHECKING:
    from conftest import Mirror


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "broker.runtime", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.usefixtures("empty_cache")
def test_it_prepares_an_empty_machine(mirror: Mirror, locked_files: Mapping[str, Path]) -> None:
    mirror.files = dict(locked_files)
    prepared = run()
    assert prepared.returncode == 0, prepared.stderr
    assert all(is_complete(jar_set) for jar_set in locked_sets())
    assert prepared.stdout.startswith("Java ")
    assert "kernels compiled\nSpark's classes in " in prepared.stdout
    assert Path(prepared.stdout.splitlines()[-1].removeprefix("Spark's classes in ")).stat().st_size > 50_000_000
    assert prepared.stderr.count("Fetching ") == 2
    assert prepared.stderr.count("Archiving ") == 1


@pytest.mark.usefixtures("empty_cache")
def test_what_is_missing_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASC_MAVEN_URL", "maven")
    failed = run()
    assert failed.returncode == 1
    assert failed.stderr.startswith("error: ASC_MAVEN_URL 'maven': ")
    assert failed.stderr.count("\n") == 1


def test_a_task_that_is_none_is_wrong_use() -> None:
    assert run("prapare").returncode == 2
