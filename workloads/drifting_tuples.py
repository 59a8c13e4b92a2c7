"""Streams that change slowly: the attributes that are skewed, and the tails into which they are, drift over
segments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workloads.errors import WorkloadError

Chances = npt.NDArray[np.float64]

TAIL = 0.01
"""The share of an attribute's domain that is a tail of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """The skew of a stream's values at the beginning of each segment and at the end of the last one.

    ``low`` and ``high`` float64[segments + 1, attributes]: the chance that a value lies in the lowest and in the
    highest hundredth of its domain; else it lies anywhere. A quarter of a segment after its beginning the tuples begin
    to be of the next one's kind, with a chance that grows to 1 until a quarter is left. So no batch differs much from
    the one before.
    """

    low: Chances
    high: Chances

    def __post_init__(self) -> None:
        if self.low.shape != self.high.shape or self.low.ndim != 2 or len(self.low) < 2:
            raise WorkloadError("skews of a drift", (self.low.shape, self.high.shape), "one more than segments, alike")
        if min(self.low.min(), self.high.min()) < 0 or (self.low + self.high).max() > 1:
            raise WorkloadError("chances of the tails", float((self.low + self.high).max()), "from 0 to 1 together")

    @property
    def segments(self) -> int:
        return len(self.low) - 1

    @property
    def attributes(self) -> int:
        return int(self.low.shape[1])

    def tuples(self, place: float, rows: int, *, domain: int, random: np.random.Generator) -> pa.Table:
        """Draw tuples of ints ``a0``, ``a1``, ... in 0 .. ``domain`` - 1 as they are at a place of the stream: 0 is the
        beginning of the first segment, 1.5 the middle of the second.
        """
        if not 0 <= place <= self.segments:
            raise WorkloadError("place in the stream", place, f"from 0 to {self.segments}, the number of segments")
        segment = min(int(place), self.segments - 1)
        kinds = segment + (random.random(rows) < 2 * (place - segment) - 0.5)
        tail = max(1, int(TAIL * domain))
        columns = {}
        for attribute in range(self.attributes):
            drawn = random.random(rows)
            low, high = self.low[kinds, attribute], self.high[kinds, attribute]
            values = random.integers(0, domain, rows, dtype=np.int32)
            inside = values % tail
            values = np.where(drawn < low, inside, np.where(drawn < low + high, domain - 1 - inside, values))
            columns[f"a{attribute}"] = pa.array(values)
        return pa.table(columns)

    def beginning(self, rows: int, *, domain: int = 1_000_000, seed: int = 1) -> pa.Table:
        """Draw tuples as they are where the stream begins, none of them of the stream itself."""
        return self.tuples(0, rows, domain=domain, random=np.random.default_rng([seed, rows]))

    def batches(self, each: int, rows: int, *, domain: int = 1_000_000, seed: int = 1) -> Iterator[pa.Table]:
        """Yield the stream in batches, ``each`` a segment; the same seed gives the same tuples."""
        random = np.random.default_rng(seed)
        for number in range(self.segments * each):
            yield self.tuples(number / each, rows, domain=domain, random=random)


def wandering(segments: int, *, attributes: int = 20, seed: int = 1) -> Drift:
    """Return a drift by which a quarter of the attributes lies mostly in the low tail, another quarter often in the
    high one. The attributes are drawn anew for each segment.
    """
    random = np.random.default_rng(seed)
    low, high = np.zeros((2, segments + 1, attributes))
    count = attributes // 4
    for segment in range(segments + 1):
        drawn = random.permutation(attributes)
        low[segment, drawn[:count]] = 0.9
        high[segment, drawn[count : 2 * count]] = 0.3
    return Drift(low, high)


def turning(
    segments: int, *, measures: Sequence[int], places: Sequence[int], attributes: int = 20, seed: int = 1
) -> Drift:
    """Return a drift by which the measures are calm in one segment, and in the next half of their values are in the
    high tail.

    In the latter the places lie in the low tail. So what rules the alerts of
    :func:`workloads.placed_alerts.placed_alerts` out are the measures in one segment, the places in the next, from calm
    measures on. The other attributes wander as in :func:`wandering`.
    """
    others = [own for own in range(attributes) if own not in {*measures, *places}]
    wanders = wandering(segments, attributes=len(others), seed=seed)
    low, high = np.zeros((2, segments + 1, attributes))
    low[:, others], high[:, others] = wanders.low, wanders.high
    alarmed = np.arange(segments + 1) % 2 == 1
    high[np.ix_(alarmed, list(measures))] = 0.5
    low[np.ix_(alarmed, list(places))] = 0.99
    return Drift(low, high)
