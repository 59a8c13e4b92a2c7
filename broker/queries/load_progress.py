"""The progress of large changes, for callers who wait for a change."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from broker.cancellation import Cancellation

LOG = logging.getLogger("asc.registration")

Step = Literal["read", "validated", "compiled", "written"]
STEPS: tuple[Step, ...] = ("read", "validated", "compiled", "written")

_LOGGED_QUERIES = 20_000
"""The smallest number of queries of a change whose steps are logged, because such a change takes seconds."""


@dataclass(slots=True)
class LoadProgress:
    """The progress of a change of ``queries`` queries. Only the thread that makes the change writes to this object.

    ``by``: the name of the caller. ``read``: the number of queries whose predicates are parsed. ``last_step``: the last
    entry of STEPS that is finished for all queries. ``cancellation``: checked until the change is written.
    """

    queries: int
    read: int = 0
    last_step: Step | None = None
    by: str = ""
    cancellation: Cancellation = field(default_factory=Cancellation)

    def begin(self) -> None:
        """Reset the progress to the first step. This also happens when the changes are validated anew."""
        self.read, self.last_step = 0, None

    def note_done(self, step: Step, queries: int | None = None) -> None:
        """Note a step as finished for all queries, or for ``queries`` queries, and log it if the number is large."""
        self.last_step = step
        count = self.queries if queries is None else queries
        if count >= _LOGGED_QUERIES:
            LOG.info("bulk load: %d queries are %s", count, step)

    def shown(self) -> dict[str, Any]:
        """Return the progress as a JSON object.

        >>> LoadProgress(100_000, read=30_000).shown()
        {'queries': 100000, 'read': 30000, 'last_step': None}
        """
        return {"queries": self.queries, "read": self.read, "last_step": self.last_step}


class RunningLoads:
    """The changes in progress, in the order in which they began. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: list[LoadProgress] = []

    @contextmanager
    def started(self, queries: int, by: str = "", cancellation: Cancellation | None = None) -> Iterator[LoadProgress]:
        """Enter a context during which a change of ``queries`` queries is in progress."""
        load = LoadProgress(queries, by=by, cancellation=cancellation or Cancellation())
        with self._lock:
            self._running.append(load)
        try:
            yield load
        finally:
            with self._lock:
                self._running = [other for other in self._running if other is not load]

    def shown(self, by: str | None = None) -> list[dict[str, Any]]:
        """Return the progress of all changes in progress, or of one caller's, as JSON objects."""
        return [load.shown() for load in self._running if by in (None, load.by)]
