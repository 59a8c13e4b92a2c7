"""How far the large changes under way are: to those who wait for one it looks as if nothing happened."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

LOG = logging.getLogger("asc.registration")

Step = Literal["read", "validated", "compiled", "written"]
STEPS: tuple[Step, ...] = ("read", "validated", "compiled", "written")

_TOLD = 20_000
"""Queries changed at once that take seconds."""


@dataclass(slots=True)
class Load:
    """A change of so many queries under way; written by the thread that makes it alone.

    ``by``: the name of whose change it is. ``read``: the queries whose predicates are; ``last_step``: the last
    of the STEPS that all of them have behind them.
    """

    queries: int
    read: int = 0
    last_step: Step | None = None
    by: str = ""

    def begin(self) -> None:
        """From the first step on, for what was judged did not stand any more."""
        self.read, self.last_step = 0, None

    def told(self, step: Step, queries: int | None = None) -> None:
        """A step is done, by all or by so many queries: to be seen, and where it took long in the log."""
        self.last_step = step
        count = self.queries if queries is None else queries
        if count >= _TOLD:
            LOG.info("bulk load: %d queries are %s", count, step)

    def shown(self) -> dict[str, Any]:
        """As JSON.

        >>> Load(100_000, read=30_000).shown()
        {'queries': 100000, 'read': 30000, 'last_step': None}
        """
        return {"queries": self.queries, "read": self.read, "last_step": self.last_step}


class Loads:
    """The changes under way, in the order in which they began. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: list[Load] = []

    @contextmanager
    def begun(self, queries: int, by: str = "") -> Iterator[Load]:
        """A change of so many queries is under way until the context ends."""
        load = Load(queries, by=by)
        with self._lock:
            self._under_way.append(load)
        try:
            yield load
        finally:
            with self._lock:
                self._under_way = [one for one in self._under_way if one is not load]

    def shown(self, by: str | None = None) -> list[dict[str, Any]]:
        """All of them, or those of one name, as JSON."""
        return [load.shown() for load in self._under_way if by in (None, load.by)]
