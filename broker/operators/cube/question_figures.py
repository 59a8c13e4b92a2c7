"""Metrics of questions to cubes: the seconds that the answers took, and the number of cells that they read."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

SECONDS_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
CELLS_BOUNDS = (10.0, 100.0, 1_000.0, 10_000.0, 100_000.0, 1_000_000.0, 10_000_000.0)


class Histogram:
    """A histogram for Prometheus: counts of values by upper bounds, and the sum of the values. Thread-safe. Cost: one
    number for each bound.
    """

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self._counts = [0] * (len(self.bounds) + 1)
        self._sum = 0.0
        self._lock = threading.Lock()

    def observe(self, value: float) -> None:
        """Add a value to the histogram."""
        place = bisect_left(self.bounds, value)
        with self._lock:
            self._counts[place] += 1
            self._sum += value

    def cumulative(self) -> tuple[list[int], float]:
        """Return a list of counts, and the sum of all values. The list contains the number of values up to each bound,
        and at last the number of all values.

        >>> histogram = Histogram((1.0, 10.0))
        >>> for value in (1.0, 3.0, 70.0):
        ...     histogram.observe(value)
        >>> histogram.cumulative()
        ([1, 2, 3], 74.0)
        """
        with self._lock:
            return list(accumulate(self._counts)), self._sum


class QuestionFigures:
    """The metrics of questions to the cubes of a stream, since the file of cubes was opened."""

    def __init__(self) -> None:
        self.seconds = Histogram(SECONDS_BOUNDS)
        self.cells = Histogram(CELLS_BOUNDS)
