"""Turns of questions: a few at a time, each for a bounded time, and all of them within a bound of memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from asc.errors import CubeError
from broker.cancellation import Cancellation
from broker.errors import SlowAnswerError, TooManyQuestionsError

QUESTIONS_MAX = 8
"""The questions to the cubes of a stream that are answered at a time."""

QUESTIONS_BYTES_MAX = 2 << 30
"""The bytes of the cells that all questions to the cubes of a stream hold at a time."""


class QuestionTurns:
    """A bound on questions that are answered at a time, and on the cells that they hold. Threads share it; none waits.

    Invariant: ``size_bytes`` is the sum of what the questions with a turn have reserved.
    """

    def __init__(self, most: int = QUESTIONS_MAX, most_bytes: int = QUESTIONS_BYTES_MAX) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._free = threading.Semaphore(most)
        self._lock = threading.Lock()
        self.size_bytes = 0

    @contextmanager
    def turn(self, limit_s: float, cancellation: Cancellation | None = None) -> Iterator[Callable[[int], None]]:
        """Have a question answered, which calls the yielded function before each part, with the bytes of its cells.

        Raises TooManyQuestionsError where there are as many already. The function raises SlowAnswerError after
        ``limit_s``, CancelledError where nobody wants the answer any more, CubeError where the question takes more
        memory than all may, and TooManyQuestionsError where it does so together with others.
        """
        if not self._free.acquire(blocking=False):
            raise TooManyQuestionsError("questions", self._most, "are answered now: ask again in a second")
        until_s = time.monotonic() + limit_s
        held_bytes = 0

        def reserve(size_bytes: int) -> None:
            nonlocal held_bytes
            if cancellation is not None:
                cancellation.check()
            if time.monotonic() >= until_s:
                remedy = "took the answer, and no more is allowed: ask for a shorter interval, or raise cube_query_s"
                raise SlowAnswerError("question", f"{limit_s:g} s", remedy)
            with self._lock:
                self.size_bytes += size_bytes
                held_bytes += size_bytes
                is_over = self.size_bytes > self._most_bytes
            if held_bytes > self._most_bytes:
                remedy = f"may hold {self._most_bytes:,} of cells: ask for a shorter interval, or fewer cuboids"
                raise CubeError("question", f"over {self._most_bytes:,} bytes", remedy)
            if is_over:
                remedy = "are held by the questions that are answered now: ask again in a second"
                raise TooManyQuestionsError("bytes of cells", f"{self._most_bytes:,}", remedy)

        try:
            yield reserve
        finally:
            with self._lock:
                self.size_bytes -= held_bytes
            self._free.release()
