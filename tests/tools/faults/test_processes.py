"""Processes are found by who started them, and end when they are killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from tools.faults.processes import children, descendants, kill

_PARENT = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']).wait()"


def test_children_and_theirs_are_found_and_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", _PARENT])
    try:
        deadline = time.monotonic() + 120
        while not descendants(parent.pid, "sleep(60)"):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert parent.pid in children(os.getpid(), "Popen")
        (grandchild,) = descendants(parent.pid, "sleep(60)")
        assert grandchild in descendants(os.getpid())
        assert kill(grandchild)
        assert parent.wait(timeout=20) == 0
    finally:
        parent.kill()
        parent.wait()
    assert children(parent.pid) == []
    assert not kill(parent.pid)
