"""Bulk loads in several requests. The parts of a load are kept in memory until a further request applies all of them in
one step.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request

from broker.answers.query import Applied, PartLoad
from broker.errors import BrokerError, NotThereError, TooLargeLoadError
from broker.http.bulk import load_lines
from broker.http.conditional import replaces
from broker.http.scoped_service import ScopedService

_UNFINISHED_MAX = 16
"""The most unfinished loads of all callers together. A load is unfinished until a request applies or deletes it."""

_OF_CALLER_MAX = 4
_PARTS_MAX = 10_000
_IDLE_S = 300.0
"""The seconds without a new part after which an unfinished load is removed."""


@dataclass(slots=True)
class _Unfinished:
    """A load that is not applied yet. ``by``: the name of its caller. ``touched_s``: the time of the last part, on a
    monotonic clock. ``parts``: the content of the parts, by number. ``size``: their total size in bytes. ``is_taken``:
    whether a request is applying the load.
    """

    by: str
    touched_s: float
    parts: dict[int, bytes] = field(default_factory=dict)
    size: int = 0
    is_taken: bool = False


class PartLoads:
    """The unfinished bulk loads of the API, each in parts. Thread-safe.

    Invariant: the number of loads is limited, and their parts have at most ``bytes_max`` bytes together. When a load
    begins or grows, loads that were idle for longer than ``idle_s`` are removed. Only the caller that began a load can
    use it. Cost: the memory of the parts; twice as much while a load is applied, because its parts are joined.
    """

    def __init__(self, bytes_max: int, *, idle_s: float = _IDLE_S, now_s: Callable[[], float] = time.monotonic) -> None:
        self._bytes_max = bytes_max
        self._idle_s = idle_s
        self._now_s = now_s
        self._lock = threading.Lock()
        self._loads: dict[str, _Unfinished] = {}

    def begin(self, by: str) -> str:
        """Begin a load of the caller ``by``, and return the load's id. Raise BrokerError if all callers, or this
        caller, have too many unfinished loads.
        """
        with self._lock:
            self._forget_idle()
            own = sum(load.by == by for load in self._loads.values())
            if len(self._loads) >= _UNFINISHED_MAX or own >= _OF_CALLER_MAX:
                remedy = f"are unfinished: try again in a moment, or within {self._idle_s:g} s"
                raise BrokerError("loads", len(self._loads), remedy)
            load_id = secrets.token_urlsafe(16)
            self._loads[load_id] = _Unfinished(by, self._now_s())
            return load_id

    def put(self, load_id: str, by: str, number: int, content: bytes) -> dict[str, Any]:
        """Add a part to a load, or replace the part with the same number. Return the load's id, number of parts and
        size.

        Raise NotThereError if the caller has no such load, and TooLargeLoadError if all loads together would be too
        large.
        """
        with self._lock:
            self._forget_idle()
            load = self._load_of(load_id, by)
            more = len(content) - len(load.parts.get(number, b""))
            held = sum(one.size for one in self._loads.values()) + more
            if held > self._bytes_max:
                remedy = "are more than api.max_load_bytes, of all unfinished loads: raise it, or load fewer at a time"
                raise TooLargeLoadError("parts of loads", f"{held} bytes", remedy)
            load.parts[number] = content
            load.size += more
            load.touched_s = self._now_s()
            return self._shown(load_id, load)

    @contextmanager
    def taken(self, load_id: str, by: str) -> Iterator[bytes]:
        """Enter a context that yields the content of a load: the lines of all parts, in the order of the parts'
        numbers. At the end of the context the load is removed, even after an error. Raise NotThereError if the caller
        has no such load, or if a part is missing.
        """
        with self._lock:
            load = self._load_of(load_id, by)
            missing = next((number for number in range(1, len(load.parts) + 1) if number not in load.parts), None)
            if missing is not None:
                raise NotThereError("part of a load", missing, "is missing: put it, and commit again")
            load.is_taken = True
        try:
            yield b"\n".join(load.parts[number].removesuffix(b"\n") for number in sorted(load.parts))
        finally:
            with self._lock:
                self._loads.pop(load_id, None)

    def forget(self, load_id: str, by: str) -> dict[str, Any]:
        """Remove a load, and return its id, number of parts and size. Raise NotThereError if the caller has no such
        load.
        """
        with self._lock:
            load = self._load_of(load_id, by)
            del self._loads[load_id]
            return self._shown(load_id, load)

    def _load_of(self, load_id: str, by: str) -> _Unfinished:
        load = self._loads.get(load_id)
        if load is None or load.by != by or load.is_taken:
            remedy = f"is not known: it was made, or nothing came to it for {self._idle_s:g} s; begin it again"
            raise NotThereError("load", load_id[:100], remedy)
        return load

    def _forget_idle(self) -> None:
        before_s = self._now_s() - self._idle_s
        idle = [one for one, load in self._loads.items() if load.touched_s < before_s and not load.is_taken]
        for load_id in idle:
            del self._loads[load_id]

    def _shown(self, load_id: str, load: _Unfinished) -> dict[str, Any]:
        return {"id": load_id, "parts": len(load.parts), "bytes": load.size}


def part_load_routes(permitted_of: Callable[[Request], ScopedService], loads: PartLoads) -> APIRouter:
    """Return the routes under ``/v1/loads``, for loads in parts."""
    router = APIRouter(prefix="/v1/loads", tags=["queries"])
    of_caller = Depends(permitted_of)
    may_replace = Depends(replaces)

    @router.post("", response_model=PartLoad, status_code=201)
    def begin(permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Begin a bulk load in parts, and return its id. A load that receives no part for five minutes is deleted."""
        permitted.check_may_change()
        return {"id": loads.begin(permitted.caller), "parts": 0, "bytes": 0}

    @router.put("/{load_id}/parts/{number}", response_model=PartLoad)
    async def put(
        request: Request,
        load_id: str,
        number: Annotated[int, Path(ge=1, le=_PARTS_MAX)],
        permitted: ScopedService = of_caller,
    ) -> dict[str, Any]:
        """Add a part to a load. A part consists of whole lines of NDJSON. Parts are numbered from 1; a part with the
        same number is replaced.
        """
        return loads.put(load_id, permitted.caller, number, await request.body())

    @router.post("/{load_id}/commit", response_model=Applied)
    def commit(
        load_id: str,
        *,
        keep_going: bool = False,
        dry_run: bool = False,
        replaces: bool = may_replace,
        permitted: ScopedService = of_caller,
    ) -> dict[str, Any]:
        """Apply a load in one step, as a single request with all its lines would be applied. Afterwards the load is
        deleted, even if it was refused.
        """
        with loads.taken(load_id, permitted.caller) as content:
            return load_lines(permitted, content, keep_going=keep_going, replaces=replaces, is_rehearsal=dry_run)

    @router.delete("/{load_id}", response_model=PartLoad)
    def forget(load_id: str, permitted: ScopedService = of_caller) -> dict[str, Any]:
        """Delete a load without applying it. No query is changed."""
        return loads.forget(load_id, permitted.caller)

    return router
