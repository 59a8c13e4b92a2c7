"""What differs between the gate and a nightly run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

TESTS = """
import json
from hypothesis import given, settings
from hypothesis.strategies import integers

DRAWN = []

@settings(max_examples=20)
@given(integers())
def test_draws(number):
    DRAWN.append(number)

def test_writes_down(full_size):
    with open("drawn.json", "w") as file:
        json.dump([full_size, DRAWN], file)
"""


def test_the_gate_draws_the_same_examples_in_every_run(tmp_path: Path) -> None:
    first, _ = drawn(tmp_path)
    assert first == drawn(tmp_path)[0]
    assert first[0] is False


def test_a_nightly_run_draws_at_random_and_prints_what_draws_the_same(tmp_path: Path) -> None:
    first, printed = drawn(tmp_path, "--nightly")
    assert first[0] is True
    assert first != drawn(tmp_path, "--nightly")[0]
    (seed,) = re.findall(r"--hypothesis-seed=\d+", printed)
    assert first == drawn(tmp_path, "--nightly", seed)[0]
    assert "2 passed" in printed.splitlines()[-1]


def drawn(folder: Path, *options: str) -> tuple[list[object], str]:
    """Run pytest in a folder with the plugin: the size, the examples, and what the run printed."""
    (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
    (folder / "test_random.py").write_text(TESTS, "utf-8")
    # Other plugins take seconds to load.
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    plugins = ["-p", "tiers", "-p", "_hypothesis_pytestplugin", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((folder / "drawn.json").read_text("utf-8")), done.stdout
