"""The start of the command, beside packages of other projects."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from broker.packages import PACKAGES

ROOT = Path(__file__).parents[2]
COMMAND = "import sys; sys.argv = ['asc', 'version']; from asc.command import run; run()"


def ended(folder: Path, *places: Path) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}
    command = [sys.executable, "-c", COMMAND]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=60, check=False)


def test_it_runs_the_command_line(tmp_path: Path) -> None:
    found = ended(tmp_path, ROOT)
    assert (found.returncode, found.stderr) == (0, "")
    assert version("asc-broker") in found.stdout


# Another 'asc' is imported in place of this module.
@pytest.mark.parametrize("name", [name for name in PACKAGES if name != "asc"])
def test_a_package_of_another_project_is_one_line(name: str, tmp_path: Path) -> None:
    package = tmp_path / "other" / name
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('is imported')\n", "utf-8")
    found = ended(tmp_path, package.parent, ROOT)
    assert (found.returncode, found.stdout) == (1, "")
    (line,) = found.stderr.splitlines()
    assert line == (
        f"error: package '{name}': {package} is not asc-broker's, which is in {ROOT}; install asc-broker into an "
        "environment of its own, or rename that folder"
    )
