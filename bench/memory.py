"""The measurement of the memory of a process and its descendants."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench.background_load import background_load
from bench.cpu_time import cpu_s_by_process

_PAUSE_S = 1.0


class PeakMemory:
    """The peak memory of a process and its descendants together.

    Memory that several processes map counts once: each process contributes its proportional share (``Pss``).
    """

    def __init__(self) -> None:
        self.size_bytes = 0

    @contextmanager
    def watching(self, root: int | None) -> Iterator[None]:
        """Measure the memory of the process ``root`` and its descendants once a second, and once at the end of the
        block. For None, measure this process and its descendants.
        """
        with background_load(partial(self._look, root)):
            yield
        self._note(root)

    def _look(self, root: int | None, ended: threading.Event) -> None:
        while not ended.wait(_PAUSE_S):
            self._note(root)

    def _note(self, root: int | None) -> None:
        self.size_bytes = max(self.size_bytes, sum(map(_share_bytes, cpu_s_by_process(root))))


def _share_bytes(pid: int) -> int:
    """Return the memory of a process in bytes, with a proportional share of the memory that it shares with other
    processes. Return 0 if the process has ended.
    """
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text("utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
