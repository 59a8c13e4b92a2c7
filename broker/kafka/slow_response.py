"""Notification when Kafka is slow to answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

SAID_AFTER_S = 3.0
"""The seconds without an answer after which the notification is given. A healthy Kafka answers sooner."""

_LOOK_EACH_S = 0.25


class SlowResponse:
    """Notifier that calls back from a separate thread when a block within :meth:`waiting` takes long. It calls back
    again only after another block has ended.

    >>> with SlowResponse(lambda: print("Kafka is silent"), after_s=60) as silence:
    ...     with silence.waiting():
    ...         pass
    """

    def __init__(self, say: Callable[[], object], after_s: float | None = None) -> None:
        self._say = say
        self._after_s = SAID_AFTER_S if after_s is None else after_s
        self._since: float | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="silence-of-kafka", daemon=True)

    def __enter__(self) -> SlowResponse:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Watch the block of this context, which may take long. Cost: two assignments."""
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._since = None

    def _watch(self) -> None:
        said: float | None = None
        while not self._ended.wait(_LOOK_EACH_S):
            since_s = self._since
            if since_s is not None and since_s != said and time.monotonic() - since_s > self._after_s:
                said = since_s
                self._say()
