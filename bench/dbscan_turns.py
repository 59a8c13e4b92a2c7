"""Functions that run streaming contenders alternately, measure the time and the peak memory of each, and check that all
results are equal.
"""

from __future__ import annotations

import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

import numpy as np

from asc.operators.dbscan.chains import Labels


class Streaming(Protocol):
    """A contender of the DBSCAN benchmark, which receives the points of a stream in order."""

    def advance(self, low: int, high: int) -> None:
        """Process the points from ``low`` to before ``high``."""


Make = Callable[[], Streaming]
"""A function that makes a contender that has received no point."""


def run_through(contender: Streaming, points: int, step: int, begin: int = 0) -> None:
    """Pass the points from number ``begin`` to before number ``points`` to a contender, ``step`` points at a time."""
    for low in range(begin, points, step):
        contender.advance(low, min(low + step, points))


def cpu_in_turns(contenders: Mapping[str, Make], points: int, step: int, runs: int) -> dict[str, float]:
    """Return the median seconds of processor time of each contender for all points. The contenders run alternately, and
    each run begins with a new contender.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(runs):
        for name, make in contenders.items():
            own = make()
            gc.collect()
            start_s = time.process_time()
            run_through(own, points, step)
            seconds[name].append(time.process_time() - start_s)
    return {name: statistics.median(own) for name, own in seconds.items()}


def memory_of(make: Make, points: int, step: int) -> tuple[int, int]:
    """Return the peak memory of a contender while it processes all points, and the largest memory between two steps.
    Both count only the contender's Python objects and arrays.
    """
    gc.collect()
    tracemalloc.start()
    try:
        start_bytes = tracemalloc.get_traced_memory()[0]
        own, held = make(), 0
        for low in range(0, points, step):
            own.advance(low, min(low + step, points))
            held = max(held, tracemalloc.get_traced_memory()[0])
        return tracemalloc.get_traced_memory()[1] - start_bytes, held - start_bytes
    finally:
        tracemalloc.stop()


class Windows:
    """The windows that a contender found, by query and end of the window."""

    def __init__(self) -> None:
        self.found: dict[tuple[int, int], Labels] = {}

    def take(self, place: int, end: int, labels: Labels) -> None:
        """Store the labels of a window."""
        self.found[place, end] = Labels(labels.labels.copy(), labels.is_core.copy(), labels.clusters)

    def check_same(self, name: str, others: Windows) -> None:
        """Raise RuntimeError if another contender, ``name``, found other windows, labels or core points."""
        if self.found.keys() != others.found.keys():
            raise RuntimeError(f"{name}: {len(others.found):,} windows in place of {len(self.found):,}")
        for where, own in self.found.items():
            other = others.found[where]
            if not (np.array_equal(own.labels, other.labels) and np.array_equal(own.is_core, other.is_core)):
                raise RuntimeError(f"{name}: labels of query {where[0]} at {where[1]:,} differ")

    def most_clusters(self) -> list[int]:
        """Return for each query the largest number of clusters in a window."""
        most: dict[int, int] = {}
        for (place, _), labels in self.found.items():
            most[place] = max(most.get(place, 0), labels.clusters)
        return list(most.values())


def slides(contender: Streaming, begin: int, step: int, count: int) -> Iterator[float]:
    """Yield the processor time of each of ``count`` steps, from the point ``begin`` on."""
    for low in range(begin, begin + count * step, step):
        start_s = time.process_time()
        contender.advance(low, low + step)
        yield time.process_time() - start_s
