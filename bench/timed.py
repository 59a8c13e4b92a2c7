"""Functions that measure the elapsed time of a function, and the median times of several functions that run
alternately.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping


def timed(work: Callable[[], object], clock: Callable[[], float] | None = None) -> float:
    """Measure the seconds of one call by ``time.perf_counter`` or another clock."""
    clock = clock or time.perf_counter
    start = clock()
    work()
    return clock() - start


def medians_in_turns(
    contenders: Mapping[str, Callable[[], object]], repetitions: int, clock: Callable[[], float] | None = None
) -> dict[str, float]:
    """Return the median seconds of each contender. The contenders run alternately, so that a slow moment of the machine
    affects all contenders.

    ``clock``: with ``time.process_time``, the time excludes other processes and sums all threads of this process.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repetitions):
        for name, work in contenders.items():
            seconds[name].append(timed(work, clock))
    return {name: statistics.median(own) for name, own in seconds.items()}
