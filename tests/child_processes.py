"""Processes that a process has started."""

from __future__ import annotations

from pathlib import Path


def children(pid: int, name: str) -> list[int]:
    """Return the running processes that a process has started and whose command line has that in it."""
    listed = [
        int(child) for task in Path(f"/proc/{pid}/task").glob("*/children") for child in task.read_text("utf-8").split()
    ]
    return [child for child in listed if name in _command_line(child)]


def _command_line(pid: int) -> str:
    # A process may end between the listing and this read: its entry is gone, or has no text any more.
    try:
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""
