"""Processes that a process has started."""

from __future__ import annotations

from pathlib import Path


def children(pid: int, name: str) -> list[int]:
    """Return the processes that a process has started and whose command line has that in it."""
    found = [
        int(child)
        for listed in Path(f"/proc/{pid}/task").glob("*/children")
        for child in listed.read_text("utf-8").split()
    ]
    return [child for child in found if name in Path(f"/proc/{child}/cmdline").read_text("utf-8", "replace")]
