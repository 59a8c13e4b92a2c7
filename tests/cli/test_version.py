"""``asc version``."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
from click.testing import Result

from broker.packages import PACKAGES
from cli.version import PARTS

ROOT = Path(__file__).parents[2]
Run = Callable[..., Result]


def test_version_names_its_parts(run: Run) -> None:
    found = json.loads(run("version", "--json").stdout)
    assert found.keys() == {"python", *PARTS, "packages"}
    assert found["packages"] == {name: str(ROOT / name) for name in PACKAGES}
    assert found["asc-broker"] in run("version").stdout.splitlines()[1]


def test_the_option_prints_the_broker_s_own(run: Run) -> None:
    found = json.loads(run("version", "--json").stdout)
    for arguments in (["--version"], ["--version", "query", "list"]):
        result = run(*arguments)
        assert (result.exit_code, result.stdout) == (0, f"asc-broker {found['asc-broker']}\n")


def test_a_part_that_is_not_installed_is_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def version_of(part: str) -> str:
        if part == "numba":
            raise metadata.PackageNotFoundError(part)
        return "1.0"

    monkeypatch.setattr(metadata, "version", version_of)
    found = json.loads(run("version", "--json").stdout)
    assert (found["numba"], found["numpy"]) == ("not installed", "1.0")
