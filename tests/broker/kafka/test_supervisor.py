"""The supervisor: its command lives as long as the owner's pipe, and its end is told."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from broker.kafka import supervisor

_IMPATIENT = "import sys; sys.path.insert(0, sys.argv[1]); import supervisor; supervisor.STOP_TIMEOUT_S = 0.1; "
_IMPATIENT += "sys.exit(supervisor.main(sys.argv[2:]))"

Run = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def run() -> Iterator[Run]:
    """Starts supervisors of shell scripts; the pipe is the owner's end. Whatever is left is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(script: str, *, impatient: bool = False, **environment: str) -> subprocess.Popen[str]:
        file = Path(supervisor.__file__)
        own = ["-c", _IMPATIENT, str(file.parent)] if impatient else [str(file)]
        descriptors = [int(number) for number in environment.get("ASC_LOCK_FD", "").split()]
        started.append(
            subprocess.Popen(
                [sys.executable, *own, "sh", "-c", script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                pass_fds=descriptors,
                env={**os.environ, **environment},
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def close_pipe(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    process.stdin = None


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -KILL $$", 128 + 9), ("kill -TERM $$", 128 + 15)]
)
def test_the_code_is_that_of_the_command(run: Run, script: str, code: int) -> None:
    assert run(script).wait(120) == code


def test_the_command_is_told_to_stop_when_the_pipe_ends(run: Run) -> None:
    process = run("trap 'echo stopping; exit 3' TERM; echo ready; while :; do sleep 0.01; done")
    assert line_of(process) == "ready"
    close_pipe(process)
    assert process.wait(120) == 3
    assert line_of(process) == "stopping"


def test_a_command_that_does_not_stop_is_killed(run: Run) -> None:
    process = run("trap '' TERM; echo ready; while :; do sleep 0.01; done", impatient=True)
    assert line_of(process) == "ready"
    close_pipe(process)
    assert process.wait(120) == 128 + signal.SIGKILL


def test_signals_of_the_terminal_stop_neither_and_the_command_can_be_signalled(run: Run) -> None:
    process = run("trap 'echo asked' HUP; echo $$; while :; do sleep 0.01; done")
    command = int(line_of(process))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process.send_signal(number)
    # The command has its signals as any other: the supervisor's being deaf is not passed on.
    os.kill(command, signal.SIGHUP)
    assert line_of(process) == "asked"
    assert process.poll() is None
    os.kill(command, signal.SIGINT)
    assert process.wait(120) == 128 + signal.SIGINT


def test_the_command_dies_with_a_supervisor_that_is_killed(run: Run) -> None:
    process = run("echo $$; while :; do sleep 0.01; done")
    command = int(line_of(process))
    end = os.pidfd_open(command)
    process.kill()
    try:
        ended, _, _ = select.select([end], [], [], 30)
    finally:
        os.close(end)
    assert ended == [end]


def test_the_command_has_no_input_and_the_descriptors_of_locks(run: Run, tmp_path: Path) -> None:
    lock = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    other = os.open(tmp_path / "other", os.O_RDWR | os.O_CREAT)
    os.set_inheritable(other, True)
    try:
        process = run(f"cat; readlink /proc/$$/fd/{lock}; readlink /proc/$$/fd/{other}", ASC_LOCK_FD=str(lock))
        assert line_of(process) == str(tmp_path / "lock")
        assert process.wait(120) == 1
    finally:
        os.close(lock)
        os.close(other)
