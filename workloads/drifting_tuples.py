"""Streams whose distribution of values changes slowly. A stream consists of segments. From segment to segment, the set
of skewed attributes changes, and so does the tail (low or high) to which each attribute is skewed.
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
"""The share of an attribute's domain that counts as a tail of the domain."""


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """The skew of a stream's values at the beginning of each segment, and at the end of the last segment.

    ``low`` float64[segments + 1, attributes]: the chance that a value is drawn from the lowest hundredth of its domain.
    ``high`` float64[segments + 1, attributes]: the chance for the highest hundredth. All other values are drawn from
    the whole domain. In the first quarter of a segment, the tuples have the distribution of the segment's beginning,
    and in the last quarter the distribution of its end. Between these quarters, the chance that a tuple has the
    distribution of the end grows from 0 to 1. So no batch differs much from the previous batch.
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
        """Draw tuples with the distribution at position ``place`` of the stream. Position 0 is the beginning of the
        first segment, and 1.5 is the middle of the second segment. The tuples have ints ``a0``, ``a1``, ... in 0 ..
        ``domain`` - 1.
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
        """Draw tuples with the distribution at the beginning of the stream. They are not the same tuples as the first
        tuples of the stream.
        """
        return self.tuples(0, rows, domain=domain, random=np.random.default_rng([seed, rows]))

    def batches(self, each: int, rows: int, *, domain: int = 1_000_000, seed: int = 1) -> Iterator[pa.Table]:
        """Yield the tuples of the stream in batches, ``each`` batches per segment. The same seed gives the
        same tuples.
        """
        random = np.random.default_rng(seed)
        for number in range(self.segments * each):
            yield self.tuples(number / each, rows, domain=domain, random=random)


def wandering(segments: int, *, attributes: int = 20, seed: int = 1) -> Drift:
    """Return a drift that skews a quarter of the attributes mostly to the low tail, and another quarter often to the
    high tail. The attributes are drawn anew for each segment.
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
    """Return a drift in which the attributes ``measures`` alternate from segment to segment. In one segment they are
    not skewed. In the next segment, half of their values are in the high tail.

    While half of the measures' values are high, nearly all values of the attributes ``places`` are in the low tail. So
    the constructs that exclude the alerts of :func:`workloads.placed_alerts.placed_alerts` alternate between measures
    and places. The stream begins with measures without skew. All other attributes drift as in :func:`wandering`.
    """
    others = [own for own in range(attributes) if own not in {*measures, *places}]
    wanders = wandering(segments, attributes=len(others), seed=seed)
    low, high = np.zeros((2, segments + 1, attributes))
    low[:, others], high[:, others] = wanders.low, wanders.high
    alarmed = np.arange(segments + 1) % 2 == 1
    high[np.ix_(alarmed, list(measures))] = 0.5
    low[np.ix_(alarmed, list(places))] = 0.99
    return Drift(low, high)
