"""The signals to the process, passed from their handlers to the thread that waits for them."""

from __future__ import annotations

import signal
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

_STOPPING = (signal.SIGTERM, signal.SIGINT)


class Signals:
    """The received signals: SIGTERM and SIGINT request a stop, SIGHUP a reload of the configuration.

    A handler may interrupt any code of the main thread, including itself. So it only puts the signal into a queue whose
    ``put`` is reentrant. (The ``set`` of an ``Event`` holds a lock, for which a second signal would wait for ever.)
    Invariant: only :meth:`wait` and :meth:`take_hang_up` change the other attributes.
    """

    def __init__(self) -> None:
        self._arrived: SimpleQueue[signal.Signals] = SimpleQueue()
        self._has_hung_up = False
        self.stop: signal.Signals | None = None
        """The first signal that requested a stop; None if there was none."""

    def take_over(self) -> None:
        """Install the handlers of the signals. Call this in the main thread."""
        for signum in (*_STOPPING, signal.SIGHUP):
            signal.signal(signum, self._handle)

    def wait(self, timeout_s: float) -> None:
        """Wait for a signal, and process all received signals."""
        with suppress(Empty):
            self._take(self._arrived.get(timeout=timeout_s))
            for _ in range(self._arrived.qsize()):
                self._take(self._arrived.get_nowait())

    def take_hang_up(self) -> bool:
        """Return whether a SIGHUP arrived since the last call. Several signals count as one."""
        has_hung_up, self._has_hung_up = self._has_hung_up, False
        return has_hung_up

    def _take(self, found: signal.Signals) -> None:
        if found in _STOPPING:
            self.stop = self.stop or found
        else:
            self._has_hung_up = True

    def _handle(self, signum: int, _: Any) -> None:
        self._arrived.put(signal.Signals(signum))
