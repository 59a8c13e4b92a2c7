"""Cancellation of work for a request, when the caller disconnects or the daemon stops."""

from __future__ import annotations

import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import TypeVar

from broker.errors import CancelledError

_LOOK_S = 0.2
"""The seconds between two checks for cancellation while a thread waits for the result of another thread."""

_T = TypeVar("_T")


class Cancellation:
    """A flag that cancels work. The loops of long work check the flag. Several threads may share one flag.

    A flag that is created ``within`` another flag is cancelled with the other. Invariant: a cancelled flag stays
    cancelled. Cost of a check: some hundred nanoseconds.

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
        """Cancel the work for this reason. A later reason does not replace the first."""
        self._reason = self._reason or reason

    @property
    def reason(self) -> str | None:
        """Return why the work was cancelled. Return None if it is not cancelled."""
        return self._reason or (None if self._within is None else self._within.reason)

    def check(self) -> None:
        """Raise CancelledError if the work is cancelled."""
        reason = self.reason
        if reason is not None:
            raise CancelledError("request", None, f"was cancelled, for {reason}: send it again")

    def result(self, asked: Future[_T], timeout_s: float | None) -> _T:
        """Return the result of work in another thread. If the work raised an error, raise that error.

        Raise concurrent.futures.TimeoutError if the result takes longer than the timeout. Raise CancelledError if the
        work is cancelled.
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
