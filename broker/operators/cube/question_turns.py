"""Turns of questions: a few at a time, and each for a bounded time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from broker.cancellation import Cancellation
from broker.errors import SlowAnswerError, TooManyQuestionsError

QUESTIONS_MAX = 8
"""The questions to the cubes of a stream that are answered at a time."""


class QuestionTurns:
    """A bound on questions that are answered at a time. Threads share it; none waits."""

    def __init__(self, most: int = QUESTIONS_MAX) -> None:
        self._most = most
        self._free = threading.Semaphore(most)

    @contextmanager
    def turn(self, limit_s: float, cancellation: Cancellation | None = None) -> Iterator[Callable[[], None]]:
        """Have a question answered, by what calls the yielded function between its parts.

        Raises TooManyQuestionsError where there are as many already. The function raises SlowAnswerError after
        ``limit_s``, and CancelledError where nobody wants the answer any more.
        """
        if not self._free.acquire(blocking=False):
            raise TooManyQuestionsError("questions", self._most, "are answered now: ask again in a second")
        until_s = time.monotonic() + limit_s

        def check() -> None:
            if cancellation is not None:
                cancellation.check()
            if time.monotonic() >= until_s:
                remedy = "took the answer, and no more is allowed: ask for a shorter interval, or raise cube_query_s"
                raise SlowAnswerError("question", f"{limit_s:g} s", remedy)

        try:
            yield check
        finally:
            self._free.release()
