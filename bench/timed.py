"""Elapsed times of functions, measured alone or alternately with others."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping


def timed(work: Callable[[], object], clock: Callable[[], float] | None = None) -> float:
    """Measure the seconds that one call takes, by ``time.perf_counter`` or another clock."""
    clock = clock or time.perf_counter
    start = clock()
    work()
    return clock() - start


def medians_in_turns(
    contenders: Mapping[str, Callable[[], object]], repetitions: int, clock: Callable[[], float] | None = None
) -> dict[str, float]:
    """Return the median seconds of each contender, which take turns so that a slow moment of the machine hits all of
    them.

    ``clock``: ``time.process_time`` leaves out what others use of the machine, and adds up what threads do.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repetitions):
        for name, work in contenders.items():
            seconds[name].append(timed(work, clock))
    return {name: statistics.median(own) for name, own in seconds.items()}
