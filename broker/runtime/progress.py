"""Progress of a transfer of jars: a bar of bytes on a terminal, otherwise a line per jar."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import TracebackType

from tqdm import tqdm

Progress = Callable[[str], None]
"""A callback that receives a line about the work in progress. It is called only if a step takes a noticeable time."""


def print_to_stderr(line: str) -> None:
    """Print a line of progress on standard error."""
    print(line, file=sys.stderr, flush=True)


class Transfer:
    """A transfer (``what``) of ``count`` jars with ``total_bytes`` in total, within a ``with`` block.

    On a terminal (stderr), a bar is drawn and removed at the end. Otherwise ``progress`` receives a line per finished
    jar.
    """

    def __init__(self, what: str, count: int, total_bytes: int, progress: Progress) -> None:
        self._progress = progress
        self._count = count
        self._finished = 0
        self._lock = threading.Lock()
        hidden = not sys.stderr.isatty()
        self._bar = tqdm(total=total_bytes, desc=what, disable=hidden, unit="B", unit_scale=True, leave=False)

    def __enter__(self) -> Transfer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.close()

    def advanced(self, by_bytes: int) -> None:
        """Add bytes that have arrived. A negative number means that a jar is fetched again. May be called from any
        thread.
        """
        with self._lock:
            self._bar.update(by_bytes)

    def finished(self, name: str) -> None:
        """Count a finished jar. Call it in the thread of the transfer's owner, whose exception ends the transfer."""
        self._finished += 1
        if self._bar.disable:
            self._progress(f"  {self._finished:3d}/{self._count} {name}")
