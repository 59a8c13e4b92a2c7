"""Processor time of this process and its descendants, which varies less than elapsed time on a shared machine."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


def cpu_s() -> float:
    """Return the seconds of processor time so far, user and system, of the process and its descendants.

    The descendants are Spark's JVM and its Python workers. Times of ended descendants are included in those of their
    parents.
    """
    return sum(cpu_s_by_process().values())


def machine_cpu_s() -> float:
    """Return the seconds of processor time so far of the whole machine, for all processes."""
    fields = Path("/proc/stat").read_text().partition("\n")[0].split()[1:]
    # Exclude idle time and waits for disks (fields 3 and 4, counted from 0). The first two fields include the time of
    # guests, so the fields of guests are not added.
    busy = [ticks for number, ticks in enumerate(map(int, fields[:8])) if number not in (3, 4)]
    return sum(busy) / _TICKS_A_SECOND


def cpu_s_by_process(root: int | None = None) -> dict[int, float]:
    """Return the seconds of processor time so far, by process id, of this process (or ``root``) and its descendants."""
    spent: dict[int, float] = {}
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # The name of the process, in brackets, may contain spaces and brackets. So the fields begin after the
                # last closing bracket.
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
            spent[int(entry.name)] = sum(map(int, fields[11:15])) / _TICKS_A_SECOND
    own = {os.getpid() if root is None else root}
    while True:
        more = {child for child, parent in parents.items() if parent in own} - own
        if not more:
            return {process: spent[process] for process in own if process in spent}
        own |= more
