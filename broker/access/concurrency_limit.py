"""The limit of concurrent requests of each caller."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class _Caller:
    free: asyncio.Semaphore
    requests: int = 0


class ConcurrencyLimit:
    """At most ``at_once`` requests of a caller at a time; those beyond wait in their order, and nobody else for them.

    Invariant: it holds the callers that have a request here, and no others. For the tasks of one event loop.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._callers: dict[str, _Caller] = {}

    @asynccontextmanager
    async def of(self, name: str) -> AsyncIterator[None]:
        """Wait until a request of that caller may run; it occupies a slot during the block."""
        caller = self._callers.setdefault(name, _Caller(asyncio.Semaphore(self._at_once)))
        caller.requests += 1
        try:
            async with caller.free:
                yield
        finally:
            caller.requests -= 1
            if not caller.requests:
                del self._callers[name]
