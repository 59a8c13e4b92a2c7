"""How long records took from their topic to what they were delivered to, as a histogram."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from broker.matching.record_times import RecordTimes

BOUNDS_S = (0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 3600.0)
"""The upper bounds of the histogram's buckets, each included; one more has what took longer."""


@dataclass(frozen=True, slots=True, eq=False)
class Latency:
    """A histogram of latencies: from the time a record bears to when its batch was done.

    ``counts`` int64[len(BOUNDS_S) + 1] by bucket; ``sum_s`` the seconds of all together. A record from the future
    counts as one that took no time.
    """

    counts: npt.NDArray[np.int64]
    sum_s: float

    @staticmethod
    def none() -> Latency:
        return Latency(np.zeros(len(BOUNDS_S) + 1, dtype=np.int64), 0.0)

    @staticmethod
    def of(times: RecordTimes, done_s: float) -> Latency:
        """The latencies of records of these times that were delivered at ``done_s``, seconds since 1970."""
        taken_ms = np.maximum(round(done_s * 1000) - times.at_ms, 0)
        buckets = np.searchsorted(np.rint(np.multiply(BOUNDS_S, 1000)), taken_ms)
        counts = np.bincount(buckets, times.counts, minlength=len(BOUNDS_S) + 1).astype(np.int64)
        return Latency(counts, float((taken_ms * times.counts).sum()) / 1000)

    def __add__(self, other: Latency) -> Latency:
        return Latency(self.counts + other.counts, self.sum_s + other.sum_s)

    def __len__(self) -> int:
        """How many records were counted."""
        return int(self.counts.sum())

    def quantile_s(self, share: float) -> float | None:
        """What so large a share of the records took at most, within its bucket by proportion as Prometheus has it; None
        of no records. Of what is beyond the last bound it is that bound.

        >>> Latency.of(RecordTimes.of(np.full(10, 1_000)), 1.08).quantile_s(0.5)
        0.075
        """
        total = len(self)
        if not total:
            return None
        rank = share * total
        reached = np.cumsum(self.counts)
        bucket = int(np.searchsorted(reached, rank))
        if bucket >= len(BOUNDS_S):
            return BOUNDS_S[-1]
        low, high = BOUNDS_S[bucket - 1] if bucket else 0.0, BOUNDS_S[bucket]
        before = int(reached[bucket - 1]) if bucket else 0
        return round(low + (high - low) * (rank - before) / int(self.counts[bucket]), 6)
