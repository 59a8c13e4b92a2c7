"""Processor time of a process and all that it started, those that have ended among them."""

from __future__ import annotations

import subprocess
import sys

from bench.cpu_time import cpu_s, cpu_s_by_process, machine_cpu_s

SPENT_S = 0.3
TICK_S = 0.02
"""The kernel counts in hundredths of a second, user and system apart."""

_WORK = f"""
import sys, time
while time.process_time() < {SPENT_S}:
    pass
print("done", flush=True)
sys.stdin.read()
"""
_PARENT = "import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', sys.argv[1]]).returncode)"


def test_a_child_of_a_child_counts_while_it_lives_and_after_it() -> None:
    before = cpu_s()
    command = [sys.executable, "-c", _PARENT, _WORK]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"done\n"
        living = cpu_s()
        assert living - before >= SPENT_S - TICK_S
    assert child.returncode == 0
    assert cpu_s() >= living - TICK_S


def test_the_machine_has_spent_what_a_process_has() -> None:
    before = machine_cpu_s()
    with subprocess.Popen([sys.executable, "-c", _WORK], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"done\n"
        assert set(cpu_s_by_process(child.pid)) == {child.pid}
        assert cpu_s_by_process(child.pid)[child.pid] >= SPENT_S - TICK_S
        assert machine_cpu_s() - before >= SPENT_S - TICK_S
