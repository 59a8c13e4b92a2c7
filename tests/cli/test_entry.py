"""The beginning of the command."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

INTERRUPTED = """
import sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "cli.status":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupting())
from cli.entry import run
run()
"""


def ended(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)


def test_an_interrupt_while_it_is_imported_is_one_line() -> None:
    found = ended(INTERRUPTED)
    assert (found.returncode, found.stdout, found.stderr) == (130, "", "interrupted\n")


def test_it_runs_the_command_line() -> None:
    found = ended("import sys; sys.argv = ['asc', 'version']; from cli.entry import run; run()")
    assert (found.returncode, found.stderr) == (0, "")
    assert version("asc-broker") in found.stdout
