"""The durations of a stream's batches, by phase."""

from __future__ import annotations

import logging
import statistics
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from broker.failure import one_line

LOG = logging.getLogger("asc.phases")

PHASES: Mapping[str, str] = {
    "offsets": "Kafka is asked what is new",
    "log": "the batch's offsets are noted",
    "plan": "Spark plans the reading",
    "hand_over": "Spark hands the batch over, and takes it back",
    "bind": "the batch is bound to its plan",
    "build": "the frame of the batch is made",
    "run": "records are fetched, decoded, matched and written",
    "match": "within that: the slowest task matches, in Python",
    "keep": "what the tasks folded is merged and committed, for queries that fold records",
    "commit": "the batch is noted as done",
}
"""The phases in order, each with its description. ``match`` is part of ``run``.

A batch has the phase ``keep`` only if its plan folds records.
"""

_WITHIN, _AROUND = ("bind", "build", "run", "keep"), "addBatch"
_OF_SPARK = {"latestOffset": "offsets", "walCommit": "log", "queryPlanning": "plan", "commitOffsets": "commit"}
_BEFORE = ("latestOffset", "walCommit", "queryPlanning")
_TRIGGER, _AFTER = "triggerExecution", "commitOffsets"
KEPT = 20
"""The number of last batches with records from which the median of a phase is computed."""

_AWAITING_SPARK = 200
"""The largest number of finished batches that are kept until Spark reports their durations. Beyond this number, the
oldest are dropped.
"""


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase of a batch: its start in seconds since 1970, and its duration in seconds."""

    began_s: float
    seconds: float


@dataclass(frozen=True, slots=True)
class DoneBatch:
    """A batch whose phases and counts are complete: the phases by name, and the counts.

    The phase ``hand_over`` is excluded: it is the time between the other phases. ``said``: the counts of the batch.
    """

    batch_id: int
    whole: Phase
    phases: Mapping[str, Phase]
    said: Mapping[str, int] = field(default_factory=dict)


class BatchPhases:
    """The durations of the phases of batches with records: single durations for the last batches, and a sum over all
    batches.

    Spark's durations are added later, batch by batch (:meth:`count_spark`). Invariant: a phase keeps only the last
    ``KEPT`` batches. One batch runs at a time, and is the only writer. ``on_batch_done`` is called with each complete
    batch; its errors do not fail the stream. Cost: a clock reading for each phase.
    """

    def __init__(self, on_batch_done: Callable[[DoneBatch], None] = lambda batch: None) -> None:
        self._on_batch_done = on_batch_done
        self._lock = threading.Lock()
        self._batch: dict[str, Phase] = {}
        self._done: dict[int, tuple[dict[str, Phase], Mapping[str, int]]] = {}
        self._seconds: dict[str, deque[float]] = {phase: deque(maxlen=KEPT) for phase in PHASES}
        self._batches: Counter[str] = Counter()
        self._sums: dict[str, float] = dict.fromkeys(PHASES, 0.0)

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Time the work in the context as a phase of the running batch. If the work raises, nothing is noted."""
        began_s, start = time.time(), perf_counter()
        yield
        self._batch[phase] = Phase(began_s, perf_counter() - start)

    def note(self, phase: str, seconds: float) -> None:
        """Note the duration of a phase of the batch that was timed elsewhere and has just ended."""
        self._batch[phase] = Phase(time.time() - seconds, seconds)

    def count(self, batch_id: int, **said: int) -> None:
        """Count the timed batch, which is finished and had records. ``said``: further counts of the batch."""
        with self._lock:
            for phase, timed in self._batch.items():
                self._add(phase, timed.seconds)
            self._done[batch_id] = (self._batch, said)
            while len(self._done) > _AWAITING_SPARK:
                del self._done[next(iter(self._done))]
        self._batch = {}

    def count_spark(self, batch_id: int, began_s: float, durations_ms: Mapping[str, float]) -> None:
        """Add Spark's report of a batch with records: the start of the batch, and the milliseconds of its parts by
        Spark's names.

        The report completes a batch that was counted by :meth:`count`. Call it once for each batch.
        """
        seconds = {name: duration_ms / 1000 for name, duration_ms in durations_ms.items()}
        with self._lock:
            for name, phase in _OF_SPARK.items():
                if name in seconds:
                    self._add(phase, seconds[name])
            timed, said = self._done.pop(batch_id, ({}, {}))
            if not timed:
                return
            if _AROUND in seconds:
                within = sum(timed[phase].seconds for phase in _WITHIN if phase in timed)
                self._add("hand_over", max(0.0, seconds[_AROUND] - within))
        whole = Phase(began_s, seconds.get(_TRIGGER, sum(seconds.values())))
        try:
            self._on_batch_done(DoneBatch(batch_id, whole, _placed(whole, seconds) | timed, said))
        except Exception as error:
            LOG.exception("batch %d is not told: %s", batch_id, one_line(error))

    def medians(self) -> dict[str, float]:
        """Return the median of each phase over the last batches, in seconds. Phases without data are excluded."""
        with self._lock:
            seconds_by_phase = {phase: list(seconds) for phase, seconds in self._seconds.items()}
        return {phase: round(statistics.median(seconds), 5) for phase, seconds in seconds_by_phase.items() if seconds}

    def totals(self) -> dict[str, tuple[int, float]]:
        """Return for each phase the number of batches with records that had the phase, and the sum of the phase's
        seconds.
        """
        with self._lock:
            return {phase: (self._batches[phase], self._sums[phase]) for phase in PHASES if self._batches[phase]}

    def _add(self, phase: str, seconds: float) -> None:
        self._seconds[phase].append(seconds)
        self._batches[phase] += 1
        self._sums[phase] += seconds


def _placed(whole: Phase, seconds: Mapping[str, float]) -> dict[str, Phase]:
    """Return the phases for which Spark reports a duration but no start, with computed starts.

    The phases before the batch's work follow each other from the start of the batch. The last phase ends with the
    batch.
    """
    placed = {}
    began_s = whole.began_s
    for name in _BEFORE:
        if name in seconds:
            placed[_OF_SPARK[name]] = Phase(began_s, seconds[name])
            began_s += seconds[name]
    if _AFTER in seconds:
        placed[_OF_SPARK[_AFTER]] = Phase(whole.began_s + whole.seconds - seconds[_AFTER], seconds[_AFTER])
    return placed
