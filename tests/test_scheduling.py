"""Tests of one daemon run in one process, whatever number of processes a run has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TEST = """
import os
from pathlib import Path

def test_it():
    Path(__file__).parent.joinpath(f"{Path(__file__).stem}.pid").write_text(str(os.getpid()))
"""


def test_files_of_the_command_line_share_a_process_and_others_need_not(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")
    files = [
        tmp_path / "tests" / f"{name}.py" for name in ("cli/test_a", "cli/query/test_b", "cli/test_c", "asc/test_d")
    ]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(TEST, "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    plugins = ("xdist.plugin", "tests.scheduling", "no:cacheprovider")
    command = [sys.executable, "-m", "pytest", *(f"-p{name}" for name in plugins), "-n2", "--dist=loadfile", "-q"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert "4 passed" in done.stdout, done.stdout + done.stderr
    pids = [file.with_suffix(".pid").read_text("utf-8") for file in files]
    assert len({*pids[:3]}) == 1
    assert pids[3] != pids[0]
