"""The limit of concurrent requests per caller."""

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
    """Limit of ``at_once`` concurrent requests per caller. Further requests of the caller wait in order; other callers
    do not wait for them.

    Invariant: the object holds the callers that have a running or waiting request, and no others. The object is used by
    the tasks of one event loop.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._callers: dict[str, _Caller] = {}

    @asynccontextmanager
    async def of(self, name: str) -> AsyncIterator[None]:
        """Wait until a request of the caller may run. The request occupies a slot during the ``with`` block."""
        caller = self._callers.setdefault(name, _Caller(asyncio.Semaphore(self._at_once)))
        caller.requests += 1
        try:
            async with caller.free:
                yield
        finally:
            caller.requests -= 1
            if not caller.requests:
                del self._callers[name]
