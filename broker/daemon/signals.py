"""The signals that ask something of the process, from their handlers to the thread that waits for them."""

from __future__ import annotations

import signal
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

_STOPPING = (signal.SIGTERM, signal.SIGINT)


class Signals:
    """SIGTERM and SIGINT ask for the end, SIGHUP has the configuration read again.

    A handler may interrupt anything in the main thread, itself included, so it does one thing: put the signal into a
    queue whose ``put`` may interrupt itself. (An ``Event`` would not do: its ``set`` holds a lock that a second signal
    would wait for, for ever.) Invariant: the other attributes are changed by :meth:`wait` alone.
    """

    def __init__(self) -> None:
        self._arrived: SimpleQueue[signal.Signals] = SimpleQueue()
        self._has_hung_up = False
        self.stop: signal.Signals | None = None
        """The first that asked for the end; None as long as none did."""

    def take_over(self) -> None:
        """Handle the signals of this process; from its main thread."""
        for signum in (*_STOPPING, signal.SIGHUP):
            signal.signal(signum, self._handle)

    def wait(self, timeout_s: float) -> None:
        """Wait for a signal, and take in all that have come."""
        with suppress(Empty):
            self._take(self._arrived.get(timeout=timeout_s))
            for _ in range(self._arrived.qsize()):
                self._take(self._arrived.get_nowait())

    def take_hang_up(self) -> bool:
        """Return whether there was a SIGHUP since the last call: many at once are one."""
        has_hung_up, self._has_hung_up = self._has_hung_up, False
        return has_hung_up

    def _take(self, found: signal.Signals) -> None:
        if found in _STOPPING:
            self.stop = self.stop or found
        else:
            self._has_hung_up = True

    def _handle(self, signum: int, _: Any) -> None:
        self._arrived.put(signal.Signals(signum))
