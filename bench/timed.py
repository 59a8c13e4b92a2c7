"""How long something takes, by the clock, alone or in turns with others."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping


def timed(work: Callable[[], object]) -> float:
    """Seconds that one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def medians_in_turns(contenders: Mapping[str, Callable[[], object]], repetitions: int) -> dict[str, float]:
    """The median seconds of each contender, which take turns so that a slow moment of the machine hits all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repetitions):
        for name, work in contenders.items():
            seconds[name].append(timed(work))
    return {name: statistics.median(own) for name, own in seconds.items()}
