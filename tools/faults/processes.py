"""Searches for the child processes of a process, and the end of a process by SIGKILL."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path


def children(pid: int, named: str = "") -> list[int]:
    """Return the ids of a process's children whose command lines contain ``named``."""
    with contextlib.suppress(OSError):
        listed = [path.read_text("utf-8").split() for path in Path(f"/proc/{pid}/task").glob("*/children")]
        return [int(child) for some in listed for child in some if named in _command(int(child))]
    return []


def descendants(pid: int, named: str = "") -> list[int]:
    """Return the ids of a process's descendants whose command lines contain ``named``: its children, their children,
    and so on.
    """

    def below(parent: int) -> Iterator[int]:
        for child in children(parent):
            yield child
            yield from below(child)

    return [child for child in below(pid) if named in _command(child)]


def kill(pid: int) -> bool:
    """Kill a process, and return whether it existed."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace")
    except OSError:
        return ""
