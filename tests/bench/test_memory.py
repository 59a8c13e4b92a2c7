"""The most memory that processes had."""

from __future__ import annotations

import subprocess
import sys

from bench.memory import PeakMemory

MIB = 1 << 20
HOLDS = "import sys; held = bytearray(b'x') * (64 << 20); print('held', flush=True); sys.stdin.read()"
STARTS = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HOLDS!r}])"


def test_what_a_process_started_is_counted() -> None:
    peak = PeakMemory()
    with subprocess.Popen([sys.executable, "-c", STARTS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        with peak.watching(process.pid):
            pass
        assert process.stdin is not None
        process.stdin.close()
    assert 64 * MIB < peak.size_bytes < 256 * MIB
    # The process is gone, and what it had stays noted.
    before = peak.size_bytes
    with peak.watching(process.pid):
        pass
    assert peak.size_bytes == before
