"""The cancellation of work that a request started: its caller is gone, or the daemon stops."""

from __future__ import annotations

import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import TypeVar

from broker.errors import CancelledError

_LOOK_S = 0.2
"""The pause between two looks of one who waits for an answer of Spark."""

_T = TypeVar("_T")


class Cancellation:
    """A mark that work is not wanted any more; loops of long work look at it. Threads may share it.

    One that is made ``within`` another is cancelled with that one. Invariant: once cancelled, it stays so. Cost of a
    look: some hundred nanoseconds.

    >>> of_daemon = Cancellation()
    >>> of_request = Cancellation(of_daemon)
    >>> of_request.check()
    >>> of_daemon.cancel("the daemon stops")
    >>> of_request.check()
    Traceback (most recent call last):
    broker.errors.CancelledError: request: was cancelled, for the daemon stops: send it again
    """

    __slots__ = ("_reason", "_within")

    def __init__(self, within: Cancellation | None = None) -> None:
        self._within = within
        self._reason: str | None = None

    def cancel(self, reason: str) -> None:
        """Mark the work as not wanted any more, with the reason; the first one stays."""
        self._reason = self._reason or reason

    @property
    def reason(self) -> str | None:
        """Return why the work is not wanted any more; None while it is."""
        return self._reason or (None if self._within is None else self._within.reason)

    def check(self) -> None:
        """Raise CancelledError where the work is not wanted any more."""
        reason = self.reason
        if reason is not None:
            raise CancelledError("request", None, f"was cancelled, for {reason}: send it again")

    def result(self, asked: Future[_T], timeout_s: float | None) -> _T:
        """Return the result of what another thread does, whose errors it raises.

        Raises concurrent.futures.TimeoutError where it takes longer, CancelledError where it is not wanted any more.
        """
        until_s = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            left_s = _LOOK_S if until_s is None else min(_LOOK_S, until_s - time.monotonic())
            try:
                return asked.result(max(0.0, left_s))
            except FutureTimeoutError:
                # The work itself may have raised such an error.
                if asked.done():
                    raise
                self.check()
                if until_s is not None and time.monotonic() >= until_s:
                    raise
