"""Slots of questions to cubes. They limit the number of concurrent questions, the time of each question, and the memory
of all questions.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from asc.errors import CubeError
from broker.cancellation import Cancellation
from broker.errors import SlowAnswerError, TooManyQuestionsError

QUESTIONS_MAX = 8
"""The most questions to the cubes of a stream that are answered concurrently."""

QUESTIONS_BYTES_MAX = 2 << 30
"""The most bytes of memory that all questions to the cubes of a stream reserve together: for cells, working memory and
rows.
"""


class QuestionTurns:
    """A limit on the number of questions that are answered concurrently, and on the memory that they reserve.
    Thread-safe. A question beyond a limit is refused at once, and does not wait.

    Invariant: ``size_bytes`` is the sum of the bytes that the questions with a slot have reserved.
    """

    def __init__(self, most: int = QUESTIONS_MAX, most_bytes: int = QUESTIONS_BYTES_MAX) -> None:
        self._most = most
        self.most_bytes = most_bytes
        self._free = threading.Semaphore(most)
        self._lock = threading.Lock()
        self.size_bytes = 0

    @contextmanager
    def turn(self, limit_s: float, cancellation: Cancellation | None = None) -> Iterator[Turn]:
        """Give a question a slot. Through the slot, the question reserves the memory of each part of its work in
        advance. ``limit_s``: the seconds until the deadline of the question.

        Raise TooManyQuestionsError if all slots are in use.
        """
        if not self._free.acquire(blocking=False):
            raise TooManyQuestionsError("questions", self._most, "are answered now: ask again in a second")
        own = Turn(self, limit_s, cancellation)
        try:
            yield own
        finally:
            self.hold(-own.held_bytes)
            self._free.release()

    def hold(self, size_bytes: int) -> bool:
        """Add ``size_bytes`` to the reserved bytes of all questions. Return whether the sum now exceeds the limit."""
        with self._lock:
            self.size_bytes += size_bytes
            return self.size_bytes > self.most_bytes


class Turn:
    """The slot of one question: its deadline, and the bytes of memory that it has reserved (``held_bytes``)."""

    def __init__(self, turns: QuestionTurns, limit_s: float, cancellation: Cancellation | None) -> None:
        self._turns = turns
        self._limit_s = limit_s
        self._until_s = time.monotonic() + limit_s
        self._cancellation = cancellation
        self.held_bytes = 0

    def reserve(self, size_bytes: int) -> None:
        """Reserve ``size_bytes`` more bytes of memory. A negative number releases bytes.

        Raise SlowAnswerError after the deadline, and CancelledError if the caller no longer wants the answer. Raise
        CubeError if this question alone exceeds the memory for all questions. Raise TooManyQuestionsError if all
        current questions together exceed this memory.
        """
        if self._cancellation is not None:
            self._cancellation.check()
        if time.monotonic() >= self._until_s:
            others = "a shorter interval or fewer cuboids, or raise cube_query_s"
            remedy = f"took the answer, and no more is allowed: ask for {others}"
            raise SlowAnswerError("question", f"{self._limit_s:g} s", remedy)
        self.held_bytes += size_bytes
        is_over, most = self._turns.hold(size_bytes), f"{self._turns.most_bytes:,}"
        if self.held_bytes > self._turns.most_bytes:
            remedy = f"may hold {most} of memory: ask for a shorter interval, fewer cuboids, or a lower limit"
            raise CubeError("question", f"over {most} bytes", remedy)
        if is_over:
            remedy = "are held by the questions that are answered now: ask again in a second"
            raise TooManyQuestionsError("bytes of memory", most, remedy)

    def begin_anew(self) -> None:
        """Release all memory of the question, and continue with the same deadline."""
        self.reserve(-self.held_bytes)
