"""Where the time of a stream's batches goes, for whoever asks how long a record takes."""

from __future__ import annotations

import statistics
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter

PHASES: Mapping[str, str] = {
    "offsets": "Kafka is asked what is new",
    "log": "the batch's offsets are noted",
    "plan": "Spark plans the reading",
    "hand_over": "Spark hands the batch over, and takes it back",
    "bind": "the batch is bound to its plan",
    "build": "the frame of the batch is made",
    "run": "records are fetched, decoded, matched and written",
    "match": "within that: the slowest task matches, in Python",
    "commit": "the batch is noted as done",
}
"""In their order; ``match`` lies within ``run``."""

_WITHIN, _AROUND = ("bind", "build", "run"), "addBatch"
_OF_SPARK = {"latestOffset": "offsets", "walCommit": "log", "queryPlanning": "plan", "commitOffsets": "commit"}
KEPT = 20
"""Batches with records that a phase's median is of."""


class BatchPhases:
    """The seconds that each phase of the last batches took.

    Invariant: no phase has more than the last ``KEPT`` batches. One batch runs at a time and is its one writer; what
    Spark tells of its own part is read when it is asked for. Cost: a clock's reading a phase.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._batch: dict[str, float] = {}
        self._seconds: dict[str, deque[float]] = {phase: deque(maxlen=KEPT) for phase in PHASES}

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Time what is done within as that phase of the batch that runs, where it does not fail."""
        start = perf_counter()
        yield
        self._batch[phase] = perf_counter() - start

    def note(self, phase: str, seconds: float) -> None:
        """Note what a part of the batch took that is timed elsewhere."""
        self._batch[phase] = seconds

    def count(self) -> None:
        """Count the batch that was timed: it is done, and had records."""
        with self._lock:
            for phase, seconds in self._batch.items():
                self._seconds[phase].append(seconds)
        self._batch = {}

    def medians(self, progress: Iterable[Mapping[str, float]]) -> dict[str, float]:
        """Each phase's median over the last batches, in seconds; ``progress``: Spark's milliseconds by its own names,
        a mapping for each batch with records, oldest first. Phases that nothing is known of are missing.
        """
        with self._lock:
            found = {phase: list(seconds) for phase, seconds in self._seconds.items()}
        within = sum(statistics.median(found[phase]) for phase in _WITHIN if found[phase])
        for durations in list(progress)[-KEPT:]:
            for name, phase in _OF_SPARK.items():
                if name in durations:
                    found[phase].append(durations[name] / 1000)
            if _AROUND in durations:
                found["hand_over"].append(max(0.0, durations[_AROUND] / 1000 - within))
        return {phase: round(statistics.median(seconds), 5) for phase, seconds in found.items() if seconds}
