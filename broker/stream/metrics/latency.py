"""The latency of records from the source topic to the destinations, as a histogram."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from broker.matching.record_times import RecordTimes

BOUNDS_S = (0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 3600.0)
"""The inclusive upper bounds of the histogram's buckets, in seconds. One more bucket has longer latencies."""

_BOUNDS_MS = np.rint(np.multiply(BOUNDS_S, 1000)).astype(np.int64)
_STEPS = (1, 1.1, 1.3, 1.5, 1.75, 2, 2.25, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 7.5, 9)
_FINE_MS = np.union1d(
    _BOUNDS_MS, [ms for ms in (round(step * 10**e) for e in range(1, 7) for step in _STEPS) if 25 <= ms < 3_600_000]
)
"""The upper bounds, in milliseconds, of the finer buckets in which latencies are counted.

They include all bounds of ``BOUNDS_S``. Further bounds keep each bound at most a fifth above the previous one.
"""

_BEGINS = np.concatenate([[0], np.searchsorted(_FINE_MS, _BOUNDS_MS) + 1])
"""The index of the first finer bucket that belongs to each bucket."""


@dataclass(frozen=True, slots=True, eq=False)
class Latency:
    """A histogram of latencies. A latency is the time from the timestamp of a record to the end of its batch.

    ``fine_counts`` int64[len(_FINE_MS) + 1]: the records by finer bucket. ``sum_s``: the sum of all latencies in
    seconds. A record with a timestamp in the future has the latency 0.
    """

    fine_counts: npt.NDArray[np.int64]
    sum_s: float

    @staticmethod
    def none() -> Latency:
        return Latency(np.zeros(len(_FINE_MS) + 1, dtype=np.int64), 0.0)

    @staticmethod
    def of(times: RecordTimes, done_s: float) -> Latency:
        """Return the latencies of records with these timestamps, delivered at ``done_s`` (seconds since 1970)."""
        taken_ms = np.maximum(round(done_s * 1000) - times.at_ms, 0)
        buckets = np.searchsorted(_FINE_MS, taken_ms)
        counts = np.bincount(buckets, times.counts, minlength=len(_FINE_MS) + 1).astype(np.int64)
        return Latency(counts, float((taken_ms * times.counts).sum()) / 1000)

    def __add__(self, other: Latency) -> Latency:
        return Latency(self.fine_counts + other.fine_counts, self.sum_s + other.sum_s)

    def __len__(self) -> int:
        """Return the number of records counted."""
        return int(self.fine_counts.sum())

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Return the counts by bucket, int64[len(BOUNDS_S) + 1]."""
        return np.add.reduceat(self.fine_counts, _BEGINS)

    def quantile_s(self, share: float) -> float | None:
        """Return the latency in seconds that a ``share`` of the records does not exceed.

        Return None if there are no records.

        The result is the upper bound of a finer bucket, so it is at most a fifth too high and never too low. For
        latencies beyond the last bound the result is that bound, to be displayed as "more than".

        >>> Latency.of(RecordTimes.of(np.full(10, 1_000)), 1.08).quantile_s(0.5)
        0.09
        """
        total = len(self)
        if not total:
            return None
        bucket = int(np.searchsorted(np.cumsum(self.fine_counts), share * total))
        return int(_FINE_MS[min(bucket, len(_FINE_MS) - 1)]) / 1000
