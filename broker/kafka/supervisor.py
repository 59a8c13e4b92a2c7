"""Run one command for as long as its owner lives: ``python supervisor.py COMMAND...``, with a pipe from the owner as
input.

The pipe ends when the owner closes it or dies in any way. The command then receives SIGTERM, and is killed if it does
not end. If the supervisor itself is killed, the kernel kills the command (PR_SET_PDEATHSIG). The module imports nothing
of the broker, so it starts in a few hundredths of a second.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys

STOP_TIMEOUT_S = 20
_PR_SET_PDEATHSIG = 1


def main(command: list[str]) -> int:
    """Run the command, and return its exit code, or 128 + signal."""
    # Only the end of the pipe stops the command, so that the owner can finish what it is doing after a Ctrl-C.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    inherited = tuple(int(descriptor) for descriptor in os.environ.get("ASC_LOCK_FD", "").split() if descriptor)
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        pass_fds=inherited,
        preexec_fn=_prepare_child,  # noqa: PLW1509  (this process has one thread)
    )
    exited = os.pidfd_open(child.pid)
    ready, _, _ = select.select([sys.stdin.fileno(), exited], [], [])
    if exited not in ready:
        child.terminate()
        try:
            child.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            child.kill()
    code = child.wait()
    return code if code >= 0 else 128 - code


def _prepare_child() -> None:
    """Set the signal handling of the child process before it executes the command."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
