"""The timestamps of a batch's records as a small histogram, from which the latency of deliveries is computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

_BINS = 64
"""The number of bins. The error of a binned time is at most a 128th of the time between the first and the last record.
"""

_BINS_MAX = 4_096


@dataclass(frozen=True, slots=True, eq=False)
class RecordTimes:
    """A histogram of the timestamps of records.

    ``at_ms`` int64[n]: the middle of each bin, in milliseconds since 1970. ``counts`` int64[n]: the number of records
    in each bin. Even the latest record of a batch is delivered after its timestamp, so the longest latency exceeds the
    range of the timestamps. So each binning adds an error of at most a 128th of the batch's longest latency. Invariant:
    there are at most ``_BINS_MAX`` bins. Cost: a pass over the times.
    """

    at_ms: Integers
    counts: Integers

    @staticmethod
    def of(times_ms: Integers) -> RecordTimes:
        """Return the histogram of timestamps. The timestamps may be in any order.

        Times before 1970 belong to records without a timestamp, and are excluded.
        """
        known = times_ms[times_ms >= 0]
        return _binned(known, np.ones(len(known), dtype=np.int64))

    @staticmethod
    def together(times: Sequence[RecordTimes]) -> RecordTimes:
        """Return the union of several histograms. If the union has too many bins, bin it again."""
        at_ms = np.concatenate([np.empty(0, dtype=np.int64), *(each.at_ms for each in times)])
        counts = np.concatenate([np.empty(0, dtype=np.int64), *(each.counts for each in times)])
        return RecordTimes(at_ms, counts) if len(at_ms) <= _BINS_MAX else _binned(at_ms, counts)


def _binned(at_ms: Integers, weights: Integers) -> RecordTimes:
    if not len(at_ms):
        return RecordTimes(at_ms, weights)
    first = int(at_ms.min())
    width = (int(at_ms.max()) - first) // _BINS + 1
    bins = (at_ms - first) // width
    counts = np.bincount(bins, weights, minlength=_BINS).astype(np.int64)
    filled = np.flatnonzero(counts)
    return RecordTimes(first + filled * width + (width - 1) // 2, counts[filled])
