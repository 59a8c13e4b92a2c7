"""Benchmarks one after the other, each in a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.bench_all import run_each

INTERRUPTED = """
import sys
from pathlib import Path
import pytest

from cli.bench_all import run_each
try:
    list(run_each(["scale"], Path(sys.argv[1]), quick=False))
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.nightly
def test_each_leaves_its_result_and_what_it_printed(tmp_path: Path) -> None:
    failed, done = run_each(["unknown", "match"], tmp_path / "new", quick=True)
    assert (failed.name, failed.exit_code, done.name, done.exit_code) == ("unknown", 2, "match", 0)
    assert "no such command 'unknown'" in failed.reason.lower()
    assert failed.reason == failed.log.read_text("utf-8").splitlines()[-1]
    assert done.reason == ""
    assert done.log == tmp_path / "new" / "match.log"
    assert "queries" in done.log.read_text("utf-8")
    assert json.loads((tmp_path / "new" / "match.json").read_text("utf-8"))["benchmark"] == "match"


def test_a_benchmark_without_output_fails_by_its_exit_code(tmp_path: Path) -> None:
    (silent,) = run_each(["unknown"], tmp_path, quick=False)
    silent.log.write_text("\n", "utf-8")
    assert silent.reason == "ended with 2"


def test_an_interrupt_ends_the_one_that_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-c", INTERRUPTED, tmp_path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        end_s = time.monotonic() + 60
        while not (children := children_of(process.pid)) and time.monotonic() < end_s:
            time.sleep(0.05)
        (child,) = children
        while not (tmp_path / "scale.log").exists() and time.monotonic() < end_s:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[0] == "interrupted\n"
    assert not Path(f"/proc/{child}").exists()


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()]
