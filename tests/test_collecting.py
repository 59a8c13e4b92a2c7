"""Collection leaves out no example of a docstring, and the collector goes on after it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = """
import gc

MADE = not gc.isenabled()

def test_the_collector_is_held_off_until_all_is_collected():
    assert MADE
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0
"""
EXAMPLE = '''
def wrong():
    """
    >>> 1 + 1
    3
    """
'''


def test_examples_are_run_and_the_collector_goes_on(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")
    (tmp_path / "test_it.py").write_text(TESTS, "utf-8")
    (tmp_path / "without.py").write_text("raise AssertionError('imported')", "utf-8")
    assert "1 passed" in printed(tmp_path)
    (tmp_path / "example.py").write_text(EXAMPLE, "utf-8")
    assert "1 failed, 1 passed" in printed(tmp_path)


def printed(folder: Path) -> str:
    """Run pytest in a folder with the plugin: the last line."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "collecting", "-p", "no:cacheprovider", "--doctest-modules"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[-1]
